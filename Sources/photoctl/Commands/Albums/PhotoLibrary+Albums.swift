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
      if let other = named.first { throw other.failure(named: printable, expecting: kinds) }
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
      throw Failure(
        .noInput, "\(found.count) albums are called '\(printable)'",
        remedy: "Name one of them: \(AssetCollection.distinctions(Array(found.prefix(20)), among: albums)).")
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

  /// Runs `body`. If it fails because several albums have a name, the remedy has the differences between them.
  func distinguishingAlbums<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch PhotoLibraryError.ambiguousCollection(let name, let candidates, let count)
      where count ?? 0 <= candidates.count
    {
      throw try await failure(ambiguous: name, candidates)
    }
  }

  /// - Parameter candidates: ids such as `id:42`, or paths of folders, which need no explanation.
  private func failure(ambiguous name: String, _ candidates: [String]) async throws -> Failure {
    let error = PhotoLibraryError.ambiguousCollection(collection: name, candidates: candidates)
    let ids = Set(candidates)
    let albums = try await collections(kinds: [.album, .smartAlbum, .folder])
    let named = albums.filter { ids.contains("id:\($0.id)") }
    return Failure(
      .noInput, Printable.text(error.message),
      remedy: named.count == candidates.count
        ? "Name one of them: \(AssetCollection.distinctions(named, among: albums))." : Printable.text(error.remedy))
  }

  /// The ids of all assets in an album, with the hidden ones.
  func members(of album: AssetCollection) async throws -> Set<AssetID> {
    var members: Set<AssetID> = []
    for try await page in fetchIDs(FetchOptions(collection: "id:\(album.id)", includeHidden: true)) {
      members.formUnion(page.ids)
    }
    return members
  }

  /// The id of a folder of albums, for `--in`; nil for the top level.
  func folderID(_ name: AlbumName?) async throws -> CollectionID? {
    guard let name else { return nil }
    return try await album(name, kinds: [.folder], mayBeNew: true).id
  }
}

extension AssetCollection {
  /// `The album 'Rome'`, for messages.
  var subject: String { "The \(name)" }

  /// `nothing to do: the album 'Rome' had this title already`
  ///
  /// - Parameter state: the words after the name of the album.
  func nothingToDo(_ state: String) -> String { "nothing to do: the \(name) \(state)\n" }

  private var name: String {
    let noun = kind == .folder ? "folder of albums" : kind == .smartAlbum ? "smart album" : "album"
    return "\(noun) '\(Printable.text(title))'"
  }

  private var noun: String {
    kind == .folder ? "a folder of albums" : kind == .smartAlbum ? "a smart album" : "an album"
  }

  /// The failure if an album of this kind can't be used.
  ///
  /// - Parameters:
  ///   - name: the name on the command line, printable.
  ///   - kinds: the kinds that can be used.
  func failure(named name: String, expecting kinds: Set<Kind>) -> Failure {
    let problem: String
    let remedy: String
    if kinds == [.folder] {
      problem = "'\(name)' is \(noun), and no folder of albums"
      remedy = "`photoctl albums` lists the folders of albums, and `photoctl albums mkdir` makes one."
    } else if kinds == [.smartAlbum] {
      problem = "'\(name)' is \(noun), and has no query"
      remedy = "Only a smart album has a query. `photoctl albums` lists the kinds of the albums."
    } else if kind == .smartAlbum {
      problem = "'\(name)' is a smart album; its query decides which photos it has"
      let command = "photoctl albums smart --edit \(ShellWord.quoted(name))"
      remedy = "Choose another album, or change the query with `\(command)`."
    } else {
      problem = "'\(name)' is \(noun), and has no photos of its own"
      remedy = "Choose an album."
    }
    return Failure(.noInput, problem, remedy: remedy)
  }

  /// `id:123 (3 photos, in Trips), id:125 (no photos)`: the differences between albums with the same title.
  ///
  /// - Parameter all: the albums among which their folders are.
  static func distinctions(_ albums: [AssetCollection], among all: [AssetCollection]) -> String {
    let folders = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return albums.map { album in
      let photos = album.count == 0 ? "no photos" : Text.count(album.count, "photo", "photos")
      var facts = [album.kind == .folder ? "folder of albums" : photos]
      if album.kind == .smartAlbum { facts.insert("smart album", at: 0) }
      if let place = album.place(in: folders) { facts.append("in \(place)") }
      return "id:\(album.id) (\(facts.joined(separator: ", ")))"
    }.joined(separator: ", ")
  }

  /// The most folders above an album that are shown.
  static let mostFolders = 32

  /// `Trips/Italy`, the folders of albums that hold this album; nil at the top level.
  func place(in folders: [CollectionID: AssetCollection]) -> String? {
    var titles: [String] = []
    var next = parentID.flatMap { folders[$0] }
    // The depth is limited, so that a wrong reply can't cause an endless loop.
    while let folder = next, titles.count < Self.mostFolders {
      titles.insert(Printable.text(folder.title), at: 0)
      next = folder.parentID.flatMap { folders[$0] }
    }
    return titles.isEmpty ? nil : titles.joined(separator: "/")
  }
}
