// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// Folders that photod-watch may not read for a time.
@Suite(.timeLimit(.minutes(10))) struct PermissionTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  /// No event reports the permissions of a folder above a root.
  ///
  /// - Parameter move: whether a folder is moved, or else files are written.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"), arguments: [false, true])
  func changesWhileAFolderAboveARootIsForbiddenAreFound(move: Bool) async throws {
    let root = disk.path("up/photos")
    for file in ["deep/a.jpg", "Q/X/x.jpg", "P/p.jpg"] { disk.write("up/photos/\(file)") }
    system("chown -R 12345:12345 '\(disk.root)'")
    let session = try await WatchSession(roots: [root], executable: try Namespace.wrapper(disk, .watches, 1000))
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    if move {
      disk.rename("up/photos/Q/X", "up/photos/P/Y")
    } else {
      for file in ["deep/b.jpg", "newdir/c.jpg", "top.jpg"] { disk.write("up/photos/\(file)") }
    }
    chmod(disk.path("up"), 0)
    kill(process, SIGCONT)
    let before = session.records.count
    try await session.take {
      switch $0 {
      case .unreadable(_, _, EACCES), .rootOffline(1, EACCES): true
      default: false
      }
    }
    chmod(disk.path("up"), 0o755)
    try await session.syncOnline()
    session.expectDiskState([root])
    #expect(!session.records[before...].contains { if case .directoryGone(_, .event) = $0 { true } else { false } })
    await session.watcher.stop()
  }

  /// The permissions have changed back before photod-watch can find the folder that refused access.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"), arguments: 1...8)
  func changesWhileAccessIsRefusedForAMomentAreFound(refusals: Int) async throws {
    for file in ["deep/a.jpg", "Q/X/x.jpg", "P/p.jpg"] { disk.write(file) }
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(
        disk, Interposer.refusal(count: refusals, of: disk.root, once: disk.outside + "/begin")))
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    for file in ["deep/b.jpg", "newdir/c.jpg", "top.jpg"] { disk.write(file) }
    disk.rename("Q/X", "P/Y")
    Disk.write(disk.outside + "/begin", "")
    let before = session.records.count
    kill(process, SIGCONT)
    try await session.syncOnline()
    session.expectDiskState([disk.root])
    #expect(!session.records[before...].contains { if case .directoryGone(_, .event) = $0 { true } else { false } })
    await session.watcher.stop()
  }

  /// The folder above a new folder was forbidden when photod-watch tried to enter the new one, and is not any more.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"))
  func aNewFolderThatRefusedOnceIsEntered() async throws {
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(
        disk, Interposer.refusal(count: 1, of: "newdir", once: disk.outside + "/begin")))
    Disk.write(disk.outside + "/begin", "")
    disk.write("newdir/a.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.unreadablePaths.isEmpty)
    await session.watcher.stop()
  }

  /// A folder that is renamed while it is forbidden is no longer reported under its old name.
  @Test(.enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"))
  func aForbiddenFolderIsReportedOnlyUnderItsNewName() async throws {
    disk.write("C/x.jpg")
    let session = try await startAsStranger()
    chmod(disk.path("C"), 0)
    try await session.sync()
    #expect(session.model.unreadablePaths == [Array(disk.path("C").utf8)])
    disk.rename("C", "D")
    try await session.sync()
    #expect(session.model.unreadablePaths == [Array(disk.path("D").utf8)])
    chmod(disk.path("D"), 0o755)
    try await session.sync()
    #expect(session.model.unreadablePaths.isEmpty)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// A folder was forbidden from the start. Then it leaves.
  ///
  /// - Parameter replaced: whether another folder gets its name.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"), arguments: [false, true])
  func theReportOfAForbiddenFolderEndsWhenItLeaves(replaced: Bool) async throws {
    disk.write("C/x.jpg")
    disk.write("K/k.jpg")
    chmod(disk.path("C"), 0)
    let session = try await startAsStranger()
    #expect(session.model.unreadablePaths == [Array(disk.path("C").utf8)])
    try #require(rename(disk.path("C"), disk.outside + "/C") == 0)
    if replaced { disk.rename("K", "C") }
    try await session.sync()
    #expect(session.model.unreadablePaths.isEmpty)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The contents of CACHEDIR.TAG decide, so they are read again when they become readable.
  @Test(.enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"))
  func aCacheTagThatBecomesReadableCounts() async throws {
    disk.write("C/x.jpg")
    disk.write("C/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
    chmod(disk.path("C/CACHEDIR.TAG"), 0)
    let session = try await startAsStranger()
    #expect(session.model.files.count == 1)
    chmod(disk.path("C/CACHEDIR.TAG"), 0o644)
    try await session.sync()
    #expect(session.model.files.isEmpty)
    await session.watcher.stop()
  }

  /// Starts a photod-watch that has only the rights of others in the root.
  private func startAsStranger() async throws -> WatchSession {
    system("chown -R 12345:12345 '\(disk.root)'")
    return try await WatchSession(roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
  }
}

extension WatchSession {
  /// Waits until the model includes all changes up to now, and its only root is online.
  fileprivate func syncOnline() async throws {
    try await sync()
    while model.directories.isEmpty {
      try await take { if case .scanEnded(_, _, true) = $0 { true } else { false } }
      try await sync()
    }
  }
}
