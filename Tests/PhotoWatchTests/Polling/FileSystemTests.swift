// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// A file system on which inotify misses changes: bindfs (FUSE) over the folder `behind`, mounted in photod-watch's own
/// namespace. The tests change the folder behind the mount.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(
    if: Namespace.canMountBindFS, "bindfs is not installed, or FUSE can't be mounted in a user namespace here"))
struct FileSystemTests {
  let disk: Disk
  /// The folder that the tests change. The mount shows the same files.
  let behind: String

  init() throws {
    disk = try Disk()
    behind = disk.outside + "/behind"
    Disk.makeDirectories(behind)
  }

  /// Mounts at once, or when the test creates the file "mount" in `outside`. Unmounts when the test creates "unmount",
  /// or when photod-watch ends. Nothing is cached.
  private func wrapper(_ mountPoint: String, waiting: Bool = false) throws -> String {
    let executable = BuiltPrograms.path("photod-watch")
    Disk.write(
      disk.outside + "/mounts",
      """
      #!/bin/sh
      attach() { bindfs -o attr_timeout=0,entry_timeout=0,negative_timeout=0 "\(behind)" "\(mountPoint)"; }
      await() { while [ ! -e "\(disk.outside)/$1" ] && kill -0 $$ 2>/dev/null; do sleep 0.02; done; }
      \(waiting ? "" : "attach")
      ( exec 3<&- >/dev/null 2>&1 </dev/null
        \(waiting ? "await mount; attach" : "")
        await unmount; umount -l "\(mountPoint)" ) &
      exec \(executable)
      """)
    return Namespace.script(disk, "unshare -Urm sh \(disk.outside)/mounts")
  }

  private func paths(_ session: WatchSession) -> Set<String> {
    Set(session.model.files.keys.map { String(decoding: $0.dropFirst(disk.root.utf8.count + 1), as: UTF8.self) })
  }

  private func isFile(_ record: WatchRecord, _ wanted: String) -> Bool {
    if case .fileFound(_, let name, _, _) = record { name == Array(wanted.utf8) } else { false }
  }

  private func isPolling(_ record: WatchRecord, _ polled: UInt32, of directories: UInt32) -> Bool {
    guard case .polling(1, .fileSystem(let name), polled, directories) = record else { return false }
    return String(decoding: name, as: UTF8.self).hasPrefix("fuse")
  }

  @Test func aRootOnFUSEIsPolledByItsType() async throws {
    Disk.makeDirectories(behind + "/d")
    Disk.write(behind + "/d/a.jpg", "x")
    let session = try await WatchSession(roots: [disk.root], executable: try wrapper(disk.root))
    #expect(isPolling(try #require(session.lastPolling), 2, of: 2))
    #expect(try Namespace.watchCount(of: session.watcher.processID) == 1)
    // No event reports these changes.
    Disk.write(behind + "/d/b.jpg", "x")
    try await session.take { isFile($0, "b.jpg") }
    rename(behind + "/d", behind + "/e")
    Disk.edit(behind + "/e/a.jpg", "edited")
    try await session.sync()
    #expect(paths(session) == ["e/a.jpg", "e/b.jpg"])
    #expect(session.model.files.values.contains { $0.byteCount == 6 })
    await session.watcher.stop()
  }

  @Test func aMountBelowARootIsPolledAndTheRestIsWatched() async throws {
    disk.makeDirectory("share")
    disk.write("local/a.jpg")
    Disk.makeDirectories(behind + "/d")
    Disk.write(behind + "/d/b.jpg", "x")
    let session = try await WatchSession(
      roots: [disk.root], executable: try wrapper(disk.path("share"), waiting: true))
    #expect(session.lastPolling == nil)
    #expect(paths(session) == ["local/a.jpg"])
    // The mount covers a directory that is known and watched. Only the mount table shows that.
    Disk.write(disk.outside + "/mount", "")
    try await session.take { isPolling($0, 2, of: 4) }
    #expect(paths(session) == ["local/a.jpg", "share/d/b.jpg"])
    // Young files may be reported again meanwhile.
    Disk.write(behind + "/d/c.jpg", "x")
    try await session.take { isFile($0, "c.jpg") }
    #expect(paths(session) == ["local/a.jpg", "share/d/b.jpg", "share/d/c.jpg"])
    disk.write("local/d.jpg")
    let said = try await session.take { isFile($0, "d.jpg") }
    #expect(!said.contains { if case .listingStarted = $0 { true } else { false } })
    // The directory is gone, but only by scan.
    Disk.write(disk.outside + "/unmount", "")
    let gone = try await session.take { if case .directoryGone = $0 { true } else { false } }
    for case .directoryGone(_, let evidence) in gone { #expect(evidence == .scan) }
    try await session.sync()
    #expect(paths(session) == ["local/a.jpg", "local/d.jpg"])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }

  private func isLeftOut(_ record: WatchRecord) -> Bool {
    if case .unreadable(_, let name, EREMOTE) = record { name == Array("share".utf8) } else { false }
  }

  /// A share that does not answer would block all drives.
  @Test(arguments: [true, false]) func aShareBelowARootOnADriveIsLeftOut(isMountedLater: Bool) async throws {
    disk.makeDirectory("share")
    disk.write("local/a.jpg")
    Disk.makeDirectories(behind + "/d")
    Disk.write(behind + "/d/b.jpg", "x")
    let session = try await WatchSession(
      roots: [disk.root], executable: try wrapper(disk.path("share"), waiting: isMountedLater), waiting: false,
      place: .drives)
    var said = try await session.sync()
    if isMountedLater {
      #expect(paths(session) == ["local/a.jpg"])
      Disk.write(disk.outside + "/mount", "")
      said = try await session.take(until: isLeftOut)
      for case .directoryGone(_, let evidence) in said { #expect(evidence == .scan) }
      said += try await session.sync()
    }
    #expect(said.contains(where: isLeftOut))
    #expect(!said.contains { isFile($0, "b.jpg") } && session.lastPolling == nil)
    #expect(paths(session) == ["local/a.jpg"])
    // Neither a scan nor an event enters the share.
    session.watcher.rescan(root: 1, directory: nil)
    Disk.write(behind + "/c.jpg", "x")
    disk.write("local/d.jpg")
    try await session.take { if case .scanEnded = $0 { true } else { false } }
    try await session.sync()
    #expect(paths(session) == ["local/a.jpg", "local/d.jpg"])
    // The files below the mount point are found again. The tests always see them, because only photod-watch has the
    // mount.
    disk.write("share/bare.jpg")
    try await session.sync()
    #expect(paths(session) == ["local/a.jpg", "local/d.jpg"])
    Disk.write(disk.outside + "/unmount", "")
    try await session.take { isFile($0, "bare.jpg") }
    try await session.sync()
    #expect(paths(session) == ["local/a.jpg", "local/d.jpg", "share/bare.jpg"])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }
}
