/// The two forms of a path: the bytes of the file system, and the text of the contract.
///
/// A path that is UTF-8 is its own text. Any other path is a `file://` URI (RFC 8089) in which every byte outside the
/// unreserved set and `/` is percent-encoded. So the exact bytes can be recovered.
public enum FilePath {
  /// The text for these bytes.
  ///
  /// - Complexity: O(n) for n bytes.
  public static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self) ?? uri(bytes)
  }

  /// The form of a path that is not UTF-8.
  package static func uri(_ bytes: some Collection<UInt8>) -> String { "file://" + percentEncoded(bytes) }

  /// The text for one name without its directory. It is percent-encoded if it is not UTF-8.
  ///
  /// - Complexity: O(n) for n bytes.
  public static func nameText(_ bytes: some Collection<UInt8>) -> String {
    let ascii = bytes.withContiguousStorageIfAvailable { bytes -> String? in
      bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }
    return (ascii ?? nil) ?? String(validating: bytes, as: UTF8.self) ?? percentEncoded(bytes)
  }

  /// The bytes for this text. A malformed `%` sequence is taken literally.
  ///
  /// - Complexity: O(n) for n bytes.
  public static func bytes(_ text: String) -> [UInt8] {
    let prefix = "file://"
    guard text.hasPrefix(prefix) else { return Array(text.utf8) }
    let encoded = Array(text.utf8.dropFirst(prefix.utf8.count))
    var bytes: [UInt8] = []
    var index = 0
    while index < encoded.count {
      if encoded[index] == UInt8(ascii: "%"), index + 2 < encoded.count,
        let high = hexValue(encoded[index + 1]), let low = hexValue(encoded[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(encoded[index])
        index += 1
      }
    }
    return bytes
  }

  private static func percentEncoded(_ bytes: some Collection<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
      switch byte {
      case 0x2F, 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}
