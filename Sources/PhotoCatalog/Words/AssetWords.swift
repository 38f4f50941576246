import PhotoModel
import PredicateLanguage

/// The searchable words of an asset, as one text for the index. A boundary separates the fields, so that no phrase
/// matches across two fields or two keywords.
struct AssetWords {
  /// The number of columns: name, title, caption, keywords (separated by ``TextWords/boundary``), and the camera's
  /// make, model and lens.
  static let columnCount: Int32 = 7
  private static let nameColumn = 0
  private static let keywordColumn = 3
  private static let makeColumn = 4

  private(set) var text: [UInt8] = []
  private var lastField = 0

  private static let boundary = Array(String(TextWords.boundary).utf8)

  /// - Parameter bytes: The text of the column, which need not be UTF-8.
  mutating func append(_ bytes: UnsafeRawBufferPointer, column: Int) {
    if column == Self.nameColumn {
      let name = TextWords.spaced(filename: FilePath.nameText(bytes))
      return appendField(0) { $0 += name.utf8 }
    }
    // Make, model and lens are one field, because a phrase such as `Fujifilm X-T5` spans two of them.
    let field = min(column, Self.makeColumn)
    guard bytes.contains(where: { $0 >= 0x80 }) else { return appendField(field) { $0 += bytes } }
    let text = String(decoding: bytes, as: UTF8.self)
    guard column == Self.keywordColumn else { return appendField(field) { $0 += TextWords.spaced(text).utf8 } }
    for (index, keyword) in text.unicodeScalars.split(separator: TextWords.boundary).enumerated() {
      let spaced = TextWords.spaced(String(keyword))
      appendField(field) { text in
        if index > 0 {
          text += Self.boundary
          text.append(UInt8(ascii: " "))
        }
        text += spaced.utf8
      }
    }
  }

  private mutating func appendField(_ field: Int, _ body: (inout [UInt8]) -> Void) {
    if !text.isEmpty {
      text.append(UInt8(ascii: " "))
      if field != lastField {
        text += Self.boundary
        text.append(UInt8(ascii: " "))
      }
    }
    lastField = field
    body(&text)
  }
}
