import Glibc
import TestTools

/// A file system on a medium of its own, which is mounted and unmounted in a namespace.
package struct Drive {
  package enum Kind: String, CaseIterable {
    /// A tmpfs that is kept elsewhere: to mount it is a bind mount.
    case tmpfs
    /// A folder of the file system that the mount point is on: to mount it is a bind mount.
    case folder
    case ext4
    /// Its inodes are those of the order in which its files are looked up, its times have two seconds, none is of birth.
    case fat

    package static var possible: [Kind] {
      allCases.filter { kind in
        switch kind {
        case .tmpfs, .folder: true
        case .ext4: MountNamespace.hasLoopDevices
        case .fat: MountNamespace.hasFAT
        }
      }
    }
  }

  package let kind: Kind
  package let namespace: MountNamespace
  /// Its medium.
  package let path: String

  package init(kind: Kind, namespace: MountNamespace, path: String) {
    self.kind = kind
    self.namespace = namespace
    self.path = path
  }

  package func make() throws {
    switch kind {
    case .tmpfs: try namespace.run("mkdir '\(path)'; mount -t tmpfs none '\(path)'")
    case .folder: try namespace.run("mkdir '\(path)'")
    case .ext4: try namespace.run("truncate -s 48M '\(path)'; mkfs.ext4 -q -F '\(path)'")
    case .fat: try namespace.run("truncate -s 48M '\(path)'; mkfs.vfat '\(path)'")
    }
  }

  private func mounting(_ place: String, _ options: String = "rw") -> String {
    switch kind {
    case .tmpfs, .folder: "mount --bind '\(path)' '\(place)'"
    case .ext4: "mount -o loop,\(options) '\(path)' '\(place)'"
    case .fat: "fusefat -o rw+ -o subtype=fusefat -o fsname='\(path)' '\(path)' '\(place)' >/dev/null 2>&1"
    }
  }

  package func mount(_ place: String, options: String = "rw") throws { try namespace.run(mounting(place, options)) }

  package func unmount(_ place: String, options: String = "") throws {
    try namespace.run("umount \(options) '\(place)'")
  }

  /// Runs a script in its top while it is mounted where nobody looks.
  package func away(_ script: String) throws {
    try namespace.run(
      """
      mkdir -p '\(path)-away'; \(mounting(path + "-away")); cd '\(path)-away'; \(script)
      cd /; umount '\(path)-away'; rmdir '\(path)-away'
      """)
    // A FUSE file system is written when its program ends, which umount does not wait for.
    if kind == .fat { try namespace.run("while pgrep -a -x fusefat | grep -q '\(path)-away'; do sleep 0.02; done") }
  }
}

/// A mount namespace with a drive in it: a tmpfs with a folder that is mounted and unmounted as if a cable were pulled.
///
/// A process that is started through ``launcher`` lives in it. The test itself reaches its files through ``outside(_:)``.
package final class MountSpace {
  package static var isPermitted: Bool { MountNamespace.isPermitted }

  private let namespace: MountNamespace
  /// The place of the drive for processes in the namespace.
  package let drive: String
  private let backing: String

  /// Makes the drive, and mounts it.
  package init(directory: String) throws {
    drive = directory + "/drive"
    backing = directory + "/backing"
    for path in [drive, backing] { mkdir(path, 0o755) }
    namespace = try MountNamespace(folder: directory)
    try namespace.run("mount -t tmpfs none '\(backing)'; mkdir '\(backing)/content'")
    try mount()
  }

  /// With all that lives in it still there, it stays until that ends.
  package func end() { namespace.end() }

  package var launcher: [String] { namespace.entry }

  /// A path of the namespace as the test can open it.
  package func outside(_ path: String) -> String { namespace.outside(path) }

  package func mount() throws { try namespace.run("mount --bind '\(backing)/content' '\(drive)'") }

  /// Waits until no process uses the drive. After some seconds it is detached in any case.
  package func unmount() throws {
    try namespace.run(
      "n=0; until umount '\(drive)'; do n=$((n+1)); [ $n = 100 ] && umount -l '\(drive)' && break; sleep 0.02; done")
  }
}
