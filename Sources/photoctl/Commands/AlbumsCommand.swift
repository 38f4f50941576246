import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "albums",
    abstract: "Lists albums: the smart ones, and one for each folder.",
    discussion: """
      Each title can be given to 'photoctl query --album'; a folder as folder:/path. With --containing, only the albums \
      that hold this asset.

      FIELDS
        id kind subtype title path count keyAssetID startDate endDate

      EXAMPLES
        photoctl albums
        photoctl albums --fields title,count --format csv
        photoctl albums --containing IMG_0001.jpg
        photoctl albums --format jsonl | jq .title
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("Only those that hold this asset.", valueName: "id|path"), completion: .file())
  var containing: AssetArgument?

  @Option(help: "How to print them: table, json, jsonl, csv, tsv; paths or paths0 (of the folders).")
  var format: OutputFormat?

  @OptionGroup var fields: FieldOptions<AssetCollection>

  func validate() throws { try fields.validate(with: format) }

  func run() async throws {
    let library = connection.library
    var asset: Int64?
    if let containing { asset = try await library.ids(of: [NamedAsset(containing)]).ids.first }
    let collections = try await library.collections(containing: asset)
    var renderer = ListRenderer<AssetCollection>(
      format: format ?? .standard, fields: fields.chosen, columns: Output.terminalColumns)
    try Output.put(try renderer.page(collections) + renderer.end())
  }
}
