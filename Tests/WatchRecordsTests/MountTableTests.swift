// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import TestTools
import Testing
import WatchRecords

@Suite struct MountTableTests {
  private static let text = """
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    30 22 0:40 / /mnt/nas rw,relatime shared:5 - nfs4 server:/export rw,vers=4.2
    31 30 0:41 / /mnt/nas/inner rw,relatime - tmpfs none rw
    32 22 0:42 / /home/me/my\\040phone rw - fuse.jmtpfs jmtpfs rw
    33 22 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw
    34 22 0:43 / /over rw - tmpfs none rw
    35 34 0:44 / /over rw - cifs //server/share\\134x rw
    this is no line of the format
    36 22 0:45
    """
  private let mounts = MountTable(Self.text.utf8)

  @Test(arguments: [
    ("/home/me", "ext4"), ("/mnt/nas", "nfs4"), ("/mnt/nas/a/b", "nfs4"), ("/mnt/nasty", "ext4"),
    ("/mnt/nas/inner/x", "tmpfs"), ("/home/me/my phone/DCIM", "fuse.jmtpfs"), ("/over/a", "cifs"), ("/", "ext4"),
  ])
  func innermostAndLatestMountCounts(path: String, type: String) {
    #expect(mounts.mount(of: path.utf8).map { String(decoding: $0.type, as: UTF8.self) } == type)
  }

  @Test func sharesAreThoseOfOtherMachinesAndPrograms() {
    for path in ["/mnt/nas", "/mnt/nas/a", "/mnt/nas/inner/x", "/home/me/my phone", "/over"] {
      #expect(mounts.isOnShare(path.utf8), "\(path)")
    }
    for path in ["/", "/home/me", "/media/stick/a", "/mnt"] {
      #expect(!mounts.isOnShare(path.utf8), "\(path)")
    }
    #expect(mounts.mount(of: "/over".utf8)?.source == Array("//server/share\\x".utf8))
  }

  /// The way to it leads through the share, which may not answer.
  @Test func driveBelowAShareCountsAsOnIt() {
    let mounts = MountTable(
      "22 1 8:1 / / rw - ext4 a rw\n23 22 0:2 / /n rw - nfs4 b rw\n24 23 8:17 / /n/d rw - ext4 /dev/sdb1 rw".utf8)
    #expect(mounts.isOnShare("/n/d".utf8) && mounts.isOnShare("/n/d/photos".utf8))
    #expect(mounts.sharePoints == [Array("/n".utf8)])
    // A file system that is mounted over the share hides it.
    let hidden = MountTable(
      "22 1 8:1 / / rw - ext4 a rw\n23 22 0:2 / /n rw - nfs4 b rw\n24 23 0:3 / /n rw - tmpfs c rw".utf8)
    #expect(!hidden.isOnShare("/n/d".utf8))
  }

  /// photod itself runs from it, so it must be answering.
  @Test func fileSystemOfTheWholeTreeIsNoShare() {
    let mounts = MountTable("22 1 0:1 / / rw - 9p root rw\n23 22 0:2 / /srv rw - 9p srv rw".utf8)
    #expect(!mounts.isOnShare("/home".utf8) && mounts.isOnShare("/srv/a".utf8))
    #expect(!MountTable([]).isOnShare("/a".utf8))
  }

  /// No caller waits for it, but reading from it is reading over a network.
  @Test func fileSystemOfTheWholeTreeMayBeRemote() {
    let mounts = MountTable("22 1 0:1 / / rw - nfs4 server:/root rw\n23 22 8:1 / /home rw - ext4 /dev/sda1 rw".utf8)
    #expect(mounts.isRemote("/srv".utf8) && !mounts.isRemote("/home/me".utf8))
    #expect(self.mounts.isRemote("/mnt/nas/a".utf8) && !self.mounts.isRemote("/media/stick/a".utf8))
    #expect(!MountTable([]).isRemote("/a".utf8))
  }

  @Test(arguments: [
    ("nfs4", true), ("cifs", true), ("virtiofs", true), ("autofs", true), ("fuse", true), ("fuse.sshfs", true),
    ("fuse.gvfsd-fuse", true), ("fuse.nobody-knows", true), ("fuseblk", false), ("fuseblk.ntfs", false),
    ("fuse.ntfs-3g", false), ("fuse.exfat-fuse", false), ("ext4", false), ("vfat", false), ("overlay", false),
  ])
  func fileSystemIsAShareByItsType(type: String, isShare: Bool) {
    #expect(MountTable.isShare(type) == isShare)
  }

  @Test func sharesBeginAtTheirMountPoints() {
    #expect(mounts.sharePoints == Set(["/mnt/nas", "/home/me/my phone", "/over"].map { Array($0.utf8) }))
    let hidden = MountTable(
      "22 1 8:1 / / rw - ext4 a rw\n23 22 0:2 / /a rw - nfs b rw\n24 23 0:3 / /a rw - tmpfs c rw".utf8)
    #expect(hidden.sharePoints.isEmpty)
  }

  @Test func callsAndAnswersSurviveARoundTrip() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let calls: [FileCall] = [
        .look(path: random.name()), .read(path: random.name(), offset: random.any(), count: random.any()),
        .list(path: random.name(), position: random.any()),
      ]
      let call = try #require(calls.randomElement(using: &random))
      var bytes: [UInt8] = []
      call.encode(into: &bytes)
      #expect(try FileCall(bytes[...]) == call)
      let answer = FileAnswer(errorNumber: random.any(), mode: random.any(), stat: random.stat(), bytes: random.name())
      bytes = []
      answer.encode(into: &bytes)
      #expect(try FileAnswer(bytes[...]) == answer)
      for end in 0..<bytes.count { #expect(throws: WatchFormatError.self) { try FileAnswer(bytes[..<end]) } }
      let entries = (0..<3).map { _ in FolderEntry(name: random.name(), type: random.any()) }
      bytes = []
      for entry in entries { entry.encode(into: &bytes) }
      #expect(try FolderEntry.all(in: bytes) == entries)
      #expect(throws: WatchFormatError.self) { try FolderEntry.all(in: bytes + [4]) }
    }
  }
}
