// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// Which file systems do not tell what is changed in them by others than this machine's programs through this mount:
/// those of other machines and those that a program serves (FUSE). inotify hears only what goes through the kernel's own
/// directory entries, so directories there are polled.
///
/// Not among them: overlay. What goes through the mount is heard, and that is how a person changes it; only a change of the
/// layers behind the mount is not, which overlayfs itself calls undefined behaviour (kernel documentation, overlayfs.rst,
/// "Changes to underlying filesystems"). Nor fuseblk, ntfs-3g and the like: FUSE, but the block device is this mount's alone.
struct FileSystems {
  /// statfs(2)'s f_type, from linux/magic.h and the file systems' own headers.
  private static let names: [UInt32: String] = [
    0x6969: "nfs", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb3", 0x517B: "smbfs", 0x564C: "ncpfs", 0x0102_1997: "9p",
    0x5346_414F: "afs", 0x6B41_4653: "afs", 0x7375_7245: "coda", 0x00C3_6400: "ceph", 0x6573_5546: "fuse",
    0x786F_4256: "vboxsf", 0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs", 0x0116_1970: "gfs2", 0x7461_636F: "ocfs2",
    0x1983_0326: "fhgfs",
  ]
  private static let fuse: UInt32 = 0x6573_5546

  /// By device; nil of those that tell.
  private var known: [UInt64: PollingReason?] = [:]

  /// Device numbers are given anew with every mount.
  mutating func forget() { known = [:] }

  /// The reason to poll a directory on this device; `descriptor` is open on it.
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
    if type == fuse, mounted == Array("fuseblk".utf8) { return nil }
    return .fileSystem(name: mounted ?? Array(name.utf8))
  }

  /// The kind of file system that is mounted with this device number ("nfs4", "fuse.sshfs"), by the third field of
  /// /proc/self/mountinfo (proc_pid_mountinfo(5)) and the one after the hyphen; nil where it says nothing of it.
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
    // As glibc's macros: the major number has 12 and 20 bits, the minor 8 and 24.
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
  /// The reason to poll a directory whose file system does not tell what changes in it.
  func silentFileSystem(_ descriptor: Int32, _ look: FileLook) -> PollingReason? {
    fileSystems.reason(device: look.identity.device, descriptor)
  }
}
