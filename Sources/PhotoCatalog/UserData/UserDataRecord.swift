import PhotoModel

/// The user data of one asset, and the properties by which its file is recognized if the catalog is lost.
package struct UserDataEntry: Hashable, Sendable {
  package var id: AssetID
  package var data = AssetUserData()
  /// Whether an album of the user has the asset. The albums have records of their own.
  package var isInAlbum = false
  /// nil if the asset is in the library.
  package var deletedDate: WallTime?
  package var addedDate = WallTime.unknown
  package var file = File()
  /// The fields from a later version, and values of edits that this version can't read, unchanged.
  package var others: [UserDataField] = []

  /// The first file of the asset, as it was when the entry was written.
  package struct File: Hashable, Sendable {
    /// The absolute path.
    package var path: [UInt8] = []
    /// The identity of the volume in the catalog. Empty if it is unknown.
    package var volume = ""
    package var inode: UInt64 = 0
    package var birthTime = WallTime.unknown
    /// nil if unknown.
    package var byteCount: Int64?
    package var modificationTime = WallTime.unknown
    package var marks = ContentMarks()

    package init() {}
  }

  package init(id: AssetID) { self.id = id }

  /// Whether no user data is left. Such an entry cancels an earlier one.
  package var isEmpty: Bool { data.isEmpty && !isInAlbum && others.isEmpty }
}

/// A field `key=value`. The key consists of lower-case letters, and the value of any bytes.
package struct UserDataField: Hashable, Sendable {
  package var key: String
  package var value: [UInt8]
}

/// One line of the journal, without its frame (see ``UserDataJournal``).
enum UserDataRecord: Hashable, Sendable {
  /// The library to which the journal belongs.
  case library(uuid: String, epoch: Int64)
  /// The catalog was opened.
  case opened(epoch: Int64)
  /// The catalog was closed in order.
  case closed
  /// Ids up to these may have been assigned.
  case ids(assets: AssetID, collections: CollectionID)
  case asset(UserDataEntry)
  /// The end of a compaction. This number of `asset` lines came before it.
  case all(count: Int)
  /// A collection of the user was made or changed. Its assets are not in the record.
  case collection(UserCollection)
  /// A collection whose kind is from a later version, unchanged.
  case otherCollection(CollectionID, [UInt8])
  /// A collection of the user was deleted.
  case deleted(CollectionID)
  /// Assets were added to an album, or moved in it: before another asset, or to the end. They are in this order.
  case placed(album: CollectionID, before: AssetID?, [AssetID])
  /// Assets were removed from an album.
  case removed(album: CollectionID, [AssetID])
  /// A folder, and everything below it, has a new path.
  case moved(from: [UInt8], to: [UInt8])
  /// A record from a later version, unchanged.
  case other([UInt8])

  init(parsing payload: ArraySlice<UInt8>) {
    let words = payload.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    var fields = RecordFields(words.dropFirst())
    let record: UserDataRecord? =
      switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
      case "library":
        fields.text("uuid").flatMap { uuid in fields.integer("epoch").map { .library(uuid: uuid, epoch: $0) } }
      case "opened": fields.integer("epoch").map { .opened(epoch: $0) }
      case "closed": .closed
      case "ids": .ids(assets: fields.id("assets") ?? 0, collections: fields.id("collections") ?? 0)
      case "asset": UserDataEntry(&fields).map(UserDataRecord.asset)
      case "all": fields.integer("count").map { .all(count: Int(clamping: $0)) }
      case "collection":
        UserCollection(&fields).map(UserDataRecord.collection)
          ?? Self.idOfCollection(words.dropFirst()).map { .otherCollection($0, Array(payload)) }
      case "deleted": fields.id("id").map(UserDataRecord.deleted)
      case "placed":
        fields.id("album").flatMap { album in
          fields.ids("ids").map { .placed(album: album, before: fields.id("before"), $0) }
        }
      case "removed":
        fields.id("album").flatMap { album in fields.ids("ids").map { .removed(album: album, $0) } }
      case "moved": fields.bytes("from").flatMap { from in fields.bytes("to").map { .moved(from: from, to: $0) } }
      default: nil
      }
    self = record ?? .other(Array(payload))
  }

  private static func idOfCollection(_ words: ArraySlice<ArraySlice<UInt8>>) -> CollectionID? {
    var fields = RecordFields(words)
    guard let id: CollectionID = fields.id("id"), id > 0 else { return nil }
    return id
  }

  /// Appends the kind and the fields.
  func write(to line: inout RecordLine) {
    switch self {
    case .library(let uuid, let epoch):
      line.begin("library")
      line.add("uuid", uuid)
      line.add("epoch", epoch)
    case .opened(let epoch):
      line.begin("opened")
      line.add("epoch", epoch)
    case .closed: line.begin("closed")
    case .ids(let assets, let collections):
      line.begin("ids")
      line.add("assets", assets.rawValue)
      line.add("collections", collections.rawValue)
    case .asset(let entry): entry.write(to: &line)
    case .all(let count):
      line.begin("all")
      line.add("count", Int64(count))
    case .collection(let collection): collection.write(to: &line)
    case .deleted(let id):
      line.begin("deleted")
      line.add("id", id.rawValue)
    case .placed(let album, let before, let ids):
      line.begin("placed")
      line.add("album", album.rawValue)
      if let before { line.add("before", before.rawValue) }
      line.add("ids", ids: ids)
    case .removed(let album, let ids):
      line.begin("removed")
      line.add("album", album.rawValue)
      line.add("ids", ids: ids)
    case .moved(let from, let to):
      line.begin("moved")
      line.add("from", bytes: from)
      line.add("to", bytes: to)
    case .other(let payload), .otherCollection(_, let payload): line.append(payload)
    }
  }
}

extension UserDataEntry {
  fileprivate init?(_ fields: inout RecordFields) {
    guard let id: AssetID = fields.id("id"), id > 0 else { return nil }
    self.init(id: id)
    data.isFavorite = fields.integer("favorite") == 1
    data.isHidden = fields.integer("hidden") == 1
    data.edits = AssetEdits(&fields)
    isInAlbum = fields.integer("inalbum") == 1
    deletedDate = fields.date("deleted")
    addedDate = fields.date("added") ?? .unknown
    file.volume = fields.text("volume") ?? ""
    file.inode = fields.integer("inode").map(UInt64.init(bitPattern:)) ?? 0
    file.birthTime = fields.time("birth") ?? .unknown
    file.byteCount = fields.integer("size")
    file.modificationTime = fields.time("modified") ?? .unknown
    file.marks.fingerprint = fields.integer("print").map(UInt64.init(bitPattern:))
    file.marks.sample = fields.digest("sample")
    file.marks.hash = fields.digest("hash")
    file.path = fields.bytes("path") ?? []
    others = fields.rest
  }

  fileprivate func write(to line: inout RecordLine) {
    line.begin("asset")
    line.add("id", id.rawValue)
    if isEmpty { return }
    if data.isFavorite { line.add("favorite", 1) }
    if data.isHidden { line.add("hidden", 1) }
    data.edits.write(to: &line)
    if isInAlbum { line.add("inalbum", 1) }
    if let deletedDate { line.add("deleted", date: deletedDate) }
    line.add("added", date: addedDate)
    if !file.volume.isEmpty { line.add("volume", file.volume) }
    line.add("inode", Int64(bitPattern: file.inode))
    line.add("birth", time: file.birthTime)
    if let byteCount = file.byteCount { line.add("size", byteCount) }
    line.add("modified", time: file.modificationTime)
    if let fingerprint = file.marks.fingerprint { line.add("print", Int64(bitPattern: fingerprint)) }
    if let sample = file.marks.sample { line.add("sample", sample) }
    if let hash = file.marks.hash { line.add("hash", hash) }
    line.add("path", bytes: file.path)
    // A value that was typed since replaces the one that this version could not read.
    for field in others where !data.edits.hasOnlyValue(of: field.key) { line.add(field) }
  }
}
