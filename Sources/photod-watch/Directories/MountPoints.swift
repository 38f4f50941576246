// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// The mount table (/proc/self/mountinfo, proc_pid_mountinfo(5)). poll(2) reports POLLPRI when anything is mounted or
/// unmounted, so a root that comes back is noticed at once. No inotify event reports a mount over a directory below a
/// root, or its end. The paths that differ between two readings of the table show it.
///
/// All readings use one descriptor, so that no lack of descriptors keeps a later one from succeeding. After a failed
/// reading, the next check reads again. Until then, the photod-watch of the drives opens no root.
struct MountPoints {
  private struct Point: Hashable {
    /// Each mount gets a new one.
    var identifier: Substring
    var path: [UInt8]
  }

  private(set) var descriptor: Int32 = -1
  /// poll(2) has reported a change that `takeChanges` has not returned yet.
  private(set) var hasChanged = false
  /// The mount points of shares. They are read as soon as poll(2) reports a change: nothing may step into a share
  /// before.
  private(set) var shares: Set<[UInt8]> = []
  private var table = MountTable([])
  private var points: Set<Point> = []
  /// The mount points by the last call of `takeChanges`.
  private var takenPoints: Set<Point> = []
  /// A change was reported, or nothing was read yet, and the reading failed.
  private(set) var isOutdated = true
  /// The errno of the last reading that failed.
  private(set) var errorNumber: Int32 = 0

  init() {
    readIfOutdated()
    takenPoints = points
  }

  mutating func noteChange() {
    hasChanged = true
    isOutdated = true
    readIfOutdated()
  }

  /// Reads the table if the last reading failed.
  mutating func readIfOutdated() {
    guard isOutdated else { return }
    if descriptor < 0 { descriptor = open(MountTable.file, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0, let text = Self.read(descriptor) else {
      errorNumber = errno
      return
    }
    table = MountTable(text)
    points = Self.points(text)
    shares = table.sharePoints
    isOutdated = false
  }

  /// Whether a path is on a share; nil if the last reading failed.
  func isOnShare(_ path: [UInt8]) -> Bool? { isOutdated ? nil : table.isOnShare(path) }

  /// The mount points that appeared, disappeared or belong to another mount since the last call.
  mutating func takeChanges() -> Set<[UInt8]> {
    guard hasChanged, !isOutdated else { return [] }
    hasChanged = false
    defer { takenPoints = points }
    return Set(takenPoints.symmetricDifference(points).map(\.path))
  }

  private static func points(_ text: [UInt8]) -> Set<Point> {
    var points: Set<Point> = []
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count > 4 else { continue }
      points.insert(
        Point(identifier: String(decoding: fields[0], as: UTF8.self)[...], path: MountTable.unescaped(fields[4])))
    }
    return points
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}

extension FolderWatch {
  /// Looks at the changed mount points below the roots. A directory found missing there counts as missed by a scan.
  func checkMountPoints() {
    let changes = mounts.points.takeChanges().sorted { $0.count < $1.count }
    // A directory that was also mounted elsewhere may be entered now.
    if !changes.isEmpty { for parent in unsettled.unentered.keys { listLater(parent) } }
    for path in changes {
      for number in roots.keys.sorted() {
        guard let root = roots[number], let top = root.top, path.starts(with: root.path) else { continue }
        let rest = path.dropFirst(root.path.count)
        guard rest.first == UInt8(ascii: "/") || root.path.last == UInt8(ascii: "/") else { continue }
        checkMountPoint(rest.split(separator: UInt8(ascii: "/")), below: top)
      }
    }
  }

  private func checkMountPoint(_ names: [ArraySlice<UInt8>], below top: NodeIndex) {
    guard let (parent, name) = place(names, below: top), !isLeftOut(name, in: parent),
      wantsDirectory(Array(name), in: parent)
    else { return }
    // A share was left out there, a known directory was mounted there, or its event is still queued.
    guard tree.child(of: parent, named: name) != nil else { return listLater(parent) }
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure: listLater(parent)
    case .success(let descriptor):
      switch OpenDirectories.open(descriptor, name) {
      case .success(let opened):
        adopt(opened, under: parent, name: Array(name), evidence: .scan, recursive: false)
      case .failure: listLater(parent)
      }
    }
  }

  /// The directory that holds the last of the names; nil if the tree does not contain it.
  func place(_ names: [ArraySlice<UInt8>], below top: NodeIndex) -> (parent: NodeIndex, name: ArraySlice<UInt8>)? {
    guard let name = names.last else { return nil }
    var parent = top
    for name in names.dropLast() {
      guard let child = tree.child(of: parent, named: name) else { return nil }
      parent = child
    }
    return (parent, name)
  }
}
