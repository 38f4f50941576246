// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// Mounts in a separate namespace. Without permission for one, these tests are skipped. A script beside photod-watch,
/// in its namespace, mounts and unmounts when the test creates a file.
@Suite(.timeLimit(.minutes(10))) struct MountTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  /// - Parameters:
  ///   - first: shell commands before photod-watch starts.
  ///   - later: shell commands beside it. `await` waits for a file, and `$$` is the process of photod-watch.
  private func wrapper(first: String, later: String) -> String {
    let executable = BuiltPrograms.path("photod-watch")
    Disk.write(
      disk.outside + "/mounts",
      """
      #!/bin/sh
      attach() { mount -t tmpfs none "$1"; mkdir "$1/a"; echo x > "$1/a/one.jpg"; }
      detach() { until umount "$1"; do sleep 0.02; done; }
      await() { while [ ! -e "\(disk.outside)/$1" ] && [ -d "\(disk.outside)" ]; do sleep 0.02; done; }
      \(first)
      ( exec 3<&- 2>/dev/null
        \(later) ) &
      exec \(executable)
      """)
    Disk.write(disk.outside + "/wrapper", "#!/bin/sh\nexec unshare -Urm sh \(disk.outside)/mounts\n")
    chmod(disk.outside + "/wrapper", 0o755)
    return disk.outside + "/wrapper"
  }

  private func wrapper(_ mountPoint: String) -> String {
    wrapper(
      first: "attach '\(mountPoint)'",
      later: "await unmount; detach '\(mountPoint)'; await mount; attach '\(mountPoint)'")
  }

  @Test(.enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"))
  func anUnmountedRootIsOfflineWithoutRemovalsAndComesBack() async throws {
    disk.makeDirectory("drive")
    let session = try await WatchSession(roots: [disk.path("drive")], executable: wrapper(disk.path("drive")))
    #expect(session.model.files.count == 1)
    Disk.write(disk.outside + "/unmount", "")
    let said = try await session.take { if case .rootOffline = $0 { true } else { false } }
    #expect(!said.contains { if case .directoryGone = $0 { true } else { false } })
    #expect(!said.contains { if case .fileGone = $0 { true } else { false } })
    // The empty directory below the mount is a root as well. Doubting it is photod's task.
    try await session.sync()
    #expect(session.model.files.isEmpty)
    Disk.write(disk.outside + "/mount", "")
    try await session.take { if case .fileFound = $0 { true } else { false } }
    try await session.sync()
    #expect(session.model.files.count == 1)
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }

  @Test(.enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"))
  func aDirectoryUnmountedBelowARootIsGoneByScanOnly() async throws {
    disk.makeDirectory("drive")
    disk.write("kept.jpg")
    let session = try await WatchSession(roots: [disk.root], executable: wrapper(disk.path("drive")))
    #expect(session.model.files.count == 2)
    Disk.write(disk.outside + "/unmount", "")
    let said = try await session.take { if case .directoryGone = $0 { true } else { false } }
    for case .directoryGone(_, let evidence) in said { #expect(evidence == .scan) }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// UNMOUNT and the removal of the mount point are queued together. The photos are still on the drive. If the drive has
  /// no watch, there is no UNMOUNT.
  @Test(
    .enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"), arguments: [true, false])
  func anUnmountedDirectoryWhoseMountPointIsRemovedIsGoneByScanOnly(isWatched: Bool) async throws {
    let drive = disk.path("drive")
    disk.makeDirectory("drive")
    disk.write("kept.jpg")
    let session = try await WatchSession(
      roots: [disk.root],
      executable: wrapper(
        first: "attach '\(drive)'" + (isWatched ? "" : "; echo 4 > /proc/sys/user/max_inotify_watches"),
        later: """
          await unmount
          # An open descriptor of photod-watch keeps the drive busy.
          until kill -STOP $$ && umount '\(drive)'; do kill -CONT $$; sleep 0.02; done
          rmdir '\(drive)'; kill -CONT $$
          """))
    #expect(session.model.files.count == 2)
    Disk.write(disk.outside + "/unmount", "")
    let said = try await session.take { if case .directoryGone = $0 { true } else { false } }
    for case .directoryGone(_, let evidence) in said { #expect(evidence == .scan) }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The root itself, or another known directory, is mounted over a known directory. This stays reported when the directory
  /// above is listed again.
  @Test(
    .enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"), arguments: ["", "source"])
  func aLoopOverAKnownDirectoryStaysReported(source: String) async throws {
    disk.write("source/a.jpg")
    disk.write("target/b.jpg")
    let target = disk.path("target")
    let mounted = source.isEmpty ? disk.root : disk.path(source)
    let session = try await WatchSession(
      roots: [disk.root], executable: wrapper(first: "", later: "await mount; mount --bind '\(mounted)' '\(target)'"))
    #expect(session.model.files.count == 2)
    Disk.write(disk.outside + "/mount", "")
    let unreadable: Set = [Array(target.utf8)]
    // The change of the mount table is no event, so no sync waits for it.
    try await eventually("the loop is reported", within: .seconds(20)) {
      try await session.sync()
      return session.model.unreadablePaths == unreadable
    }
    // Without its signature, the file only makes photod-watch list the directory above.
    let count = session.records.count
    disk.write("CACHEDIR.TAG", "no signature")
    try await session.sync()
    #expect(session.records[count...].contains { if case .listingEnded = $0 { true } else { false } })
    #expect(session.model.unreadablePaths == unreadable)
    await session.watcher.stop()
  }

  /// The mount shows a known directory at a second place.
  @Test(.enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"))
  func aDirectoryThatIsAlsoMountedElsewhereIsKept() async throws {
    disk.write("source/a.jpg")
    disk.makeDirectory("target")
    let target = disk.path("target")
    let session = try await WatchSession(
      roots: [disk.root],
      executable: wrapper(
        first: "",
        later: """
          await mount; mount --bind '\(disk.path("source"))' '\(target)'; touch '\(disk.outside)/mounted'
          await unmount; detach '\(target)'; touch '\(disk.outside)/unmounted'
          """))
    /// The change of the mount table is no event. So no sync waits for it, but a record shows it.
    func wait(for name: String, until condition: (WatchRecord) -> Bool) async throws {
      try await eventually("the script has finished: \(name)") { access(disk.outside + "/" + name, F_OK) == 0 }
      try await session.take(until: condition)
      try await session.sync()
    }
    #expect(session.model.files.count == 1)
    Disk.write(disk.outside + "/mount", "")
    try await wait(for: "mounted") { if case .unreadable(_, Array("target".utf8), ELOOP) = $0 { true } else { false } }
    let request = session.watcher.rescan(root: 1, directory: nil)
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    let hasMoved = session.records.contains { if case .directoryMoved = $0 { true } else { false } }
    #expect(session.model.files.count == 1 && !hasMoved, "it stays at its first place")
    Disk.write(disk.outside + "/unmount", "")
    try await wait(for: "unmounted") { if case .listingEnded = $0 { true } else { false } }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }
}
