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

  mutating func add(_ key: String, _ value: Int64) {
    beginField(key)
    bytes.append(decimal: value)
  }

  mutating func add(_ key: String, time: WallTime) { add(key, time.nanoseconds) }
  mutating func add(_ key: String, date: WallTime) { add(key, date.microseconds) }

  mutating func add(_ key: String, ids: [some CatalogID]) {
    beginField(key)
    for (index, id) in ids.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(decimal: id.rawValue)
    }
  }

  mutating func add(_ key: String, _ value: String) {
    beginField(key)
    for byte in value.utf8 { addEscaped(byte) }
  }

  mutating func add(_ key: String, bytes value: [UInt8]) {
    beginField(key)
    for byte in value { addEscaped(byte) }
  }

  private mutating func beginField(_ key: String) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
    bytes += key.utf8
    bytes.append(UInt8(ascii: "="))
  }

  private mutating func addEscaped(_ byte: UInt8) {
    if byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "%") {
      bytes.append(byte)
    } else {
      bytes.append(UInt8(ascii: "%"))
      bytes.append(Self.digits[Int(byte >> 4)])
      bytes.append(Self.digits[Int(byte & 15)])
    }
  }

  /// The hexadecimal digits.
  static let digits = Array("0123456789abcdef".utf8)

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

extension [UInt8] {
  /// Appends a number in decimal digits, without a text in between.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = value.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }
}
