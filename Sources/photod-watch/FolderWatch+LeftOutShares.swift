// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

// A share that is mounted below a root on a drive may stop answering. One photod-watch serves all roots on drives, so
// all of them would wait for the share. Therefore it never enters a share. It reports EREMOTE for the name of the mount
// point, and photod keeps the assets below it.
extension FolderWatch {
  /// Whether a share is mounted at this name.
  func isLeftOut(_ name: some Collection<UInt8>, in parent: NodeIndex) -> Bool {
    guard mounts.refusesShares, !mounts.points.shares.isEmpty, let folder = path(of: parent) else { return false }
    return mounts.points.shares.contains(folder + name)
  }

  /// The names in a directory at which shares are mounted.
  func leftOutNames(in index: NodeIndex) -> Set<[UInt8]> {
    guard mounts.refusesShares, !mounts.points.shares.isEmpty, let folder = path(of: index) else { return [] }
    return Set(
      mounts.points.shares.lazy.filter { $0.starts(with: folder) }.map { Array($0.dropFirst(folder.count)) }
        .filter { !$0.contains(UInt8(ascii: "/")) })
  }

  /// Removes the directory at a share's mount point from the tree, and reports the reason.
  func leaveOut(_ name: [UInt8], in parent: NodeIndex) {
    if let child = tree.child(of: parent, named: name) { drop(child, evidence: .scan) }
    unsettled.unentered[parent]?.remove(name)
    report(.unreadable(directory: tree[parent].number, name: name, errorNumber: EREMOTE))
  }

  /// Leaves out the known directories that shares were mounted over, since their paths now lead into the shares.
  func leaveOutShares() {
    guard mounts.refusesShares else { return }
    for path in mounts.points.shares.sorted(by: { $0.count < $1.count }) {
      for root in roots.values {
        guard let top = root.top, path.count > root.path.count, path.starts(with: root.path) else { continue }
        let rest = path.dropFirst(root.path.count)
        guard rest.first == UInt8(ascii: "/") || root.path.last == UInt8(ascii: "/"),
          let (parent, name) = place(rest.split(separator: UInt8(ascii: "/")), below: top),
          tree.child(of: parent, named: name) != nil
        else { continue }
        leaveOut(Array(name), in: parent)
      }
    }
  }

  /// The path of a directory, with a slash at the end.
  private func path(of index: NodeIndex) -> [UInt8]? {
    guard var path = rootPath(tree.root(index)) else { return nil }
    for component in tree.components(index) {
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
      path.append(contentsOf: component)
    }
    if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    return path
  }
}
