import PhotoModel

/// The user data of one asset, and the properties by which its file is recognized if the catalog is lost.
package struct UserDataEntry: Hashable, Sendable {
  package var id: AssetID
  package var isFavorite = false
  package var isHidden = false
  /// nil if the asset is in the library.
  package var deletedDate: WallTime?
  package var addedDate = WallTime.unknown
  package var file = File()
  /// The fields from a later version, unchanged.
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
  package var isEmpty: Bool { !isFavorite && !isHidden && others.isEmpty }
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
  /// A folder, and everything below it, has a new path.
  case moved(from: [UInt8], to: [UInt8])
  /// A record from a later version, unchanged.
  case other([UInt8])

  init(parsing payload: ArraySlice<UInt8>) {
    let words = payload.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    var fields = Fields(words.dropFirst())
    let record: UserDataRecord? =
      switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
      case "library":
        fields.text("uuid").flatMap { uuid in fields.integer("epoch").map { .library(uuid: uuid, epoch: $0) } }
      case "opened": fields.integer("epoch").map { .opened(epoch: $0) }
      case "closed": .closed
      case "ids": .ids(assets: fields.id("assets") ?? 0, collections: fields.id("collections") ?? 0)
      case "asset": UserDataEntry(&fields).map(UserDataRecord.asset)
      case "all": fields.integer("count").map { .all(count: Int(clamping: $0)) }
      case "moved": fields.bytes("from").flatMap { from in fields.bytes("to").map { .moved(from: from, to: $0) } }
      default: nil
      }
    self = record ?? .other(Array(payload))
  }

  var payload: [UInt8] {
    var line = Line()
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
    case .moved(let from, let to):
      line.begin("moved")
      line.add("from", bytes: from)
      line.add("to", bytes: to)
    case .other(let payload): return payload
    }
    return line.bytes
  }
}

extension UserDataEntry {
  fileprivate init?(_ fields: inout Fields) {
    guard let id: AssetID = fields.id("id"), id > 0 else { return nil }
    self.init(id: id)
    isFavorite = fields.integer("favorite") == 1
    isHidden = fields.integer("hidden") == 1
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

  fileprivate func write(to line: inout Line) {
    line.begin("asset")
    line.add("id", id.rawValue)
    if isFavorite { line.add("favorite", 1) }
    if isHidden { line.add("hidden", 1) }
    if let deletedDate { line.add("deleted", date: deletedDate) }
    line.add("added", date: addedDate)
    if !file.volume.isEmpty { line.add("volume", file.volume) }
    line.add("inode", Int64(bitPattern: file.inode))
    line.add("birth", time: file.birthTime)
    if let byteCount = file.byteCount { line.add("size", byteCount) }
    line.add("modified", time: file.modificationTime)
    if let fingerprint = file.marks.fingerprint { line.add("print", Int64(bitPattern: fingerprint)) }
    if let sample = file.marks.sample { line.add("sample", sample.text) }
    if let hash = file.marks.hash { line.add("hash", hash.text) }
    line.add("path", bytes: file.path)
    for field in others { line.add(field.key, bytes: field.value) }
  }
}

/// The fields of one line. Each method removes the field that it returns.
private struct Fields {
  private(set) var rest: [UserDataField] = []

  init(_ words: ArraySlice<ArraySlice<UInt8>>) {
    for word in words {
      guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else { continue }
      rest.append(
        UserDataField(
          key: String(decoding: word[..<equals], as: UTF8.self),
          value: Line.unescape(word[word.index(after: equals)...])))
    }
  }

  mutating func bytes(_ key: String) -> [UInt8]? {
    guard let index = rest.firstIndex(where: { $0.key == key }) else { return nil }
    return rest.remove(at: index).value
  }

  mutating func text(_ key: String) -> String? { bytes(key).map { String(decoding: $0, as: UTF8.self) } }
  mutating func integer(_ key: String) -> Int64? { text(key).flatMap { Int64($0) } }
  /// Nanoseconds since 1970.
  mutating func time(_ key: String) -> WallTime? { integer(key).map(WallTime.init(nanoseconds:)) }
  /// Microseconds since 1970.
  mutating func date(_ key: String) -> WallTime? { integer(key).map(WallTime.init(microseconds:)) }
  mutating func id<ID: CatalogID>(_ key: String) -> ID? { integer(key).map(ID.init(rawValue:)) }
  mutating func digest(_ key: String) -> ContentDigest? { text(key).flatMap { ContentDigest(text: $0) } }
}

/// The bytes of one line while it is written. Spaces, control characters, `%` and bytes beyond ASCII are
/// percent-encoded in values, so that a line has no newline except at its end.
private struct Line {
  private(set) var bytes: [UInt8] = []

  mutating func begin(_ kind: String) { bytes += kind.utf8 }
  mutating func add(_ key: String, _ value: Int64) { add(key, String(value)) }
  mutating func add(_ key: String, time: WallTime) { add(key, time.nanoseconds) }
  mutating func add(_ key: String, date: WallTime) { add(key, date.microseconds) }
  mutating func add(_ key: String, _ value: String) { add(key, bytes: Array(value.utf8)) }

  mutating func add(_ key: String, bytes value: [UInt8]) {
    bytes.append(UInt8(ascii: " "))
    bytes += key.utf8
    bytes.append(UInt8(ascii: "="))
    for byte in value {
      if byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  static func unescape(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.endIndex,
        let high = digits.firstIndex(of: text[index + 1]), let low = digits.firstIndex(of: text[index + 2])
      {
        bytes.append(UInt8(high << 4 | low))
        index += 3
      } else {
        bytes.append(text[index])
        index += 1
      }
    }
    return bytes
  }
}
