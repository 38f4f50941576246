import ArgumentParser
import PhotoClient

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Looks whether the library's catalog is sound.",
    discussion: """
      It compares the catalog with the rules that it must follow, and with what is written down of your favorites \
      beside it. Nothing of yours is changed; an index of words that differs is made anew. With an error found it ends with 65; warnings are said, and are no failure. \
      'photoctl rescan --dry-run' compares the catalog with your folders.

      EXAMPLES
        photoctl check
        photoctl check --deep            also every index; reads the whole catalog
        photoctl check --json | jq .findings
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Also compare every index with its table.")
  var deep = false

  @Flag(help: "Print what was found as one JSON object.")
  var json = false

  func run() async throws {
    let check = try await PhotoDaemonManagement(of: connection.library).check(deep: deep)
    try Output.put(json ? JSONText.indented(check) : Array(CheckText.text(check, style: connection.style).utf8))
    guard check.isOK else {
      throw Failure(
        .data, "the catalog, or what is kept beside it, breaks its rules",
        remedy: "Do what stands below each error.",
        command: "check")
    }
  }
}
