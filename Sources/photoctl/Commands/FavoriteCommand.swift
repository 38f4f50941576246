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

      With - they come from standard input, an id or a path a line; with -0 each ends with NUL, so that a name may \
      have any byte in it.

      EXAMPLES
        photoctl favorite 42 43
        photoctl favorite IMG_0001.jpg
        photoctl query --rating 5 | photoctl favorite -
        photoctl query --format paths0 --taken 2024-07 | photoctl favorite -0 -
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var assets: AssetArguments

  func run() async throws { try await connection.library.setFavorite(true, try assets.names()) }
}

struct UnfavoriteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfavorite",
    abstract: "Makes assets no favorites any more.",
    discussion: """
      All of them, or none when one is not in the library. A number is an id, anything else a path; with - they come \
      from standard input.

      EXAMPLES
        photoctl unfavorite 42
        photoctl unfavorite IMG_0001.jpg
        photoctl query --favorite --taken ..2019 | photoctl unfavorite -
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var assets: AssetArguments

  func run() async throws { try await connection.library.setFavorite(false, try assets.names()) }
}

extension PhotoLibrary {
  /// The most ids in one call, by the contract.
  private static var mostPerChange: Int { 1_000 }

  /// Changes all of them, or none if one is not in the library. The summary goes to standard error.
  fileprivate func setFavorite(_ isFavorite: Bool, _ names: [NamedAsset]) async throws {
    let (ids, firstNames) = try await ids(of: names)
    if !ids.isEmpty {
      do {
        // Several calls are several transactions. So every asset is looked up before the first call.
        if ids.count > Self.mostPerChange {
          let known = Set(try await assets(ids).map(\.id))
          let missing = ids.filter { !known.contains($0) }
          guard missing.isEmpty else { throw PhotoLibraryError.noSuchAsset(ids: missing) }
        }
        for start in stride(from: 0, to: ids.count, by: Self.mostPerChange) {
          let part = Array(ids[start..<min(start + Self.mostPerChange, ids.count)])
          try await performChanges([ChangeRequest(editAsset: .init(ids: part, isFavorite: isFavorite))])
        }
      } catch PhotoLibraryError.noSuchAsset(let missing) {
        throw Failure(noSuchAssets: missing, names: firstNames) ?? PhotoLibraryError.noSuchAsset(ids: missing)
      }
    }
    let what =
      ids.count == 1
      ? "1 asset is \(isFavorite ? "a favorite now" : "no favorite any more")"
      : "\(Text.grouped(ids.count)) assets are \(isFavorite ? "favorites now" : "no favorites any more")"
    Output.complain(what + "\n")
  }
}
