import ArgumentParser
import PhotoClient

struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explains why a file is, or is not, in the library.",
    discussion: """
      The answer names the rule, the error, the limit or the queue that decides. It takes any path, also one that does \
      not exist, and the id of an asset. With - the paths and ids come from standard input, one on each line.

      EXAMPLES
        photoctl why IMG_0001.jpg
        photoctl why 320
        photoctl why ~/Pictures/.hidden/a.jpg
        find ~/Pictures -name '*.jpg' -print0 | photoctl why -0 -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print each as one JSON object: state, reason, assetID.")
  var json = false

  @OptionGroup var files: AssetArguments

  func run() async throws {
    let library = connection.library
    let names = try files.names()
    for name in names {
      let path: String
      switch name.argument {
      case .path(let typed): path = typed
      case .id(let id):
        guard let known = try await library.assets([id]).first?.listedPath else {
          throw Failure(noSuchAssets: [id], names: [id: name]) ?? PhotoLibraryError.noSuchAsset(ids: [id])
        }
        path = known
      }
      let explanation = try await library.explain(path: AbsolutePath.text(path))
      if json {
        try Output.put(try JSONText.indented(explanation))
        continue
      }
      var text = names.count > 1 ? "\(Printable.text(path)): " : ""
      text += "\(explanation.state): \(Printable.text(explanation.reason))"
      if let id = explanation.assetID { text += " Asset \(id)." }
      try Output.put(text + "\n")
    }
  }
}
