/// Reads an MPEG program stream (ISO/IEC 13818-1, 2.5; ISO/IEC 11172-1), or a video stream without a container: only
/// the size in the first sequence header, within the head of the file.
///
/// A duration would need a search for the last time stamp, and MPEG has no date.
enum ProgramStream {
  static func header(_ head: UnsafeRawBufferPointer) -> VideoHeader {
    var header = VideoHeader()
    var index = 0
    while index + 7 <= head.count {
      if head[index] == 0, head[index + 1] == 0, head[index + 2] == 1, head[index + 3] == 0xB3 {
        header.hasVideo = true
        let sequence = head[(index + 4)...]
        let size = SequenceHeader.mpeg(sequence, next: nextCode(sequence))
        if let size { header.setSize(size.width, size.height) }
        return header
      }
      index += 1
    }
    return header
  }

  /// The start code behind the sequence header. `nil` if the head of the file ends before.
  ///
  /// The header has 8 bytes and at most two matrices of 64, whose values are never 0.
  private static func nextCode(_ sequence: Slice<UnsafeRawBufferPointer>) -> UInt8? {
    let next = Array(sequence.prefix(8 + 2 * 64 + 4))
    for index in stride(from: 8, to: next.count - 3, by: 1) where next[index...].starts(with: [0, 0, 1]) {
      return next[index + 3]
    }
    return nil
  }
}
