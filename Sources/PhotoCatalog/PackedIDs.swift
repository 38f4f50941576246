import PhotoModel

/// The lists of ids in a row of `history`, and with an update what kind of fields it touched.
///
/// Ids are positive and come ascending, each as its difference from the one before (the first as it is), an unsigned
/// LEB128 integer (https://dwarfstd.org/doc/DWARF5.pdf, 7.6). With fields, each id is followed by their bits, LEB128 too.
/// An empty list is no blob at all: `NULL`. Ids of one commit lie close together, so that most take one byte.
package enum PackedIDs {
  /// Sorts; an id given twice is stored once. `nil` when there are none.
  package static func pack(_ ids: [Int64]) -> [UInt8]? {
    guard !ids.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(ids.count * 2)
    var previous: Int64 = 0
    for id in ids.sorted() where id != previous {
      append(UInt64(id - previous), to: &bytes)
      previous = id
    }
    return bytes
  }

  /// `nil` when there are none.
  package static func pack(_ fields: [Int64: ChangedFields]) -> [UInt8]? {
    guard !fields.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fields.count * 3)
    var previous: Int64 = 0
    for (id, touched) in fields.sorted(by: { $0.key < $1.key }) {
      append(UInt64(id - previous), to: &bytes)
      append(UInt64(touched.rawValue), to: &bytes)
      previous = id
    }
    return bytes
  }

  /// Ascending.
  ///
  /// - Throws: ``PhotoError`` `catalogDamaged` for bytes that ``pack(_:)-([Int64])`` does not make.
  package static func unpack(_ bytes: [UInt8]) throws -> [Int64] {
    var cursor = Cursor(bytes)
    var ids: [Int64] = []
    ids.reserveCapacity(bytes.count)
    while !cursor.isAtEnd { ids.append(try cursor.nextID()) }
    return ids
  }

  /// Ascending by id.
  ///
  /// - Throws: ``PhotoError`` `catalogDamaged` for bytes that ``pack(_:)-([Int64:ChangedFields])`` does not make.
  package static func unpackFields(_ bytes: [UInt8]) throws -> [(Int64, ChangedFields)] {
    var cursor = Cursor(bytes)
    var fields: [(Int64, ChangedFields)] = []
    fields.reserveCapacity(bytes.count / 2)
    while !cursor.isAtEnd {
      let id = try cursor.nextID()
      guard let bits = UInt16(exactly: try cursor.nextInteger()) else { throw cursor.damage }
      fields.append((id, ChangedFields(rawValue: bits)))
    }
    return fields
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private struct Cursor {
    private let bytes: [UInt8]
    private var index = 0
    private var previous: Int64 = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    var damage: PhotoError {
      PhotoError(
        "catalogDamaged",
        "The catalog's history has a list of ids that can't be read, at byte \(index) of \(bytes.count). "
          + "Stop photod and move the catalog away; the next start makes a new one.")
    }

    /// One LEB128 integer in its shortest form, below 2^64.
    mutating func nextInteger() throws -> UInt64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while index < bytes.count {
        let byte = bytes[index]
        guard shift < 63 || (shift == 63 && byte == 1), shift == 0 || byte != 0 else { throw damage }
        index += 1
        value |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      throw damage
    }

    mutating func nextID() throws -> Int64 {
      guard let difference = Int64(exactly: try nextInteger()), difference > 0 else { throw damage }
      let (id, overflow) = previous.addingReportingOverflow(difference)
      guard !overflow else { throw damage }
      previous = id
      return id
    }
  }
}
