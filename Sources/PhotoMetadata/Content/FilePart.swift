/// A part of a file that lies inside it: 0 ≤ `start` ≤ `end` ≤ the file's size.
///
/// A number from a file is used as a position only through ``part(at:count:)`` and ``part(at:upTo:)``. Both compare the
/// number with the rest of the part before they add it. So no sum overflows, and no read begins beyond the end.
struct FilePart: Equatable {
  /// Bytes beyond this position are ignored, so that the sum of a position and any 32-bit length stays in 64 bits.
  static let positionLimit = 1 << 62

  let start: Int
  let end: Int

  /// - Precondition: 0 ≤ `start` ≤ `end`.
  init(start: Int, end: Int) {
    precondition(0 <= start && start <= end)
    self.start = start
    self.end = min(end, Self.positionLimit)
  }

  var count: Int { end - start }

  /// The `count` bytes at `offset`, counted from `start`; `nil` if they do not all lie in this part.
  func part(at offset: Int, count: Int) -> FilePart? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return FilePart(start: start + offset, end: start + offset + count)
  }

  /// At most `count` bytes at `offset`; fewer if this part ends before, `nil` if it ends before `offset`.
  func part(at offset: Int, upTo count: Int) -> FilePart? {
    guard offset >= 0, offset <= self.count else { return nil }
    return part(at: offset, count: min(count, self.count - offset))
  }
}
