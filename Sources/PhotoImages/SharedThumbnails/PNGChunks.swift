/// The texts in a PNG, which say of which file a thumbnail is.
///
/// A PNG is a signature and chunks. A chunk is a length, a type of four letters, the content, and a CRC of type and content.
/// All numbers have the most significant byte first. `tEXt` is a keyword, a zero byte and the text in Latin-1. `zTXt` has
/// the text compressed. photod never decompresses it: other programs write into this folder too.
enum PNGChunks {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// A longer text is none of a thumbnail.
  private static let longestText = 16 << 10

  private struct Chunk {
    var type: [UInt8]
    var content: Range<Int>
    /// The offset of the chunk, which begins with its length.
    var start: Int
    var end: Int { content.upperBound + 4 }
  }

  enum Text: Hashable {
    case plain(String)
    case compressed

    var plain: String? { if case .plain(let text) = self { text } else { nil } }
  }

  /// The texts that come before the pixels.
  /// - Parameter bytes: the beginning of a PNG.
  static func texts(in bytes: [UInt8]) -> [String: Text] {
    var texts: [String: Text] = [:]
    for chunk in chunks(of: bytes) {
      guard let (keyword, text) = text(chunk, bytes) else { continue }
      // A keyword that comes again is not trusted more than the first.
      if texts[keyword] == nil { texts[keyword] = text }
    }
    return texts
  }

  /// Replaces all texts of a PNG by others.
  ///
  /// - Parameter texts: keywords and texts, in ASCII.
  /// - Returns: nil if the bytes are no PNG.
  static func replacing(_ bytes: [UInt8], with texts: [(String, String)]) -> [UInt8]? {
    let chunks = chunks(of: bytes)
    guard let header = chunks.first, header.type == Array("IHDR".utf8), let last = chunks.last else { return nil }
    var replaced = Array(bytes[..<header.end])
    for (keyword, text) in texts { replaced += chunk("tEXt", Array(keyword.utf8) + [0] + Array(text.utf8)) }
    for chunk in chunks.dropFirst() where !isText(chunk.type) { replaced += bytes[chunk.start..<chunk.end] }
    return replaced + bytes[last.end...]
  }

  /// A chunk with its length and CRC.
  static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + content
    return number(UInt32(content.count)) + body + number(checksum(body))
  }

  private static func isText(_ type: [UInt8]) -> Bool { type == Array("tEXt".utf8) || type == Array("zTXt".utf8) }

  /// The chunks before the pixels. A chunk that goes beyond the bytes ends them.
  private static func chunks(of bytes: [UInt8]) -> [Chunk] {
    guard bytes.starts(with: signature) else { return [] }
    var chunks: [Chunk] = []
    var position = signature.count
    while position + 12 <= bytes.count {
      let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= bytes.count - position - 12 else { break }
      let chunk = Chunk(
        type: Array(bytes[position + 4..<position + 8]), content: position + 8..<position + 8 + length, start: position)
      guard chunk.type != Array("IDAT".utf8), chunk.type != Array("IEND".utf8) else { break }
      chunks.append(chunk)
      position = chunk.end
    }
    return chunks
  }

  private static func text(_ chunk: Chunk, _ bytes: [UInt8]) -> (String, Text)? {
    guard isText(chunk.type), let zero = bytes[chunk.content].firstIndex(of: 0) else { return nil }
    let keyword = latin1(bytes[chunk.content.lowerBound..<zero])
    guard chunk.type == Array("tEXt".utf8) else { return (keyword, .compressed) }
    let content = bytes[(zero + 1)..<chunk.content.upperBound]
    return content.count <= longestText ? (keyword, .plain(latin1(content))) : nil
  }

  private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// The CRC of a chunk. The polynomial is that of the PNG specification, with its bits reversed.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
