import Foundation
import Testing

@testable import PhotoIndexer

@Suite struct VolumeIdentityTests {
  // MARK: Texts

  @Test func uuidIsWrittenAsUdevDoes() {
    #expect(
      VolumeIdentity.uuidText([
        0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0x00,
      ]) == "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e100")
    #expect(VolumeIdentity.uuidText([0x0a, 0xff, 0, 1]) == "0aff0001")
    #expect(VolumeIdentity.uuidText([]) == "")
  }

  @Test(arguments: [(0x1a2b_3c4d, "1A2B-3C4D"), (0x0000_000f, "0000-000F"), (0xffff_ffff, "FFFF-FFFF")])
  func serialOfFATIsWrittenAsUdevDoes(serial: UInt32, text: String) {
    #expect(VolumeIdentity.fatText(serial) == text)
    #expect(!VolumeIdentity.hasLastingInodes("uuid:" + text))
  }

  @Test(arguments: [
    "uuid:0f1e2d3c-4b5a-6978-8796-a5b4c3d2e100", "uuid:0f1e2d3c-4b5a-6978-8796-a5b4c3d2e100 subvolume:1f",
    "uuid:01D9A5C37E2F4B60", "nfs:server:/export", "fsid:1f", "device:40@boot", "uuid:", "",
  ])
  func inodesArePersistentExceptOnFATAndInUserSpace(identity: String) {
    #expect(VolumeIdentity.hasLastingInodes(identity))
  }

  @Test func inodesInUserSpaceAreNotPersistent() {
    #expect(!VolumeIdentity.hasLastingInodes("fuse:/dev/sdb1"))
    #expect(!VolumeIdentity.hasLastingInodes("fuse.sshfs:user@host:photos"))
  }

  // MARK: Names that change

  @Test func subvolumesAreOneFileSystem() {
    #expect(VolumeIdentity.isSameFileSystem("uuid:ab subvolume:1", "uuid:ab subvolume:2"))
    #expect(!VolumeIdentity.isSameFileSystem("uuid:ab subvolume:1", "uuid:ac subvolume:1"))
    #expect(!VolumeIdentity.isSameFileSystem("nfs:server:/a b", "nfs:server:/a c"))
  }

  @Test(arguments: ["fsid:1f", "device:40@boot"])
  func persistentIdentityReplacesATemporaryOne(old: String) {
    #expect(VolumeIdentity.mayBeRenamed(old, to: "uuid:ab", hasBirthTime: true))
    #expect(VolumeIdentity.mayBeRenamed(old, to: "nfs:server:/a", hasBirthTime: false))
    // Such a name may also change from boot to boot, if more than the inode proves that the volume is the same.
    #expect(VolumeIdentity.mayBeRenamed(old, to: "device:41@next", hasBirthTime: true))
    #expect(!VolumeIdentity.mayBeRenamed(old, to: "device:41@next", hasBirthTime: false))
  }

  @Test func persistentIdentityIsNotReplaced() {
    #expect(!VolumeIdentity.mayBeRenamed("uuid:ab", to: "uuid:ac", hasBirthTime: true))
    #expect(!VolumeIdentity.mayBeRenamed("uuid:ab", to: "nfs:server:/a", hasBirthTime: true))
    #expect(VolumeIdentity.mayBeRenamed("uuid:ab subvolume:1", to: "uuid:ab subvolume:2", hasBirthTime: true))
    #expect(!VolumeIdentity.mayBeRenamed("uuid:ab subvolume:1", to: "uuid:ab subvolume:2", hasBirthTime: false))
  }

  // MARK: mountinfo

  @Test func optionalFieldsOfAMountMayBeNoneOrMany() throws {
    let none = try #require(Mount(line: "36 35 98:0 / /mnt rw - ext3 /dev/root rw,errors=continue"))
    #expect(none.type == "ext3" && none.source == "/dev/root")
    let many = try #require(
      Mount(line: "36 35 98:0 / /mnt rw shared:1 master:2 propagate_from:3 unbindable - nfs4 server:/export rw"))
    #expect(many.type == "nfs4" && many.source == "server:/export" && many.lastingType == "nfs")
    #expect(many.isKnownBySource && !none.isKnownBySource)
  }

  @Test func escapedNamesOfAMountAreRead() throws {
    let mount = try #require(
      Mount(line: #"36 35 0:40 / /mnt/My\040Photos rw - cifs //server/My\040Photos\011\134\012x rw"#))
    #expect(mount.source == "//server/My Photos\t\\\nx" && mount.type == "cifs")
    // A sequence that only looks like an escape stays as it is.
    #expect(Mount.unescaped(#"a\04"#) == #"a\04"#)
    #expect(Mount.unescaped(#"a\9zz"#) == #"a\9zz"#)
    #expect(Mount.unescaped(#"\134040"#) == #"\040"#)
    #expect(Mount.unescaped(#"\303\274"#) == "ü")
  }

  @Test(arguments: ["", "36", "36 35 98:0 / /mnt rw ext3 /dev/root rw", "36 35 98:0 / /mnt rw - ext3", "- - - -"])
  func lineThatIsNoMountIsNone(line: String) { #expect(Mount(line: line[...]) == nil) }

  @Test(arguments: ["none", "", "/dev/fuse"])
  func mountWithoutASourceNamesNoVolume(source: String) throws {
    let mount = try #require(Mount(line: "36 35 0:40 / /mnt rw - fuse.some \(source) rw"))
    #expect(!mount.isKnownBySource)
  }

  @Test func mountIsFoundByItsNumber() throws {
    let lines = [
      "36 35 98:0 / /mnt rw - ext4 /dev/sda1 rw", "136 36 98:1 / /mnt rw - ext4 /dev/sdb1 rw",
      "13 136 0:40 / /mnt rw - nfs server:/export rw",
    ]
    #expect(Mount(number: "36", in: lines)?.source == "/dev/sda1")
    #expect(Mount(number: "136", in: lines)?.source == "/dev/sdb1")
    #expect(Mount(number: "13", in: lines)?.source == "server:/export")
    #expect(Mount(number: "3", in: lines) == nil)
  }

  @Test func volumeIdentityOfAFolderIsRepeatable() throws {
    let path = Array(NSTemporaryDirectory().utf8)
    var status = stat()
    try #require(withCPath(path) { stat($0, &status) } == 0)
    let name = VolumeIdentity.of(device: UInt64(status.st_dev), path: path)
    #expect(name.contains(":"))
    #expect(VolumeIdentity.of(device: UInt64(status.st_dev), path: path) == name)
  }

  @Test func movedFolderHasTheVolumeIdentityOfItsDevice() throws {
    let path = Array(NSTemporaryDirectory().utf8)
    var status = stat()
    try #require(withCPath(path) { stat($0, &status) } == 0)
    let device = UInt64(status.st_dev)
    let gone = path + Array("/photod-no-such/folder/of-photos".utf8)
    #expect(VolumeIdentity.of(device: device, path: gone) == VolumeIdentity.of(device: device, path: path))
    // Another file system is mounted at the path where it was seen.
    let elsewhere = Array("/proc/self".utf8)
    let root = VolumeIdentity.of(device: device, path: Array("/".utf8))
    var top = stat()
    if stat("/", &top) == 0, UInt64(top.st_dev) == device {
      #expect(VolumeIdentity.of(device: device, path: elsewhere) == root)
    }
  }
}
