/// The one definition of "without regard to case". The catalog stores folded names to sort by them, `[c]` compares
/// folded texts, and titles are found by them.
package enum CaseFolding {
  /// Lower case by Unicode's full mapping, independent of language.
  ///
  /// ASCII text, which most names are, takes one pass over its bytes.
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
