// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// Finds the directories in which inotify misses changes, so that they are polled. inotify reports only what passes
/// through this kernel's directory entries. On network file systems, and on those that a program serves (FUSE), the
/// server can change files without them.
///
/// Two kinds of file systems are not polled:
/// - overlay: inotify reports every change through the mount, and that is how a person changes files. Only changes of
///   the layers behind the mount go unseen. overlayfs itself calls those undefined behaviour (kernel documentation,
///   overlayfs.rst, "Changes to underlying filesystems").
/// - fuseblk, such as ntfs-3g: it is FUSE, but no other mount uses the block device.
struct FileSystems {
  /// The file systems to poll, by the f_type of statfs(2). The numbers are from linux/magic.h and the headers of the
  /// file systems.
  private static let names: [UInt32: String] = [
    0x6969: "nfs", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb3", 0x517B: "smbfs", 0x564C: "ncpfs", 0x0102_1997: "9p",
    0x5346_414F: "afs", 0x6B41_4653: "afs", 0x7375_7245: "coda", 0x00C3_6400: "ceph", 0x6573_5546: "fuse",
    0x786F_4256: "vboxsf", 0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs", 0x0116_1970: "gfs2", 0x7461_636F: "ocfs2",
    0x1983_0326: "fhgfs",
  ]
  private static let fuse: UInt32 = 0x6573_5546

  /// The result for each device; nil if inotify reports its changes.
  private var known: [UInt64: PollingReason?] = [:]

  /// Must be called after every change of mounts, since a new mount may reuse a device number.
  mutating func forget() { known = [:] }

  /// The reason to poll a directory on this device, or nil. `descriptor` must be open on it.
  mutating func reason(device: UInt64, _ descriptor: Int32) -> PollingReason? {
    if let reason = known[device] { return reason }
    let reason = Self.look(device, descriptor)
    known[device] = .some(reason)
    return reason
  }

  private static func look(_ device: UInt64, _ descriptor: Int32) -> PollingReason? {
    var type: UInt32 = 0
    guard watchshim_file_system_type(descriptor, &type) == 0, let name = names[type] else { return nil }
    let mounted = kind(device)
    if type == fuse, let mounted {
      let kind = String(decoding: mounted, as: UTF8.self)
      if kind.hasPrefix("fuseblk") || !MountTable.isShare(kind) { return nil }
    }
    return .fileSystem(name: mounted ?? Array(name.utf8))
  }

  /// The type of the file system that is mounted with this device number ("nfs4", "fuse.sshfs"), or nil. In a line of
  /// /proc/self/mountinfo (proc_pid_mountinfo(5)), the third field is the device, and the type follows the hyphen.
  private static func kind(_ device: UInt64) -> [UInt8]? {
    let descriptor = open(MountTable.file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(descriptor, &piece, piece.count)
      guard count > 0 else { break }
      text += piece[..<count]
    }
    // As in glibc's macros: the major number has 12 low and 20 high bits, the minor number 8 and 24.
    let major = (device >> 32 & 0xFFFF_F000) | (device >> 8 & 0xFFF)
    let minor = (device >> 12 & 0xFFFF_FF00) | (device & 0xFF)
    let number = Array("\(major):\(minor)".utf8)
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 2, fields[2].elementsEqual(number), let end = fields.firstIndex(of: [UInt8(ascii: "-")]),
        end + 1 < fields.count
      else { continue }
      return Array(fields[end + 1])
    }
    return nil
  }
}

extension FolderWatch {
  /// The reason to poll a directory, if inotify misses changes on its file system.
  func silentFileSystem(_ descriptor: Int32, _ look: FileLook) -> PollingReason? {
    mounts.fileSystems.reason(device: look.identity.device, descriptor)
  }
}
