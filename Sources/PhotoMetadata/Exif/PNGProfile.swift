import CZlib

/// EXIF in a text chunk of a PNG file, as programs wrote it before PNG got a chunk for it (2017).
///
/// The keyword is `Raw profile type exif` or `Raw profile type APP1`. The text is a name, a length and hexadecimal
/// digits, each on separate lines, as ImageMagick writes them. In a `zTXt` chunk the text is compressed.
struct PNGProfile {
  /// The text after the keyword.
  private let text: FilePart
  private let isCompressed: Bool

  /// - Parameters:
  ///   - data: the data of a chunk.
  ///   - isCompressed: true for a `zTXt` chunk, false for a `tEXt` chunk.
  /// - Returns: nil if the chunk is about something else.
  init?(_ window: FileWindow, data: FilePart, isCompressed: Bool) {
    let keywords: [StaticString] = ["Raw profile type exif\0", "Raw profile type APP1\0"]
    let length = keywords[0].utf8CodeUnitCount
    let header = isCompressed ? length + 1 : length
    guard data.count > header, let head = window.bytes(at: data.start, count: header, ahead: 64),
      keywords.contains(where: { head.holds($0) }), !isCompressed || head[length] == 0
    else { return nil }
    text = FilePart(start: data.start + header, end: data.end)
    self.isCompressed = isCompressed
  }

  /// The TIFF structure of the profile, cut off at ``longestStructure``. Its directories are at its beginning.
  func structure(_ window: FileWindow) -> [UInt8]? {
    var decoder = ProfileText()
    if isCompressed { inflate(window, to: &decoder) } else { copy(window, to: &decoder) }
    let bytes = decoder.bytes
    let start = bytes.starts(with: Array("Exif\0\0".utf8)) ? 6 : 0
    return bytes.count > start ? Array(bytes[start...]) : nil
  }

  static let longestStructure = FileWindow.headBytes - 1

  private func copy(_ window: FileWindow, to decoder: inout ProfileText) {
    forEachPiece(window) { piece in
      decoder.read(piece)
      return !decoder.isComplete
    }
  }

  /// Ends once the decoder is complete. If the stream is damaged, the part before the damage counts.
  private func inflate(_ window: FileWindow, to decoder: inout ProfileText) {
    var stream = z_stream()
    guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return }
    defer { inflateEnd(&stream) }
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { output in
      forEachPiece(window) { piece in
        // zlib does not write to its input.
        stream.next_in = UnsafeMutablePointer(mutating: piece.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.avail_in = UInt32(piece.count)
        while true {
          stream.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
          stream.avail_out = UInt32(output.count)
          let status = CZlib.inflate(&stream, Z_NO_FLUSH)
          decoder.read(UnsafeRawBufferPointer(rebasing: output[..<(output.count - Int(stream.avail_out))]))
          // The last call used all input and filled the buffer, and no output was left.
          if status == Z_BUF_ERROR, stream.avail_in == 0 { return true }
          guard status == Z_OK, !decoder.isComplete else { return false }
          if stream.avail_out > 0 { return true }
        }
      }
    }
  }

  private func forEachPiece(_ window: FileWindow, _ body: (UnsafeRawBufferPointer) -> Bool) {
    var offset = text.start
    while offset < text.end, let piece = window.piece(at: offset, upTo: text.end - offset), body(piece) {
      offset += piece.count
    }
  }
}

/// Decodes the text of a profile, piece by piece.
private struct ProfileText {
  private enum State {
    /// The name and the length are lines of at most 80 bytes.
    case header(lines: Int, bytes: Int)
    case digits
    case ended
  }

  private(set) var bytes: [UInt8] = []
  private var state = State.header(lines: 0, bytes: 0)
  private var highDigit: UInt8?
  private var textCount = 0

  /// The limit for inflated text, which may be a thousand times as long as its chunk.
  private static let longestText = 1 << 20

  /// Whether no further text is needed.
  var isComplete: Bool {
    if case .ended = state { return true }
    return bytes.count >= PNGProfile.longestStructure + 6 || textCount >= Self.longestText
  }

  mutating func read(_ text: UnsafeRawBufferPointer) {
    textCount += text.count
    for byte in text {
      switch state {
      case .header(let lines, let count): readHeader(byte, lines, count)
      case .digits: readDigit(byte)
      case .ended: return
      }
    }
  }

  /// Skips a line break, the name, a line break, the length and a line break.
  private mutating func readHeader(_ byte: UInt8, _ lines: Int, _ count: Int) {
    if count > 80 {
      state = .ended
    } else if byte == 0x0A {
      state = lines == 2 ? .digits : .header(lines: lines + 1, bytes: 0)
    } else {
      state = .header(lines: lines, bytes: count + 1)
    }
  }

  private mutating func readDigit(_ byte: UInt8) {
    let digit: UInt8
    switch byte {
    case 0x30...0x39: digit = byte - 0x30
    case 0x41...0x46: digit = byte - 0x37
    case 0x61...0x66: digit = byte - 0x57
    case 0x0A, 0x0D, 0x20: return
    default:
      state = .ended
      return
    }
    if let high = highDigit {
      bytes.append(high << 4 | digit)
      highDigit = nil
    } else {
      highDigit = digit
    }
  }
}
