import PhotoModel

/// The fields `key=value` of one record. Each method removes the field that it returns.
struct RecordFields {
  private(set) var rest: [UserDataField] = []

  /// - Parameter text: words `key=value`, separated by spaces.
  init(_ text: [UInt8]) {
    self.init(text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)[...])
  }

  init(_ words: ArraySlice<ArraySlice<UInt8>>) {
    for word in words {
      guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else { continue }
      rest.append(
        UserDataField(
          key: String(decoding: word[..<equals], as: UTF8.self),
          value: RecordLine.unescape(word[word.index(after: equals)...])))
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
  mutating func ids<ID: CatalogID>(_ key: String) -> [ID]? {
    text(key)?.split(separator: ",").compactMap { Int64($0).map(ID.init(rawValue:)) }
  }
  mutating func digest(_ key: String) -> ContentDigest? { text(key).flatMap { ContentDigest(text: $0) } }
}

/// The bytes of one record while it is written. Spaces, control characters, `%` and bytes beyond ASCII are
/// percent-encoded in values, so that a line has no newline except at its end.
struct RecordLine {
  private(set) var bytes: [UInt8] = []

  mutating func begin(_ kind: String) { bytes += kind.utf8 }
  mutating func add(_ key: String, _ value: Int64) { add(key, String(value)) }
  mutating func add(_ key: String, time: WallTime) { add(key, time.nanoseconds) }
  mutating func add(_ key: String, date: WallTime) { add(key, date.microseconds) }
  mutating func add(_ key: String, ids: [some CatalogID]) {
    add(key, ids.map { String($0.rawValue) }.joined(separator: ","))
  }
  mutating func add(_ key: String, _ value: String) { add(key, bytes: Array(value.utf8)) }

  mutating func add(_ key: String, bytes value: [UInt8]) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
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
