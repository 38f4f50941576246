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

  /// A value that can't be read stays in ``rest``: a later version may have written it.
  mutating func value<Value>(_ key: String, _ read: (String) -> Value?) -> Value? {
    guard let index = rest.firstIndex(where: { $0.key == key }),
      let value = read(String(decoding: rest[index].value, as: UTF8.self))
    else { return nil }
    rest.remove(at: index)
    return value
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

/// The bytes of records while they are written. Spaces, control characters, `%` and bytes beyond ASCII are
/// percent-encoded in values, so that a line has no newline except at its end.
struct RecordLine {
  private(set) var bytes: [UInt8] = []

  /// Appends bytes as they are.
  mutating func append(_ bytes: some Sequence<UInt8>) { self.bytes.append(contentsOf: bytes) }
  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(decimal value: Int64) { bytes.append(decimal: value) }

  /// Replaces bytes by the hexadecimal digits of a number.
  mutating func replace(at index: Int, byHexadecimal value: UInt32) {
    for digit in 0..<8 { bytes[index + digit] = Self.digits[Int(value >> UInt32(28 - 4 * digit)) & 15] }
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func begin(_ kind: StaticString) { append(kind) }

  mutating func add(_ key: StaticString, _ value: Int64) {
    beginField(key)
    bytes.append(decimal: value)
  }

  mutating func add(_ key: StaticString, time: WallTime) { add(key, time.nanoseconds) }
  mutating func add(_ key: StaticString, date: WallTime) { add(key, date.microseconds) }

  mutating func add(_ key: StaticString, ids: [some CatalogID]) {
    beginField(key)
    for (index, id) in ids.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(decimal: id.rawValue)
    }
  }

  /// 32 hex digits.
  mutating func add(_ key: StaticString, _ digest: ContentDigest) {
    beginField(key)
    digest.withBytes { digest in
      for byte in digest {
        bytes.append(Self.digits[Int(byte >> 4)])
        bytes.append(Self.digits[Int(byte & 15)])
      }
    }
  }

  mutating func add(_ key: StaticString, _ value: String) {
    beginField(key)
    var value = value
    value.withUTF8 { addEscaped(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ key: StaticString, bytes value: [UInt8]) {
    beginField(key)
    value.withUnsafeBytes { addEscaped($0) }
  }

  mutating func add(_ field: UserDataField) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
    append(field.key.utf8)
    bytes.append(UInt8(ascii: "="))
    field.value.withUnsafeBytes { addEscaped($0) }
  }

  private mutating func beginField(_ key: StaticString) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
    append(key)
    bytes.append(UInt8(ascii: "="))
  }

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Most values have long parts that need no encoding.
  private mutating func addEscaped(_ value: UnsafeRawBufferPointer) {
    var rest = value[...]
    while !rest.isEmpty {
      let plain = rest.prefix { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: plain))
      rest = rest[plain.endIndex...]
      guard let byte = rest.popFirst() else { return }
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
    // The largest magnitude has 19 digits.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = value.magnitude
      repeat {
        start -= 1
        digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
      } while rest > 0
      append(contentsOf: digits[start...])
    }
  }
}
