import ArgumentParser
import PhotoClient
import PhotoModel

struct FavoriteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favorite",
    abstract: "Makes assets favorites.",
    discussion: """
      All of them, or none when one is not in the library. A number is an id, anything else a path. The photos' files \
      are not touched. 'photoctl unfavorite' takes it back.

      EXAMPLES
        photoctl favorite 42 43
        photoctl favorite IMG_0001.jpg
        photoctl query --where "rating == 5" | jq .id | xargs photoctl favorite
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("Ids, or paths of files.", valueName: "id|path"), completion: .file())
  var assets: [AssetArgument]

  func run() async throws { try await connection.library.setFavorite(true, assets) }
}

struct UnfavoriteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfavorite",
    abstract: "Makes assets no favorites any more.",
    discussion: """
      All of them, or none when one is not in the library. A number is an id, anything else a path.

      EXAMPLES
        photoctl unfavorite 42
        photoctl unfavorite IMG_0001.jpg
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("Ids, or paths of files.", valueName: "id|path"), completion: .file())
  var assets: [AssetArgument]

  func run() async throws { try await connection.library.setFavorite(false, assets) }
}

extension PhotoLibrary {
  fileprivate func setFavorite(_ isFavorite: Bool, _ arguments: [AssetArgument]) async throws {
    let ids = try await ids(of: arguments)
    try await performChanges([ChangeRequest(editAsset: .init(ids: ids, isFavorite: isFavorite))])
    let what =
      ids.count == 1
      ? "1 asset is \(isFavorite ? "a favorite now" : "no favorite any more")"
      : "\(Text.grouped(ids.count)) assets are \(isFavorite ? "favorites now" : "no favorites any more")"
    try Output.put(what + "\n")
  }
}
