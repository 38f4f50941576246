import ArgumentParser
import PhotoClient

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks whether the library's catalog is intact.",
    discussion: """
      It checks the rules of the catalog, and compares the catalog with the journal of your favorites, albums \
      and edits. It does not change your data. It rebuilds the index of words if that differs. If it finds an error, it \
      exits with 65. Warnings are printed, and are no failure. `photoctl rescan --dry-run` compares the catalog with \
      your folders.

      EXAMPLES
        photoctl check
        photoctl check --deep            every index, too; reads the whole catalog
        photoctl check --json | jq .findings
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Also compare every index with its table. This reads the whole catalog.")
  var deep = false

  @Flag(help: "Print the findings as one JSON object.")
  var json = false

  func run() async throws {
    let check = try await PhotoDaemonManagement(of: connection.library).check(deep: deep)
    try Output.put(json ? JSONText.indented(check) : Array(CheckText.text(check, style: connection.style).utf8))
    guard check.isOK else {
      throw Failure(
        .data, "the catalog, or the journal beside it, has errors",
        remedy: "The remedy is below each error.",
        command: "check")
    }
  }
}
