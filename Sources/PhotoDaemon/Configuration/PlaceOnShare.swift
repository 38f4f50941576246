import Glibc
import WatchRecords

/// Follows links up to the share that a path leads to, and does not touch the share.
enum PlaceOnShare {
  /// The kernel has the same limit.
  private static let maximumLinks = 40

  /// - Parameter path: absolute, without `.` and `..`.
  /// - Returns: the path on the share, without the links that lead to it; nil if it leads to no share.
  static func reached(by path: [UInt8], mounts: MountTable) -> [UInt8]? {
    var place: [UInt8] = []
    var rest = components(path)
    var links = 0
    while let name = rest.popFirst() {
      if name.elementsEqual("..".utf8) {
        place = place.lastIndex(of: UInt8(ascii: "/")).map { Array(place[..<$0]) } ?? []
        continue
      }
      if name.elementsEqual(".".utf8) { continue }
      let next = place + [UInt8(ascii: "/")] + name
      // This comes before the link is read, which could wait for the share.
      if mounts.isOnShare(next) { return rest.reduce(next) { $0 + [UInt8(ascii: "/")] + $1 } }
      if let target = link(next) {
        links += 1
        guard links <= maximumLinks else { return nil }
        if target.first == UInt8(ascii: "/") { place = [] }
        rest = components(target) + rest
      } else {
        place = next
      }
    }
    return nil
  }

  private static func components(_ path: [UInt8]) -> ArraySlice<ArraySlice<UInt8>> {
    path.split(separator: UInt8(ascii: "/"))[...]
  }

  /// The target of a symbolic link; nil for anything else.
  private static func link(_ path: [UInt8]) -> [UInt8]? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = (path + [0]).withUnsafeBytes { name in
      target.withUnsafeMutableBytes { buffer in
        readlink(
          name.baseAddress!.assumingMemoryBound(to: CChar.self),
          buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      }
    }
    return count > 0 ? Array(target[..<count]) : nil
  }
}
