// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// The mounted file systems, from the text of /proc/self/mountinfo (proc_pid_mountinfo(5)).
///
/// It finds the file system of a path without touching the path. A look at a share that does not answer would block.
public struct MountTable: Sendable {
  /// The file whose text it parses.
  public static let file = "/proc/self/mountinfo"

  public struct Mount: Sendable {
    public var point: [UInt8]
    public var type: [UInt8]
    /// The mounted device or share, without the file's escapes.
    public var source: [UInt8]

    fileprivate var isShare: Bool { MountTable.isShare(String(decoding: type, as: UTF8.self)) }
  }

  /// In the order of the file. A later mount hides an earlier one at the same point.
  private var mounts: [Mount] = []
  /// Usually there are no shares, and then no path is searched for.
  private var hasShares = false

  /// Lines that do not have the format are skipped.
  public init(_ text: some Collection<UInt8>) {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 4, let dash = fields.dropFirst(5).firstIndex(where: { $0.elementsEqual("-".utf8) }),
        dash + 2 < fields.count
      else { continue }
      mounts.append(
        Mount(
          point: Self.unescaped(fields[4]), type: Array(fields[dash + 1]), source: Self.unescaped(fields[dash + 2])))
    }
    hasShares = mounts.contains { $0.isShare }
  }

  /// The mount that a path is on. Symbolic links in the path are not resolved.
  public func mount(of path: some Collection<UInt8>) -> Mount? {
    var found: Mount?
    for mount in mounts where mount.point.count >= found?.point.count ?? 0 && Self.contains(mount.point, path) {
      found = mount
    }
    return found
  }

  /// Whether reading a path reads from another machine, or from a program that may do so.
  public func isRemote(_ path: some Collection<UInt8>) -> Bool {
    hasShares && mount(of: path).map { $0.isShare } ?? false
  }

  /// Whether a path is on a file system that another machine or a program serves, which may not answer, or below one: the
  /// way to a drive that is mounted there leads through the share. The mount at / counts as a drive, because photod
  /// itself is on it.
  public func isOnShare(_ path: some Collection<UInt8>) -> Bool {
    guard hasShares else { return false }
    return mounts.contains { $0.isShare && $0.point.count > 1 && Self.contains($0.point, path) && !isHidden($0) }
  }

  /// Whether a later mount at the same point hides a mount.
  private func isHidden(_ mount: Mount) -> Bool {
    mounts.last { $0.point == mount.point }.map { !$0.isShare } ?? false
  }

  /// The mount points of shares, without / and without those that a later mount hides.
  public var sharePoints: Set<[UInt8]> {
    hasShares ? Set(mounts.lazy.filter { $0.isShare && $0.point.count > 1 && !isHidden($0) }.map(\.point)) : []
  }

  /// The one rule that defines shares. FUSE programs that serve a block device of this machine are drives: `fuseblk`,
  /// and some that only their names reveal. `autofs` mounts a share at the first access.
  ///
  /// - Parameter type: as in mountinfo.
  public static func isShare(_ type: String) -> Bool {
    type == "autofs" || networkTypes.contains(type) || (isFUSE(type) && !localPrograms.contains(type))
  }

  /// Whether a program serves it. `fuseblk` does not count.
  public static func isFUSE(_ type: String) -> Bool { type == "fuse" || type.hasPrefix("fuse.") }

  /// The file systems that other machines serve.
  public static let networkTypes: Set<String> = [
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "pvfs2",
    "smb3",
    "smbfs", "vboxsf", "virtiofs",
  ]

  private static let localPrograms: Set<String> = [
    "fuse.exfat", "fuse.exfat-fuse", "fuse.fuse2fs", "fuse.fuseext2", "fuse.fusefat", "fuse.mount.exfat",
    "fuse.mount.exfat-fuse", "fuse.ntfs", "fuse.ntfs-3g",
  ]

  private static func contains(_ point: [UInt8], _ path: some Collection<UInt8>) -> Bool {
    guard path.starts(with: point) else { return false }
    return point.last == UInt8(ascii: "/") || path.count == point.count
      || path.dropFirst(point.count).first == UInt8(ascii: "/")
  }

  /// Resolves the file's escapes: space, tab, newline and backslash are written as three octal digits.
  public static func unescaped(_ field: some Collection<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(field)[...]
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
