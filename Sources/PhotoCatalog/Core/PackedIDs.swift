import PhotoModel

/// The lists of ids in a row of `history`. For updates, they include the touched fields.
///
/// Ids are positive and ascending. Each is stored as its difference from the previous one (the first as it is), an
/// unsigned LEB128 integer (https://dwarfstd.org/doc/DWARF5.pdf, 7.6). With fields, each id is followed by their bits,
/// in LEB128, too. An empty list is `NULL`. Ids of one commit are close together, so most take one byte.
package enum PackedIDs {
  /// Sorts the ids and stores duplicates once. `nil` if there are none.
  package static func pack(_ ids: [some CatalogID]) -> [UInt8]? {
    guard !ids.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(ids.count * 2)
    var previous: Int64 = 0
    for id in ids.sorted() where id.rawValue != previous {
      append(UInt64(id.rawValue - previous), to: &bytes)
      previous = id.rawValue
    }
    return bytes
  }

  /// - Returns: nil if no asset has changed fields.
  package static func pack(_ fields: [AssetID: ChangedFields]) -> [UInt8]? {
    guard !fields.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fields.count * 3)
    var previous: Int64 = 0
    for (id, touched) in fields.sorted(by: { $0.key < $1.key }) {
      append(UInt64(id.rawValue - previous), to: &bytes)
      append(UInt64(touched.rawValue), to: &bytes)
      previous = id.rawValue
    }
    return bytes
  }

  /// The ids in ascending order.
  ///
  /// - Throws: ``PhotoError`` `catalogDamaged` for bytes that are no result of `pack`.
  package static func unpack<ID: CatalogID>(_ bytes: [UInt8]) throws -> [ID] {
    var cursor = Cursor(bytes)
    var ids: [ID] = []
    ids.reserveCapacity(bytes.count)
    while !cursor.isAtEnd { ids.append(try cursor.nextID()) }
    return ids
  }

  /// The ids with their fields, in ascending order.
  ///
  /// - Throws: ``PhotoError`` `catalogDamaged` for bytes that are no result of `pack`.
  package static func unpackFields(_ bytes: [UInt8]) throws -> [(AssetID, ChangedFields)] {
    var cursor = Cursor(bytes)
    var fields: [(AssetID, ChangedFields)] = []
    fields.reserveCapacity(bytes.count / 2)
    while !cursor.isAtEnd {
      let id: AssetID = try cursor.nextID()
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

    /// Reads one LEB128 integer in its shortest form, below 2^64.
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

    mutating func nextID<ID: CatalogID>() throws -> ID {
      guard let difference = Int64(exactly: try nextInteger()), difference > 0 else { throw damage }
      let (id, overflow) = previous.addingReportingOverflow(difference)
      guard !overflow else { throw damage }
      previous = id
      return ID(rawValue: id)
    }
  }
}
