import ArgumentParser
import PhotoClient
import PhotoModel

/// Which assets, and in which order: the same for query and watch.
struct QueryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Assets of this album: a title, smart:favorites, album:Title, folder:/path or id:42.", valueName: "name"))
  var album: String?

  @Option(
    help: ArgumentHelp("Assets of this type: image, video or audio. May be given several times.", valueName: "type"),
    completion: .list(["image", "video", "audio"]))
  var type: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Assets for which this is true; see 'photoctl help query'.", valueName: "predicate"))
  var predicate: String?

  @Option(
    help: ArgumentHelp(
      "Sort by this key; further ones break ties. Ascending by default.", valueName: "key[:asc|desc]"))
  var sort: [SortArgument] = []

  @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
  var limit: Int?

  func validate() throws {
    for type in type where !["image", "video", "audio"].contains(type) {
      throw ValidationError("--type is '\(type)'; types are image, video, audio.")
    }
    if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it is 1 or more.") }
  }

  /// Whether anything was asked for.
  var isEmpty: Bool { album == nil && type.isEmpty && predicate == nil && sort.isEmpty && limit == nil }

  var fetchOptions: FetchOptions {
    FetchOptions(
      collection: album.map(Self.absoluteFolder), mediaTypes: type.isEmpty ? nil : type, predicate: predicate,
      sortDescriptors: sort.isEmpty ? nil : sort.map(\.descriptor), fetchLimit: limit)
  }

  /// `folder:photos` means the folder here.
  private static func absoluteFolder(_ album: String) -> String {
    let prefix = "folder:"
    guard album.hasPrefix(prefix), album.count > prefix.count else { return album }
    return prefix + AbsolutePath.text(String(album.dropFirst(prefix.count)))
  }

  /// Shows the predicate with a mark where the error is in it.
  func explaining<R>(in command: String, _ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch PhotoLibraryError.invalidPredicate(let message, let position) {
      throw Failure.predicate(predicate ?? "", message: message, position: position, command: command)
    }
  }
}

/// `key`, `key:asc` or `key:desc`.
struct SortArgument: ExpressibleByArgument, Hashable, Sendable {
  let descriptor: SortDescriptor

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, parts.count <= 2 else { return nil }
    switch parts.dropFirst().first {
    case nil, "asc": descriptor = SortDescriptor(key: String(key), ascending: true)
    case "desc": descriptor = SortDescriptor(key: String(key), ascending: false)
    default: return nil
    }
  }
}
