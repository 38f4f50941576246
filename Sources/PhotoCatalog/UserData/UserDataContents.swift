import PhotoModel

/// The contents of a journal of user data (see ``UserDataJournal`` for its format).
struct UserDataContents {
  /// The library of this journal. nil if both lines with its name are damaged.
  private(set) var library: String?
  private(set) var epoch: Int64 = 0
  /// The number of the last compaction, whose lines hold everything up to it.
  private(set) var baseNumber: Int64 = 0
  /// The number of the last batch.
  private(set) var number: Int64 = 0
  private(set) var reservedAssets: AssetID = 0
  private(set) var reservedCollections: CollectionID = 0
  /// The newest entry of each asset. ``finish()`` removes the entries without user data.
  private(set) var entries: [AssetID: UserDataEntry] = [:]
  /// The length of the newest line of each asset, in bytes.
  private(set) var lineBytes: [AssetID: Int] = [:]
  /// The collections that the user made.
  private(set) var collections: [CollectionID: UserCollection] = [:]
  /// The assets of the user's albums, including deleted ones that may return.
  private(set) var albums: [CollectionID: AlbumOrder] = [:]
  /// The assets of collections whose kind is from a later version.
  private(set) var otherAlbums: [CollectionID: AlbumOrder] = [:]
  /// The lines from a later version.
  private(set) var others: [[UInt8]] = []
  /// The newest line of each collection whose kind is from a later version. ``finish()`` adds them to ``others``.
  private var otherCollections: [CollectionID: [UInt8]] = [:]
  private(set) var moveCount = 0
  /// The batches after the requested number, oldest first.
  private(set) var newer: [Batch] = []
  /// Whether the last record says that the catalog was closed.
  private(set) var isClosed = false
  /// The number of lines that can't be read.
  private(set) var damagedLineCount = 0
  private(set) var readableLineCount = 0
  /// Whether lines of the last compaction are missing.
  private(set) var lacksBase = true
  /// The end of the intact part, in bytes. Only a batch that was not written completely can follow it.
  private(set) var end = 0

  struct Batch {
    let number: Int64
    var records: [UserDataRecord]
  }

  var isDamaged: Bool { damagedLineCount > 0 || lacksBase }

  private static let doubt: Int64 = 1_000_000
  private let after: Int64
  /// The lines of a batch whose last line is still missing.
  private var pending: Batch?
  private var pendingHasDamage = false
  private var moves: [(from: [UInt8], to: [UInt8])] = []
  private var isFirstLine = true

  /// - Parameter after: ``newer`` lists the batches above this number.
  init(parsing bytes: [UInt8], after: Int64) {
    self.after = after
    var start = 0
    while let newline = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      take(bytes[start..<newline], end: newline + 1)
      start = newline + 1
    }
    // A batch without its end was not acknowledged. If a line in it can't be read, that line may be its end, so the
    // batch counts.
    if pendingHasDamage { flush(end: start) }
    pending = nil
  }

  private mutating func take(_ line: ArraySlice<UInt8>, end lineEnd: Int) {
    defer { isFirstLine = false }
    if isFirstLine, line.elementsEqual(UserDataJournal.magic.utf8) {
      end = lineEnd
      return
    }
    guard let (number, left, payload) = Self.unframe(line) else {
      damagedLineCount += 1
      if pending == nil { end = lineEnd } else { pendingHasDamage = true }
      return
    }
    readableLineCount += 1
    let record = UserDataRecord(parsing: payload)
    if let open = pending, open.number != number { flush(end: lineEnd - line.count - 1) }
    pending = pending ?? Batch(number: number, records: [])
    pending?.records.append(record)
    if case .asset(let entry) = record { lineBytes[entry.id] = line.count + 1 }
    if left == 0 { flush(end: lineEnd) }
  }

  private mutating func flush(end: Int) {
    guard let batch = pending else { return }
    pending = nil
    pendingHasDamage = false
    self.end = end
    for record in batch.records { apply(record, number: batch.number) }
    number = max(number, batch.number)
    if batch.number > after { newer.append(batch) }
  }

  private mutating func apply(_ record: UserDataRecord, number: Int64) {
    isClosed = false
    switch record {
    case .library(let uuid, let epoch):
      library = uuid
      self.epoch = max(self.epoch, epoch)
      baseNumber = number
    case .opened(let epoch): self.epoch = max(self.epoch, epoch)
    case .closed: isClosed = true
    case .ids(let assets, let collections):
      reservedAssets = max(reservedAssets, assets)
      reservedCollections = max(reservedCollections, collections)
    case .asset(let entry):
      applyMoves()
      entries[entry.id] = entry
    case .collection(let collection):
      collections[collection.id] = collection
      otherCollections[collection.id] = nil
    case .otherCollection(let id, let payload): otherCollections[id] = payload
    case .deleted(let id):
      collections[id] = nil
      otherCollections[id] = nil
      albums[id] = nil
    case .placed(let album, let before, let ids): albums[album, default: AlbumOrder()].place(ids, before: before)
    case .removed(let album, let ids): albums[album]?.remove(ids)
    case .all(let count): lacksBase = entries.count < count
    case .moved(let from, let to):
      moves.append((from, to))
      moveCount += 1
    case .other(let payload): others.append(payload)
    }
  }

  /// Applies the remaining moves to the paths, and removes the entries without user data.
  mutating func finish() {
    applyMoves()
    reservedAssets = max(reservedAssets, entries.keys.max() ?? 0)
    reservedCollections = max(reservedCollections, collections.keys.max() ?? 0, otherCollections.keys.max() ?? 0)
    finishAlbums()
    if isDamaged {
      // A lost line may have reserved more ids.
      reservedAssets = AssetID(rawValue: reservedAssets.rawValue + Self.doubt)
      reservedCollections = CollectionID(rawValue: reservedCollections.rawValue + Self.doubt)
    }
    entries = entries.filter { !$0.value.isEmpty }
  }

  /// Separates the albums whose kind is unknown, and derives which assets are in albums. The line of an asset only says what
  /// was true when it was written.
  private mutating func finishAlbums() {
    var members: Set<AssetID> = []
    for album in albums.values { members.formUnion(album.ids) }
    // The line of an album may be lost while those of its assets are readable.
    for id in entries.keys where !isDamaged || members.contains(id) { entries[id]?.isInAlbum = members.contains(id) }
    otherAlbums = albums.filter { otherCollections[$0.key] != nil && collections[$0.key] == nil }
    albums = albums.filter { collections[$0.key] != nil }
    others += otherCollections.sorted { $0.key < $1.key }.map(\.value)
    for (id, collection) in collections {
      guard let parentID = collection.parentID, otherCollections[parentID] != nil else { continue }
      // This version shows it at the top level, and keeps its folder for the later one.
      collections[id]?.parentID = nil
      collections[id]?.others.append(UserDataField(key: "parent", value: Array("\(parentID)".utf8)))
    }
  }

  private mutating func applyMoves() {
    guard !moves.isEmpty else { return }
    let moves = moves
    self.moves = []
    for id in entries.keys {
      for move in moves { entries[id]?.file.path.move(from: move.from, to: move.to) }
    }
  }

  /// Parses `CRC number.left payload`.
  private static func unframe(_ line: ArraySlice<UInt8>) -> (number: Int64, left: Int64, payload: ArraySlice<UInt8>)? {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 8,
      UInt32(String(decoding: parts[0], as: UTF8.self), radix: 16)
        == CRC32C.checksum(of: line[parts[1].startIndex...])
    else { return nil }
    let numbers = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard numbers.count == 2, let number = Int64(String(decoding: numbers[0], as: UTF8.self)),
      let left = Int64(String(decoding: numbers[1], as: UTF8.self))
    else { return nil }
    return (number, left, parts[2])
  }

  /// Appends the line of a record.
  ///
  /// - Parameters:
  ///   - number: the number of its batch.
  ///   - left: the number of lines of the batch that follow.
  static func append(_ record: UserDataRecord, number: Int64, left: Int, to lines: inout RecordLine) {
    let start = lines.bytes.count
    lines.append(repeatElement(UInt8(ascii: "0"), count: 8))
    lines.append(UInt8(ascii: " "))
    let body = lines.bytes.count
    lines.append(decimal: number)
    lines.append(UInt8(ascii: "."))
    lines.append(decimal: Int64(left))
    lines.append(UInt8(ascii: " "))
    record.write(to: &lines)
    lines.replace(at: start, byHexadecimal: CRC32C.checksum(of: lines.bytes[body...]))
    lines.append(UInt8(ascii: "\n"))
  }
}

extension [UInt8] {
  /// Replaces a folder at the beginning of a path.
  fileprivate mutating func move(from: [UInt8], to: [UInt8]) {
    guard count > from.count, starts(with: from), self[from.count] == UInt8(ascii: "/") else { return }
    replaceSubrange(..<from.count, with: to)
  }
}
