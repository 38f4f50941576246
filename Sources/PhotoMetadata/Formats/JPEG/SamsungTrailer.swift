/// The blocks that Samsung's cameras write after a picture: the data of each, then a directory `SEFH`, its length and
/// `SEFT` (as ExifTool's Samsung.pm describes it). In HEIC files they are in a `sefd` box.
enum SamsungTrailer {
  private static let entryLimit = 128

  /// Whether one of the blocks is the film of a motion photo.
  ///
  /// - Parameter part: ends with the trailer.
  static func hasMotionPhoto(_ window: FileWindow, in part: FilePart) -> Bool {
    guard part.count >= 8, let tail = window.bytes(at: part.end - 8, count: 8), tail.holds("SEFT", at: 4) else {
      return false
    }
    let length = Int(tail.uint32(at: 0, .little))
    guard length >= 12, length <= part.count - 8 else { return false }
    let directory = FilePart(start: part.end - 8 - length, end: part.end - 8)
    guard let head = window.bytes(at: directory.start, count: 12, within: directory), head.holds("SEFH") else {
      return false
    }
    // Each entry has a kind, and the distance and the length of its data.
    let count = min(Int(head.uint32(at: 8, .little)), entryLimit)
    for index in 0..<count {
      guard let entry = window.bytes(at: directory.start + 12 + 12 * index, count: 12, within: directory) else { break }
      if entry.uint16(at: 2, .little) == 0x0A30 { return true }
    }
    return false
  }
}
