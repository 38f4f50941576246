import ArgumentParser
import PhotoClient
import PhotoModel

struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Says why a file is, or is not, in the library.",
    discussion: """
      It names the rule, the error, the limit or the queue that decides. It answers for any path, also one that does \
      not exist.

      EXAMPLES
        photoctl why IMG_0001.jpg
        photoctl why ~/Pictures/.hidden/a.jpg
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print it as one JSON object: state, reason, assetID.")
  var json = false

  @Argument(help: "A file or a folder.", completion: .file())
  var path: String

  func run() async throws {
    let explanation = try await connection.library.explain(path: AbsolutePath.text(path))
    if json {
      try Output.put(try JSONText.indented(explanation))
      return
    }
    var text = "\(explanation.state): \(Printable.text(explanation.reason))"
    if let id = explanation.assetID { text += " Asset \(id)." }
    try Output.put(text + "\n")
  }
}
