import Glibc
import PhotoModel

/// Computes samples and hashes of files.
///
/// A sample covers six blocks of 16 KiB: the first, the last, and four at even distances between them. Scans of white
/// paper share their beginning, but seldom their middle. A file of at most 96 KiB is sampled whole, so its sample is
/// its hash.
package enum ContentReader {
  package static let blockBytes = 16_384
  package static let blockCount = 6
  /// Up to this size, a sample covers the whole content.
  package static let wholeBytes = Int64(blockBytes * blockCount)
  /// The number of bytes that are hashed at a time.
  private static let pieceBytes = 262_144

  /// The positions at which the blocks of a sample begin.
  package static func blockOffsets(byteCount: Int64) -> [Int64] {
    let last = max(0, byteCount - Int64(blockBytes))
    return (0..<Int64(blockCount)).map { index in
      // `last * index` could overflow, because a sparse file can have almost any size.
      last / Int64(blockCount - 1) * index + last % Int64(blockCount - 1) * index / Int64(blockCount - 1)
    }
  }

  /// The sample of a file.
  ///
  /// - Parameter byteCount: the size by `fstat`.
  /// - Returns: the sample, and for a small file its hash; nil if a read fails or the file is shorter.
  package static func sample(_ file: FileBytes, byteCount: Int64) -> (sample: ContentDigest, hash: ContentDigest?)? {
    if byteCount <= wholeBytes { return hash(file, byteCount: byteCount).map { ($0, $0) } }
    var hasher = MurmurHash3()
    var block = [UInt8](repeating: 0, count: blockBytes)
    for offset in blockOffsets(byteCount: byteCount) {
      guard fill(&block, file, at: offset) == blockBytes else { return nil }
      block.withUnsafeBytes { hasher.update($0) }
    }
    return (hasher.finish(), nil)
  }

  /// The hash of a file whose whole content is in memory.
  package static func hash(of content: UnsafeRawBufferPointer) -> ContentDigest {
    var hasher = MurmurHash3()
    hasher.update(content)
    return hasher.finish()
  }

  /// The hash of the first `byteCount` bytes of a file.
  ///
  /// - Parameters:
  ///   - byteCount: the size by `fstat`.
  ///   - shouldGoOn: called before each piece of 256 KiB. If it returns false, there is no hash.
  /// - Returns: nil if a read fails or the file is shorter. The caller must check whether the file is longer.
  package static func hash(
    _ file: FileBytes, byteCount: Int64, while shouldGoOn: () -> Bool = { true }
  ) -> ContentDigest? {
    var hasher = MurmurHash3()
    var piece = [UInt8](repeating: 0, count: Int(min(Int64(pieceBytes), max(byteCount, 1))))
    var offset: Int64 = 0
    while offset < byteCount {
      guard shouldGoOn() else { return nil }
      let count = fill(&piece, file, at: offset)
      guard count == min(Int64(piece.count), byteCount - offset) else { return nil }
      piece.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(count)))) }
      offset += count
    }
    return hasher.finish()
  }

  /// Computes the sample of a file, or its sample and hash.
  ///
  /// - Parameter shouldGoOn: called while a large file is hashed. If it returns false, there are no marks.
  /// - Returns: the marks without the fingerprint; nil if a read fails or the file is shorter. The caller must check
  ///   whether the file is longer.
  package static func marks(
    _ file: FileBytes, byteCount: Int64, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    guard let made = sample(file, byteCount: byteCount) else { return nil }
    var marks = ContentMarks(sample: made.sample, hash: made.hash)
    if isWhole && marks.hash == nil {
      marks.hash = hash(file, byteCount: byteCount, while: shouldGoOn)
      guard marks.hash != nil else { return nil }
    }
    return marks
  }

  /// - Returns: the number of bytes from the offset on, up to the buffer's size; -1 after an error.
  private static func fill(_ buffer: inout [UInt8], _ file: FileBytes, at offset: Int64) -> Int64 {
    buffer.withUnsafeMutableBytes { bytes in
      var done = 0
      while done < bytes.count, let base = bytes.baseAddress {
        let rest = UnsafeMutableRawBufferPointer(start: base + done, count: bytes.count - done)
        let count = file.read(into: rest, at: Int(offset) + done)
        if count == 0 { break }
        if count > 0 {
          done += count
        } else if errno != EINTR {
          return -1
        }
      }
      return Int64(done)
    }
  }
}
