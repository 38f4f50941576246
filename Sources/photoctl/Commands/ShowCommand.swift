import ArgumentParser
import PhotoClient
import PhotoModel

struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows everything about an asset.",
    discussion: """
      A number is an id, anything else the path of one of the asset's files; a file that is called 123 is ./123.

      EXAMPLES
        photoctl show 42
        photoctl show IMG_0001.jpg
        photoctl show --json ./123 | jq .camera
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print it as one JSON object, an Asset of org.photod.library.")
  var json = false

  @Argument(help: "An asset's id, or the path of a file.", completion: .file())
  var asset: AssetArgument

  func run() async throws {
    let library = connection.library
    let ids = try await library.ids(of: [asset])
    guard let asset = try await library.assets(ids).first else { throw PhotoLibraryError.noSuchAsset(ids: ids) }
    try Output.put(json ? JSONText.indented(asset) : Array(AssetText.text(asset).utf8))
  }
}
