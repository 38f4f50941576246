// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// What is mounted where (/proc/self/mountinfo, proc_pid_mountinfo(5)). poll(2) says POLLPRI when anything is mounted or
/// unmounted, so that a root that comes back is noticed at once; where it can't be opened roots are looked at every two
/// seconds only. That a directory below a root is mounted over, or is a mount's top no longer, no inotify event says: the
/// paths that differ from one reading to the next do.
struct MountTable {
  private struct Point: Hashable {
    /// Given anew with each mount.
    var identifier: Substring
    var path: [UInt8]
  }

  static let file = "/proc/self/mountinfo"
  let descriptor: Int32
  /// poll(2) said so.
  var hasChanged = false
  private var points: Set<Point> = []

  init() {
    descriptor = open(Self.file, O_RDONLY | O_CLOEXEC)
    points = Self.read() ?? []
  }

  /// The mount points that came, went or are another mount's since the last call.
  mutating func takeChanges() -> Set<[UInt8]> {
    guard hasChanged, let now = Self.read() else { return [] }
    hasChanged = false
    defer { points = now }
    return Set(points.symmetricDifference(now).map(\.path))
  }

  private static func read() -> Set<Point>? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    var points: Set<Point> = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count > 4 else { continue }
      points.insert(Point(identifier: String(decoding: fields[0], as: UTF8.self)[...], path: unescaped(fields[4])))
    }
    return points
  }

  /// Space, tab, newline and backslash are written as three octal digits.
  private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}

extension FolderWatch {
  /// Looks what stands at the mount points below the roots that have changed. What is missing by that is missing by scan.
  func checkMountPoints() {
    for path in mounts.takeChanges().sorted(by: { $0.count < $1.count }) {
      for number in roots.keys.sorted() {
        guard let root = roots[number], let top = root.top, path.starts(with: root.path) else { continue }
        let rest = path.dropFirst(root.path.count)
        guard rest.first == UInt8(ascii: "/") || root.path.last == UInt8(ascii: "/") else { continue }
        checkMountPoint(rest.split(separator: UInt8(ascii: "/")), below: top)
      }
    }
  }

  private func checkMountPoint(_ names: [ArraySlice<UInt8>], below top: NodeIndex) {
    guard let name = names.last else { return }
    var parent = top
    for name in names.dropLast() {
      guard let child = tree.child(of: parent, named: name) else { return }
      parent = child
    }
    // What is not in the tree is ignored, or an event is still to say that it came.
    guard tree.child(of: parent, named: name) != nil else { return }
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure: doubt(parent)
    case .success(let descriptor):
      switch OpenDirectories.open(descriptor, name) {
      case .success(let opened):
        adopt(opened, under: parent, name: Array(name), evidence: .scan, scan: nil, recursive: false)
      case .failure: doubt(parent)
      }
    }
  }
}
