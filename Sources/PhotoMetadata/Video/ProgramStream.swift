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
        if let size = SequenceHeader.mpeg2(head[(index + 4)...]) { header.setSize(size.width, size.height) }
        return header
      }
      index += 1
    }
    return header
  }
}
