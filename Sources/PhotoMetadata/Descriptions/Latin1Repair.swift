/// Rewrites a text so that it is UTF-8: bytes that are not are taken as Latin-1.
///
/// The text comes in pieces, and a character may begin in one and end in the next.
struct Latin1Repair {
  /// The beginning of a character at the end of the last piece: at most three bytes.
  private var carried: [UInt8] = []

  /// - Returns: the repaired piece, with the rest of the last one, and without an incomplete character at its end.
  mutating func repaired(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
    let input = carried + piece
    carried = []
    var output: [UInt8] = []
    output.reserveCapacity(input.count)
    var index = 0
    while index < input.count {
      let byte = input[index]
      let length = Self.length(byte)
      guard length > 1 else {
        output.append(contentsOf: length == 1 ? [byte] : Self.latin1(byte))
        index += 1
        continue
      }
      let end = min(index + length, input.count)
      let isValid = input[(index + 1)..<end].allSatisfy { $0 & 0xC0 == 0x80 }
      if isValid, end < index + length {
        carried = Array(input[index...])
        break
      }
      if isValid, String(validating: input[index..<end], as: UTF8.self) != nil {
        output.append(contentsOf: input[index..<end])
        index = end
      } else {
        output.append(contentsOf: Self.latin1(byte))
        index += 1
      }
    }
    return output
  }

  private static func latin1(_ byte: UInt8) -> [UInt8] { [0xC0 | byte >> 6, 0x80 | byte & 0x3F] }

  /// The number of bytes of the character that begins so; 0 if none does.
  private static func length(_ byte: UInt8) -> Int {
    switch byte {
    case 0x00...0x7F: 1
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 0
    }
  }
}
