import Glibc

/// What a file system is known by across boots and remounts: its UUID, where it has one.
///
/// Device numbers change at boot, so they are only the way to the UUID: udev's links in /dev/disk/by-uuid lead to the
/// block device whose number stat(2) gives. A file system without a block device (tmpfs, overlay, network, and btrfs,
/// whose subvolumes have numbers of their own) is known by statvfs(3)'s f_fsid, which stays while it is
/// mounted, and on most across mounts.
enum VolumeIdentity {
  /// - Parameter path: of a directory on that device.
  static func of(device: UInt64, path: [UInt8]) -> String {
    uuid(device: device) ?? fileSystemID(path: path, device: device)
  }

  private static func uuid(device: UInt64) -> String? {
    let folder = "/dev/disk/by-uuid"
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      var status = stat()
      if !name.hasPrefix("."), stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFBLK,
        UInt64(status.st_rdev) == device
      {
        return "uuid:\(name)"
      }
    }
    return nil
  }

  private static func fileSystemID(path: [UInt8], device: UInt64) -> String {
    var status = statvfs()
    guard withCPath(path, { statvfs($0, &status) }) == 0, status.f_fsid != 0 else { return "device:\(device)" }
    return "fsid:\(String(status.f_fsid, radix: 16))"
  }
}
