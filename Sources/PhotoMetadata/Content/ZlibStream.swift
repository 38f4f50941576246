import CZlib

/// A zlib stream (RFC 1950) that is a part of a file.
struct ZlibStream {
  let window: FileWindow
  let part: FilePart

  /// The inflated bytes, cut off at `limit`, because they may be a thousand times as many as those of the stream. If the
  /// stream is damaged, the bytes before the damage count.
  func inflated(upTo limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var stream = z_stream()
    guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return bytes }
    defer { inflateEnd(&stream) }
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { output in
      window.forEachPiece(of: part) { piece in
        // zlib does not write to its input.
        stream.next_in = UnsafeMutablePointer(mutating: piece.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.avail_in = UInt32(piece.count)
        while true {
          stream.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
          stream.avail_out = UInt32(output.count)
          let status = CZlib.inflate(&stream, Z_NO_FLUSH)
          let made = min(output.count - Int(stream.avail_out), limit - bytes.count)
          bytes.append(contentsOf: output[..<made])
          // The last call used all input and filled the buffer, and no output was left.
          if status == Z_BUF_ERROR, stream.avail_in == 0 { return true }
          guard status == Z_OK, bytes.count < limit else { return false }
          if stream.avail_out > 0 { return true }
        }
      }
    }
    return bytes
  }
}

extension FileWindow {
  /// The bytes of a long part, piece after piece, until `body` returns false or a piece can't be read.
  func forEachPiece(of part: FilePart, _ body: (UnsafeRawBufferPointer) -> Bool) {
    var offset = part.start
    while offset < part.end, let piece = piece(at: offset, upTo: part.end - offset), body(piece) {
      offset += piece.count
    }
  }
}
