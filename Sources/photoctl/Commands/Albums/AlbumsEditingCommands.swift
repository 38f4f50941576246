import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes an album, and prints its id.",
    discussion: """
      The assets come in the order of the command line, those of --where and the other options of a query last. Several albums may have the same title.

      EXAMPLES
        photoctl albums create Best
        photoctl albums create Rome --in Trips IMG_0001.jpg IMG_0002.jpg
        photoctl query --under ~/Pictures/Rome | photoctl albums create Rome -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The title of the new album.", valueName: "title"))
  var title: String

  @Option(name: .customLong("in"), help: ArgumentHelp("The folder of albums that gets it.", valueName: "folder"))
  var folder: AlbumName?

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try TextBound.check(title: title) }

  func run() async throws {
    let library = connection.library
    let found = try await assets.find(in: library)
    let parentID = try await library.folderID(folder)
    var id: CollectionID?
    // The album and its first photos are one transaction. Only an album of more photos than a call can have needs
    // several.
    try await library.change(found, unlessEmpty: false) { ids in
      id.map { ChangeRequest(editAlbum: .init(id: $0, placeAssetIDs: ids)) }
        ?? ChangeRequest(createAlbum: .init(title: title, assetIDs: ids, parentID: parentID))
    } made: { result in
      id = id ?? result.createdCollectionIDs.first
    }
    guard let id else { return }
    try CreatedAlbum(id: id).put(asJSON: json.isOn)
    Output.complain(
      "The album '\(Printable.text(title))' was made, with \(Text.count(found.ids.count, "photo", "photos")).\n")
  }
}

struct AlbumsMkdirCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mkdir",
    abstract: "Makes a folder of albums, and prints its id.",
    discussion: """
      A folder of albums may hold albums and other folders. It has nothing to do with the folders on your disk.

      EXAMPLES
        photoctl albums mkdir Trips
        photoctl albums mkdir 2024 --in Trips
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The title of the new folder.", valueName: "title"))
  var title: String

  @Option(name: .customLong("in"), help: ArgumentHelp("The folder of albums that gets it.", valueName: "folder"))
  var folder: AlbumName?

  @OptionGroup var json: JSONOption

  func validate() throws { try TextBound.check(title: title) }

  func run() async throws {
    let library = connection.library
    let parentID = try await library.folderID(folder)
    let result = try await library.makeChanges([
      ChangeRequest(createFolder: .init(title: title, parentID: parentID))
    ])
    for id in result.createdCollectionIDs { try CreatedAlbum(id: id).put(asJSON: json.isOn) }
    Output.complain("The folder of albums '\(Printable.text(title))' was made.\n")
  }
}

/// The output of a command that makes a collection.
struct CreatedAlbum: Encodable {
  let id: CollectionID

  /// Prints the id in the form in which an album can be named.
  func put(asJSON: Bool) throws {
    try Output.put(asJSON ? JSONText.indented(self) : Array("id:\(id)\n".utf8))
  }
}

/// The output of a command that changes collections, if it is asked for.
struct ChangedAlbums: Encodable {
  let ids: [CollectionID]

  init(_ albums: [AssetCollection]) { ids = albums.map(\.id) }

  func put(asJSON: Bool) throws {
    if asJSON { try Output.put(JSONText.indented(self)) }
  }
}

struct AlbumsRenameCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Gives an album or a folder of albums another title.",
    discussion: """
      EXAMPLES
        photoctl albums rename Rome "Summer in Rome"
        photoctl albums rename id:42 Best
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The album.", valueName: "album"))
  var album: AlbumName

  @Argument(help: ArgumentHelp("The new title.", valueName: "title"))
  var title: String

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be renamed, and change nothing.")
  var isDryRun = false

  @OptionGroup var json: JSONOption

  func validate() throws { try TextBound.check(title: title) }

  func run() async throws {
    let library = connection.library
    let album = try await library.album(album)
    let isUnchanged =
      isDryRun
      ? album.title == title
      : try await !library.changes(ChangeRequest(editCollection: .init(id: album.id, title: title)))
    try ChangedAlbums([album]).put(asJSON: json.isOn)
    if isUnchanged { return Output.complain(album.nothingToDo("had this title already")) }
    let new = Printable.text(title)
    Output.complain("\(album.subject) \(isDryRun ? "would be called '\(new)'" : "is called '\(new)' now").\n")
  }
}

struct AlbumsMoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves an album to another folder of albums, or to another position.",
    discussion: """
      The albums of a folder are in alphabetical order, until one of them gets a position with --before. From then on \
      they keep their order.

      EXAMPLES
        photoctl albums move Rome --to Trips
        photoctl albums move Rome --top
        photoctl albums move Rome --before Paris
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The album.", valueName: "album"))
  var album: AlbumName

  @Option(help: ArgumentHelp("Move it to this folder of albums.", valueName: "folder"))
  var to: AlbumName?

  @Flag(help: "Move it out of all folders.")
  var top = false

  @Option(help: ArgumentHelp("Move it in front of this album, to the folder of that album.", valueName: "album"))
  var before: AlbumName?

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print what would be moved, and change nothing. photod may refuse the change itself.")
  var isDryRun = false

  @OptionGroup var json: JSONOption

  func validate() throws {
    if to != nil && top { throw ValidationError("--to and --top can't be used together.") }
    if to == nil && !top && before == nil { throw ValidationError("Give the new place: --to, --top or --before.") }
    if before != nil && (to != nil || top) {
      throw ValidationError("--before moves it to the folder of that album, so it needs neither --to nor --top.")
    }
  }

  func run() async throws {
    let library = connection.library
    let album = try await library.album(album)
    var edit = ChangeRequest.EditCollection(id: album.id)
    if let before {
      let next = try await library.album(before)
      (edit.parentID, edit.beforeID) = (next.parentID ?? 0, next.id)
    } else {
      edit.parentID = try await library.folderID(to) ?? 0
    }
    let isUnchanged = isDryRun ? false : try await !library.changes(ChangeRequest(editCollection: edit))
    try ChangedAlbums([album]).put(asJSON: json.isOn)
    if isUnchanged { return Output.complain(album.nothingToDo("was in this place already")) }
    Output.complain("\(album.subject) \(isDryRun ? "would be" : "was") moved.\n")
  }
}

struct AlbumsAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds assets to an album, or moves those that are in it.",
    discussion: """
      The assets are placed in the order of the command line, at the end or before another asset. If one of them is not in the \
      library, none of them is added.

      EXAMPLES
        photoctl albums add Best 42 43
        photoctl albums add Best --before 42 IMG_0001.jpg
        photoctl query --rating 5 | photoctl albums add Best -
        photoctl albums add Sea --where "ANY keywords == 'sea'"
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The album.", valueName: "album"))
  var album: AlbumName

  @Option(help: ArgumentHelp("Place them before this asset of the album.", valueName: "id|path"), completion: .file())
  var before: AssetArgument?

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would be placed, and change nothing. photod may refuse the change itself.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    let library = connection.library
    let album = try await library.album(album, kinds: [.album], mayBeNew: true)
    let next = try await before.map { [NamedAsset($0)] }.asyncMap { try await library.ids(of: $0).ids.first } ?? nil
    let found = try await assets.find(in: library)
    let members = found.ids.isEmpty ? [] : try await library.members(of: album)
    let memberCount = found.ids.count(where: members.contains)
    var placedCount = found.ids.count
    if isDryRun {
      try await library.check(found)
    } else {
      placedCount = try await place(found, before: next, in: album, library)
    }
    try PhotoLibrary.putIDs(found.ids, asJSON: json.isOn)
    Output.complain(
      Self.text(
        placedCount, of: found.ids.count, memberCount: memberCount, album: Printable.text(album.title),
        isDryRun: isDryRun) + "\n")
  }

  /// `1 photo was placed in the album 'Rome'; 2 photos were in it already`
  ///
  /// - Parameters:
  ///   - placedCount: the number of assets that were not in their places before.
  ///   - count: the number of assets.
  ///   - memberCount: how many of them were in the album before.
  static func text(_ placedCount: Int, of count: Int, memberCount: Int, album: String, isDryRun: Bool) -> String {
    let (was, were) = isDryRun ? ("is", "are") : ("was", "were")
    if placedCount > 0, memberCount > 0, memberCount == count {
      let moved = isDryRun ? "would be moved" : count == 1 ? "was moved" : "were moved"
      return Text.count(count, "photo \(was)", "photos \(were)") + " in the album '\(album)' already, and \(moved)"
    }
    // Assets that are in their places already are in the album, too.
    let newCount = placedCount == 0 ? 0 : count - memberCount
    return PhotoLibrary.text(
      newCount, of: count,
      summary: isDryRun
        ? ("photo would be placed in the album '\(album)'", "photos would be placed in the album '\(album)'")
        : ("photo was placed in the album '\(album)'", "photos were placed in the album '\(album)'"),
      unchanged: placedCount == 0
        ? ("photo was in this place already", "photos were in these places already")
        : ("photo \(was) in it already", "photos \(were) in it already"))
  }

  /// - Returns: the number of assets that were placed. The others were in their places already.
  private func place(
    _ assets: FoundAssets, before next: AssetID?, in album: AssetCollection, _ library: PhotoLibrary
  ) async throws -> Int {
    // The asset before which they are placed may be one of them. Then the assets of a later call come behind those of
    // the call before it. The last one of those is placed again, before the first asset behind it that the later call
    // does not place.
    let isPlaced = next.map(assets.ids.contains) ?? false
    var last: AssetID?
    return try await library.change(assets, mostPerCall: PhotoLibrary.mostPerChange - (isPlaced ? 1 : 0)) { ids in
      defer { last = isPlaced ? ids.last : nil }
      let placed = [last].compactMap { $0 } + ids
      return ChangeRequest(editAlbum: .init(id: album.id, placeAssetIDs: placed, beforeAssetID: last ?? next))
    }
  }
}

struct AlbumsRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes assets from an album. They stay in the library.",
    discussion: """
      --where and the other options of a query find visible assets, or with --hidden the hidden ones.

      EXAMPLES
        photoctl albums remove Best 42 43
        photoctl albums remove Best --where "rating < 4" --dry-run
        photoctl albums remove Best --hidden
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The album.", valueName: "album"))
  var album: AlbumName

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be removed, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    let library = connection.library
    let album = try await library.album(album, kinds: [.album])
    var found = try await assets.find(in: library)
    try await library.check(found)
    let foundCount = found.ids.count
    let members = try await library.members(of: album)
    found.ids.removeAll { !members.contains($0) }
    if !isDryRun {
      try await library.change(found) { ChangeRequest(editAlbum: .init(id: album.id, removeAssetIDs: $0)) }
    }
    let title = Printable.text(album.title)
    try PhotoLibrary.report(
      found.ids, of: foundCount, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would be removed from the album '\(title)'", "photos would be removed from the album '\(title)'")
        : ("photo was removed from the album '\(title)'", "photos were removed from the album '\(title)'"),
      unchanged: isDryRun
        ? ("photo is not in this album", "photos are not in this album")
        : ("photo was not in this album", "photos were not in this album"))
  }
}

struct AlbumsCoverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cover",
    abstract: "Chooses the cover of an album.",
    discussion: """
      The asset must be in the album. If it is removed or hidden later, the album shows another cover until it is back. \
      `photoctl undo` brings the former cover back.

      EXAMPLES
        photoctl albums cover Rome IMG_0001.jpg
        photoctl albums cover id:42 7 --dry-run
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The album.", valueName: "album"))
  var album: AlbumName

  @Argument(
    help: ArgumentHelp("The asset: its id, or the path of its file.", valueName: "id|path"), completion: .file())
  var asset: AssetArgument

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print which cover would be chosen, and change nothing. photod may refuse the change itself.")
  var isDryRun = false

  @OptionGroup var json: JSONOption

  func run() async throws {
    let library = connection.library
    let album = try await library.album(album, kinds: [.album])
    let (ids, names) = try await library.ids(of: [NamedAsset(asset)])
    let found = FoundAssets(ids: ids, names: names)
    try await library.check(found)
    guard let id = found.ids.first else { return }
    let isUnchanged =
      isDryRun
      ? false : try await !library.changes(ChangeRequest(editAlbum: .init(id: album.id, keyAssetID: id)))
    try ChangedAlbums([album]).put(asJSON: json.isOn)
    if isUnchanged { return Output.complain(album.nothingToDo("had this cover already")) }
    Output.complain("\(album.subject) \(isDryRun ? "would have" : "has") the cover \(id)\(isDryRun ? "" : " now").\n")
  }
}

struct AlbumsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes albums, or folders of albums with all albums in them. Photos are not deleted.",
    discussion: """
      EXAMPLES
        photoctl albums delete --dry-run Best
        photoctl albums delete Best id:42
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be deleted, and change nothing.")
  var isDryRun = false

  @Argument(help: ArgumentHelp("The albums.", valueName: "album"))
  var albums: [AlbumName]

  @OptionGroup var json: JSONOption

  func run() async throws {
    let library = connection.library
    var chosen: [AssetCollection] = []
    for name in albums {
      let album = try await library.album(name)
      if !chosen.contains(where: { $0.id == album.id }) { chosen.append(album) }
    }
    let all = try await library.userCollections()
    // A folder takes what is in it along, so an album that is also named must not be deleted twice.
    let roots = chosen.filter { album in !chosen.contains { $0.id != album.id && album.isBelow($0, among: all) } }
    if !isDryRun { try await library.makeChanges(roots.map { ChangeRequest(deleteAlbum: $0.id) }) }
    let deleted = all.filter { album in roots.contains { $0.id == album.id || album.isBelow($0, among: all) } }
    try ChangedAlbums(deleted).put(asJSON: json.isOn)
    for album in deleted {
      let photos =
        album.kind != .folder && album.count > 0 ? " Its \(Text.count(album.count, "photo stays", "photos stay"))." : ""
      Output.complain("\(album.subject) \(isDryRun ? "would be" : "was") deleted.\(photos)\n")
    }
  }
}

extension AssetCollection {
  fileprivate func isBelow(_ folder: AssetCollection, among all: [AssetCollection]) -> Bool {
    var parent = parentID
    while let id = parent {
      if id == folder.id { return true }
      parent = all.first { $0.id == id }?.parentID
    }
    return false
  }
}

extension Optional {
  fileprivate func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async rethrows -> Value? {
    guard let self else { return nil }
    return try await body(self)
  }
}
