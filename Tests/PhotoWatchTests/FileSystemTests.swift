// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoWatch
import Testing
import WatchRecords

enum FUSE {
  static let isPermitted =
    system(
      """
      D=$(mktemp -d) && mkdir $D/a $D/b && unshare -Urm sh -c "bindfs $D/a $D/b && umount $D/b" >/dev/null 2>&1
      S=$?; rm -rf $D; exit $S
      """) == 0
}

/// A file system that does not tell what others change in it: bindfs (FUSE) over `Behind`'s folder, mounted in a namespace
/// of photod-watch's own. The tests change the folder behind the mount.
@Suite(
  .enabled(
    if: FUSE.isPermitted, "bindfs is not installed, or FUSE can't be mounted in a user namespace here"))
struct FileSystemTests {
  let disk: Disk
  /// What is changed; the mount shows the same.
  let behind: String

  init() throws {
    disk = try Disk()
    behind = disk.outside + "/behind"
    Disk.makeDirectories(behind)
  }

  /// Mounts now, or when a file of that name is made in `outside`; unmounts when "unmount" is made, or with photod-watch's
  /// end. Nothing is kept in caches.
  private func wrapper(_ mountPoint: String, waiting: Bool = false) throws -> String {
    let executable = try WatchSession.builtExecutable()
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
    if case .fileFound(_, let name, _) = record { name == Array(wanted.utf8) } else { false }
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
    // No event tells of these.
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
    // It is mounted over a directory that is known and watched: nothing but the table of mounts tells.
    Disk.write(disk.outside + "/mount", "")
    try await session.take { isPolling($0, 2, of: 4) }
    #expect(paths(session) == ["local/a.jpg", "share/d/b.jpg"])
    // What is young may be said again meanwhile.
    Disk.write(behind + "/d/c.jpg", "x")
    try await session.take { isFile($0, "c.jpg") }
    #expect(paths(session) == ["local/a.jpg", "share/d/b.jpg", "share/d/c.jpg"])
    disk.write("local/d.jpg")
    let said = try await session.take { isFile($0, "d.jpg") }
    #expect(!said.contains { if case .listingStarted = $0 { true } else { false } })
    // Gone, but by the word of a look only.
    Disk.write(disk.outside + "/unmount", "")
    let gone = try await session.take { if case .directoryGone = $0 { true } else { false } }
    for case .directoryGone(_, let evidence) in gone { #expect(evidence == .scan) }
    try await session.sync()
    #expect(paths(session) == ["local/a.jpg", "local/d.jpg"])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }
}
