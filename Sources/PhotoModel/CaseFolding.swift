/// The one meaning of "without regard to case": what the catalog stores to sort names by, what `[c]` compares, and how
/// titles are found.
package enum CaseFolding {
  /// Lower case by Unicode's full mapping, without regard to a language.
  ///
  /// ASCII, which nearly every name is, takes one pass over its bytes.
  package static func fold(_ text: String) -> String {
    var text = text
    return text.withUTF8 { bytes in
      var hasUpper = false
      for byte in bytes {
        if byte >= 0x80 { return nil }
        if byte &- 65 < 26 { hasUpper = true }
      }
      guard hasUpper else { return String(decoding: bytes, as: UTF8.self) }
      return String(unsafeUninitializedCapacity: bytes.count) { buffer in
        for (index, byte) in bytes.enumerated() {
          buffer[index] = byte &- 65 < 26 ? byte | 0x20 : byte
        }
        return bytes.count
      }
    } ?? text.lowercased()
  }
}
