import Glibc
import WatchRecords

/// The identity of a file system across boots and mounts. It is the UUID of the file system if that has one, and never
/// a device number. A device number is given anew at every boot, and for a file system without a block device at every
/// mount.
///
/// An identity is text. A UUID may be followed by a space and the name of a part of the file system that numbers its
/// inodes separately (a subvolume of btrfs). The beginning of the text is its kind:
///
/// | begins with | of | taken from |
/// |---|---|---|
/// | `uuid:` | ext4, xfs, btrfs, f2fs, tmpfs, FAT | the file system itself, else udev's link in /dev/disk/by-uuid |
/// | a file system's type | network and FUSE file systems | that type and the source, in /proc/self/mountinfo |
/// | `fsid:` | other file systems | statvfs(3); on most it stays across mounts |
/// | `device:` | file systems without any of these | the device number, and the boot that gave it |
///
/// A tmpfs gets another UUID at each mount: the files of the one before are gone.
enum VolumeIdentity {
  /// - Parameter path: a directory that was on that device when it was seen. If it was renamed since, the nearest
  ///   directory above it that is on the device is used. So a folder that moves is never taken for another drive.
  static func of(device: UInt64, path: [UInt8]) -> String {
    let path = nearest(path, on: device)
    let descriptor = withCPath(path) { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) }
    defer { if descriptor >= 0 { close(descriptor) } }
    let mount = descriptor >= 0 ? Mount(of: descriptor) : nil
    var status = statvfs()
    let fsid = withCPath(path) { statvfs($0, &status) } == 0 ? UInt64(status.f_fsid) : 0
    if let name = uuid(descriptor) ?? fatVolume(descriptor, mount) ?? linkedUUID(device: device, mount: mount) {
      return "uuid:\(name)" + subvolume(mount, fsid)
    }
    if let mount, mount.isKnownBySource { return "\(mount.lastingType):\(mount.source)" }
    // xfs, FAT and others derive it from the device number (u64_to_fsid(huge_encode_dev()), linux/fs/xfs/xfs_super.c).
    if fsid != 0, fsid != encoded(device) { return "fsid:\(hexadecimal(fsid))" }
    return "device:\(device)@\(bootID)"
  }

  /// The identity of a share by the mount table, so that the share is not accessed.
  static func ofShare(device: UInt64, mount: MountTable.Mount?) -> String {
    guard let mount else { return "device:\(device)@\(bootID)" }
    let known = Mount(
      type: String(decoding: mount.type, as: UTF8.self), source: String(decoding: mount.source, as: UTF8.self))
    if known.isKnownBySource { return "\(known.lastingType):\(known.source)" }
    // It may be a drive that is mounted below a share. Only a look at it would tell the subvolumes of a btrfs apart.
    if !MountTable.isShare(known.type), known.type != "btrfs", let name = linkedUUID(device: device, mount: known) {
      return "uuid:\(name)"
    }
    return "device:\(device)@\(bootID)"
  }

  private static func nearest(_ path: [UInt8], on device: UInt64) -> [UInt8] {
    var folder = path[...]
    while !folder.isEmpty {
      var status = stat()
      if withCPath(Array(folder), { stat($0, &status) }) == 0, UInt64(status.st_dev) == device { return Array(folder) }
      guard let slash = folder.lastIndex(of: UInt8(ascii: "/")) else { break }
      folder = slash == folder.startIndex && folder.count > 1 ? folder[...slash] : folder[..<slash]
    }
    return path
  }

  /// Whether both are one file system, even if they are two subvolumes of it.
  static func isSameFileSystem(_ one: String, _ other: String) -> Bool { one.fileSystem == other.fileSystem }

  /// Whether a directory with the same inode and birth time may be the same although its file system has another
  /// identity now. The old identity may be from a time when photod did not know this one, or may depend on the boot.
  ///
  /// - Parameter hasBirthTime: whether the directory has a birth time. Without it the inode proves little: that of the
  ///   root of a FAT is always 1.
  static func mayBeRenamed(_ old: String, to new: String, hasBirthTime: Bool) -> Bool {
    if isSameFileSystem(old, new) { return hasBirthTime }
    if isLasting(new) { return !isLasting(old) }
    return hasBirthTime
  }

  /// Whether inodes identify files from one mount to the next.
  ///
  /// The kernel makes up the inodes of FAT and exFAT when a file is looked up (iunique() in linux/fs/inode.c). Their
  /// birth times are the same for all files that were copied within two seconds. Only the UUIDs of these file systems
  /// have the form 1A2B-3C4D. If a FUSE program reports no inodes, the kernel makes them up as well.
  static func hasLastingInodes(_ identity: String) -> Bool {
    guard identity.hasPrefix("uuid:") else { return !identity.hasPrefix("fuse") }
    let name = identity.utf8.dropFirst(5)
    return name.count != 9 || name.dropFirst(4).first != UInt8(ascii: "-")
  }

  /// Whether the identity itself shows that it is a share's. The identity of a share without a lasting name does not.
  static func namesShare(_ identity: String) -> Bool {
    MountTable.isShare(String(identity.prefix { $0 != ":" }))
  }

  private static func isLasting(_ identity: String) -> Bool {
    !identity.hasPrefix("fsid:") && !identity.hasPrefix("device:")
  }

  // MARK: Identities from the file system

  /// FS_IOC_GETFSUUID, since Linux 6.9: `_IOR(0x15, 0, struct fsuuid2 { __u8 len; __u8 uuid[16]; })` in linux/fs.h.
  /// It fails with ENOTTY if the file system has none.
  private static func uuid(_ descriptor: Int32) -> String? {
    guard descriptor >= 0 else { return nil }
    var answer = [UInt8](repeating: 0, count: 17)
    guard ioctl(descriptor, 0x8011_1500, &answer) == 0, answer[0] > 0, answer[0] <= 16 else { return nil }
    let bytes = answer[1...Int(answer[0])]
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    return uuidText(bytes)
  }

  /// The text of a UUID as udev names its links: 16 bytes in five groups.
  static func uuidText(_ bytes: some Collection<UInt8>) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if bytes.count == 16, [4, 6, 8, 10].contains(index) { text += "-" }
      text += byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16)
    }
    return text
  }

  /// FAT_IOCTL_GET_VOLUME_ID: `_IOR('r', 0x13, __u32)` in linux/msdos_fs.h.
  private static func fatVolume(_ descriptor: Int32, _ mount: Mount?) -> String? {
    guard descriptor >= 0, let mount, mount.type == "vfat" || mount.type == "msdos" else { return nil }
    var serial: UInt32 = 0
    guard ioctl(descriptor, 0x8004_7213, &serial) == 0, serial != 0 else { return nil }
    return fatText(serial)
  }

  /// The text of a serial number as udev names its links: 1A2B-3C4D.
  static func fatText(_ serial: UInt32) -> String {
    let digits = String(serial, radix: 16, uppercase: true)
    let padded = String(repeating: "0", count: 8 - digits.utf8.count) + digits
    return "\(padded.prefix(4))-\(padded.suffix(4))"
  }

  /// The subvolumes of btrfs have one UUID, and each has its own inodes. They differ in f_fsid, which is the same on
  /// every mount (btrfs_statfs() in linux/fs/btrfs/super.c).
  private static func subvolume(_ mount: Mount?, _ fsid: UInt64) -> String {
    mount?.type == "btrfs" ? " subvolume:\(hexadecimal(fsid))" : ""
  }

  // MARK: Identities from udev and the kernel

  /// A file system on one block device has its number. A file system on several (btrfs) has a number of its own, and
  /// names one of them as its source.
  private static func linkedUUID(device: UInt64, mount: Mount?) -> String? {
    if let name = linkedUUID(block: device) { return name }
    guard let mount, mount.source.hasPrefix("/dev/") else { return nil }
    var status = stat()
    guard stat(mount.source, &status) == 0, status.st_mode & S_IFMT == S_IFBLK else { return nil }
    return linkedUUID(block: UInt64(status.st_rdev))
  }

  private static func linkedUUID(block: UInt64) -> String? {
    let folder = "/dev/disk/by-uuid"
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      var status = stat()
      if !name.hasPrefix("."), stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFBLK,
        UInt64(status.st_rdev) == block
      {
        return name
      }
    }
    return nil
  }

  /// The device number as new_encode_dev() in linux/kdev_t.h encodes it. stat(2) returns the encoding of
  /// gnu_dev_makedev() in bits/sysmacros.h.
  private static func encoded(_ device: UInt64) -> UInt64 {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    return minor & 0xff | major << 8 | (minor & ~0xff) << 12
  }

  private static func hexadecimal(_ value: UInt64) -> String { String(value, radix: 16) }

  /// The id of the current boot. A device number means nothing in another boot.
  private static let bootID: String = {
    let text = FileText.read("/proc/sys/kernel/random/boot_id") ?? []
    return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }()
}

extension String {
  fileprivate var fileSystem: Substring { hasPrefix("uuid:") ? prefix { $0 != " " } : self[...] }
}

/// A line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
struct Mount: Equatable {
  var type: String
  /// The source of the mount. If a file system has no block device, its program or its server chooses this text.
  var source: String

  init(type: String, source: String) {
    self.type = type
    self.source = source
  }

  init?(line: Substring) {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    let fields = line.split(separator: " ", omittingEmptySubsequences: false)
    guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 2 else { return nil }
    type = String(fields[dash + 1])
    source = Self.unescaped(fields[dash + 2])
  }

  /// The mount through which an open file was reached. The number in its fdinfo begins a line of mountinfo.
  init?(of descriptor: Int32) {
    guard let information = FileText.lines("/proc/self/fdinfo/\(descriptor)"),
      let identifier = information.first(where: { $0.hasPrefix("mnt_id:") })?.dropFirst(7)
        .drop(while: { $0 == "\t" || $0 == " " }),
      let lines = FileText.lines("/proc/self/mountinfo")
    else { return nil }
    self.init(number: identifier, in: lines)
  }

  /// If several file systems are mounted on one mount point, only the number identifies the mount.
  init?(number: some StringProtocol, in lines: [String]) {
    guard let line = lines.first(where: { $0.hasPrefix(number + " ") }) else { return nil }
    self.init(line: line[...])
  }

  /// Whether the file system has no block device and a source that identifies it: server:/export, //server/share,
  /// user@host:folder.
  var isKnownBySource: Bool {
    if source.isEmpty || source == "none" || source.hasPrefix("/dev/") { return false }
    return MountTable.isFUSE(type) || MountTable.networkTypes.contains(type)
  }

  /// The type without the version of its protocol, which may differ from mount to mount.
  var lastingType: String {
    switch type {
    case "nfs4": "nfs"
    case "smb3", "smbfs": "cifs"
    default: type
    }
  }

  /// Space, tab, newline and backslash are written as three octal digits.
  static func unescaped(_ field: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Reads files of /proc, whose length is not known in advance.
enum FileText {
  static func lines(_ path: String) -> [String]? {
    read(path).map { bytes in
      bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
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
