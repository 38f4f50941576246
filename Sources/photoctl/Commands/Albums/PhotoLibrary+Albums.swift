import PhotoClient
import PhotoModel
import PredicateLanguage

extension PhotoLibrary {
  /// The user's album or folder of albums that a name means.
  ///
  /// - Parameter kinds: the kinds that it may have.
  /// - Throws: ``Failure`` if there is none, or if there are several.
  func album(
    _ name: AlbumName, kinds: Set<AssetCollection.Kind> = [.album, .folder]
  ) async throws -> AssetCollection {
    let albums = try await collections(kinds: [.album, .folder]).filter { kinds.contains($0.kind) }
    let found: [AssetCollection]
    if name.text.hasPrefix("id:"), let id = CollectionID(String(name.text.dropFirst(3))) {
      found = albums.filter { $0.id == id }
    } else {
      let title = CaseFolding.fold(name.text.hasPrefix("album:") ? String(name.text.dropFirst(6)) : name.text)
      found = albums.filter { CaseFolding.fold($0.title) == title }
    }
    let printable = Printable.text(name.text)
    let noun = kinds == [.folder] ? "folder of albums" : "album of yours"
    guard let first = found.first else {
      throw Failure(
        .noInput, "there is no \(noun) called '\(printable)'",
        remedy: kinds == [.folder]
          ? "`photoctl albums mkdir \(ShellWord.quoted(printable))` makes one."
          : "`photoctl albums` lists the albums, and `photoctl albums create \(ShellWord.quoted(printable))` makes one.",
        command: "albums")
    }
    guard found.count == 1 else {
      let ids = found.prefix(20).map { "id:\($0.id)" }.joined(separator: ", ")
      throw Failure(
        .noInput, "\(found.count) albums are called '\(printable)'", remedy: "Name one of them: \(ids).",
        command: "albums")
    }
    return first
  }

  /// The id of a folder of albums, for `--in`; nil for the top level.
  func folderID(_ name: AlbumName?) async throws -> CollectionID? {
    guard let name else { return nil }
    return try await album(name, kinds: [.folder]).id
  }
}

extension AssetCollection {
  /// `The album 'Rome'`, for messages.
  var subject: String { "The \(kind == .folder ? "folder of albums" : "album") '\(Printable.text(title))'" }
}
