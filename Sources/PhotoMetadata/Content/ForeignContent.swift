/// Content that is certainly no picture and no film, for files whose names promise one of many signatures.
///
/// RAW and video formats are too many to know all their signatures. A file of one that is unknown here keeps the type
/// that its name promises. But a TypeScript module may be named `a.d.mts`, and a failed copy may consist of zeros.
enum ForeignContent {
  /// - Returns: what the content is, for a sentence; `nil` if it may be a picture or a film.
  static func kind(_ head: UnsafeRawBufferPointer) -> String? {
    guard !head.isEmpty else { return nil }
    for (signature, kind) in signatures where head.holds(signature) { return kind }
    if head.allSatisfy({ $0 == 0 }) { return "zeros" }
    return isText(head) ? "text" : nil
  }

  private static let signatures: [(StaticString, String)] = [
    ("PK\u{3}\u{4}", "a zip archive"), ("PK\u{5}\u{6}", "a zip archive"), ("%PDF-", "a PDF document"),
    ("Rar!\u{1A}\u{7}", "a RAR archive"), ("\u{7F}ELF", "a program"),
    ("SQLite format 3", "an SQLite database"),
  ]

  private static let searchedBytes = 1024

  /// Whether the beginning is text in UTF-8: no control characters, and at most its last character cut off.
  private static func isText(_ head: UnsafeRawBufferPointer) -> Bool {
    var text = UnsafeRawBufferPointer(rebasing: head.prefix(searchedBytes))
    guard text.count >= 4, text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) || $0 == 0x1B })
    else { return false }
    for _ in 0..<4 {
      if String(validating: text, as: UTF8.self) != nil { return true }
      guard text.count == searchedBytes || text.count > searchedBytes - 4 else { return false }
      text = UnsafeRawBufferPointer(rebasing: text.dropLast())
    }
    return false
  }
}
