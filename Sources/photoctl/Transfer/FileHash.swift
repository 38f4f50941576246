import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The hash of a file's whole content, as photod computes it.
enum FileHash {
  /// A multiple of 16, as the hash needs it.
  private static let pieceBytes = 256 << 10

  /// - Parameter byteCount: the size that the file must have.
  /// - Returns: 32 hex digits; nil if the file can't be read, or has another size.
  static func ofFile(_ path: [UInt8], byteCount: Int64) -> String? {
    // O_NONBLOCK keeps a pipe with this name from blocking.
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == byteCount else {
      return nil
    }
    var hasher = MurmurHash3()
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    var done: Int64 = 0
    while done < byteCount {
      let wanted = Int(min(Int64(pieceBytes), byteCount - done))
      guard fill(&piece, wanted, file, at: done) else { return nil }
      piece.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(wanted))) }
      done += Int64(wanted)
    }
    return hasher.finish().text
  }

  private static func fill(_ buffer: inout [UInt8], _ count: Int, _ file: CInt, at offset: Int64) -> Bool {
    buffer.withUnsafeMutableBytes { bytes in
      var done = 0
      while done < count {
        let got = pread(file, bytes.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
        if got > 0 {
          done += got
        } else if got == 0 || errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}
