import PhotoClient
import PhotoModel
import PredicateLanguage

extension PhotoLibrary {
  /// The user's album, smart album or folder of albums that a name means.
  ///
  /// - Parameters:
  ///   - kinds: the kinds that it may have.
  ///   - mayBeNew: whether the remedy for a missing album is to make it.
  /// - Throws: ``Failure`` if there is none, or if there are several.
  func album(
    _ name: AlbumName, kinds: Set<AssetCollection.Kind> = [.album, .smartAlbum, .folder], mayBeNew: Bool = false
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
      if let failure = try await failure(forFixed: name) { throw failure }
      let isPrefixed = ["id:", "album:", "smart:"].contains { name.text.hasPrefix($0) }
      let making =
        "`photoctl albums \(kinds == [.folder] ? "mkdir" : "create") \(ShellWord.quoted(printable))` makes one."
      throw Failure(
        .noInput,
        name.text.hasPrefix("id:")
          ? "no \(noun) has the id \(printable.dropFirst(3))" : "there is no \(noun) called '\(printable)'",
        remedy: mayBeNew && !isPrefixed
          ? "`photoctl albums` lists the albums, and \(making)" : "`photoctl albums` lists the albums.")
    }
    guard found.count == 1 else {
      let ids = found.prefix(20).map { "id:\($0.id)" }.joined(separator: ", ")
      throw Failure(
        .noInput, "\(found.count) albums are called '\(printable)'", remedy: "Name one of them: \(ids).")
    }
    return first
  }

  /// The failure for an album that photod keeps by itself. A client can't change it.
  ///
  /// - Returns: nil if there is no such album.
  private func failure(forFixed name: AlbumName) async throws -> Failure? {
    let title = CaseFolding.fold(name.text)
    let fixed = try await collections(kinds: [.smartAlbum, .folderAlbum]).first { album in
      guard album.kind == .folderAlbum || album.subtype != nil else { return false }
      let names = ["id:\(album.id)", album.title, "album:\(album.title)"]
      let others =
        album.subtype.map { ["smart:\($0)", "smart:\(album.title)"] } ?? album.path.map { ["folder:\($0)"] } ?? []
      return (names + others).contains { CaseFolding.fold($0) == title }
    }
    guard let fixed else { return nil }
    return Failure(
      .noInput,
      fixed.kind == .folderAlbum
        ? "'\(Printable.text(name.text))' is a folder on your disk, and no album of yours"
        : "'\(Printable.text(name.text))' is an album of photod, and no album of yours",
      remedy: "Only your own albums can be changed. `photoctl albums create` makes one.")
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
    return try await album(name, kinds: [.folder], mayBeNew: true).id
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
