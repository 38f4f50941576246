import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "albums",
    abstract: "Lists albums: smart ones, your own, and one for each folder.",
    discussion: """
      Each title can be given to 'photoctl query --album'; a folder as folder:/path. With --containing, only the albums \
      that hold this asset.

      EXAMPLES
        photoctl albums
        photoctl albums --containing IMG_0001.jpg
        photoctl albums --format jsonl | jq .title
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("Only those that hold this asset.", valueName: "id|path"), completion: .file())
  var containing: AssetArgument?

  @Option(help: "How to print them: table, json, jsonl or paths (of the folders).")
  var format: OutputFormat?

  func run() async throws {
    let library = connection.library
    var asset: Int64?
    if let containing { asset = try await library.ids(of: [containing]).first }
    let collections = try await library.collections(containing: asset)
    var renderer = ListRenderer<AssetCollection>(format: format ?? .standard)
    try Output.put(try renderer.page(collections) + renderer.end())
  }
}
