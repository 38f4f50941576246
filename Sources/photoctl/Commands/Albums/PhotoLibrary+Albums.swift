import PhotoClient
import PhotoModel
import PredicateLanguage

extension PhotoLibrary {
  /// The user's album, smart album or folder of albums that a name means.
  ///
  /// - Parameter kinds: the kinds that it may have.
  /// - Throws: ``Failure`` if there is none, or if there are several.
  func album(
    _ name: AlbumName, kinds: Set<AssetCollection.Kind> = [.album, .smartAlbum, .folder]
  ) async throws -> AssetCollection {
    let albums = try await userCollections()
    let named: [AssetCollection]
    if name.text.hasPrefix("id:"), let id = CollectionID(String(name.text.dropFirst(3))) {
      named = albums.filter { $0.id == id }
    } else {
      let prefix = ["album:", "smart:"].first { name.text.hasPrefix($0) } ?? ""
      let title = CaseFolding.fold(String(name.text.dropFirst(prefix.count)))
      named = albums.filter { CaseFolding.fold($0.title) == title }
    }
    let found = named.filter { kinds.contains($0.kind) }
    let printable = Printable.text(name.text)
    let noun =
      kinds == [.folder] ? "folder of albums" : kinds == [.smartAlbum] ? "smart album of yours" : "album of yours"
    guard let first = found.first else {
      if let other = named.first {
        throw Failure(
          .noInput, "'\(printable)' is \(other.noun), but no \(noun)", remedy: Self.remedy(for: other.kind))
      }
      throw Failure(
        .noInput, "there is no \(noun) called '\(printable)'",
        remedy: kinds == [.folder]
          ? "`photoctl albums mkdir \(ShellWord.quoted(printable))` makes one."
          : "`photoctl albums` lists the albums, and `photoctl albums \(kinds == [.smartAlbum] ? "smart" : "create") \(ShellWord.quoted(printable))` makes one."
      )
    }
    guard found.count == 1 else {
      let ids = found.prefix(20).map { "id:\($0.id)" }.joined(separator: ", ")
      throw Failure(
        .noInput, "\(found.count) albums are called '\(printable)'", remedy: "Name one of them: \(ids).")
    }
    return first
  }

  private static func remedy(for kind: AssetCollection.Kind) -> String {
    switch kind {
    case .smartAlbum:
      "The query of a smart album decides which photos it has. `photoctl albums smart --edit` changes it."
    case .folder: "A folder of albums has no photos of its own. Choose an album."
    case .album, .folderAlbum, .unknown: "`photoctl albums --fields kind,title` lists the kinds."
    }
  }

  /// The id of a folder of albums, for `--in`; nil for the top level.
  func folderID(_ name: AlbumName?) async throws -> CollectionID? {
    guard let name else { return nil }
    return try await album(name, kinds: [.folder]).id
  }
}

extension AssetCollection {
  /// `The album 'Rome'`, for messages.
  var subject: String {
    let noun = kind == .folder ? "folder of albums" : kind == .smartAlbum ? "smart album" : "album"
    return "The \(noun) '\(Printable.text(title))'"
  }

  fileprivate var noun: String {
    kind == .folder ? "a folder of albums" : kind == .smartAlbum ? "a smart album" : "an album"
  }
}
