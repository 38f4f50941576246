// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// Files that the user excludes, by a marker in a folder or by a pattern of the configuration.
@Suite(.timeLimit(.minutes(10))) struct IgnoreTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  static let signature = "Signature: 8a477f597d28d172789f06886806bc55\n"

  /// The known files, relative to the root.
  private func known(_ session: WatchSession) -> [String] {
    session.model.files.keys.map { String(decoding: $0.dropFirst(disk.root.utf8.count + 1), as: UTF8.self) }.sorted()
  }

  private func set(_ patterns: [String], _ session: WatchSession) {
    session.watcher.setIgnoredPatterns(patterns.map { Array($0.utf8) })
  }

  private func gone(_ records: [WatchRecord]) -> [Evidence] {
    records.compactMap { if case .directoryGone(_, let evidence) = $0 { evidence } else { nil } }
  }

  // MARK: Markers

  @Test(arguments: [".nomedia", ".trackerignore", "CACHEDIR.TAG"])
  func aMarkerExcludesItsFolderAsLongAsItExists(marker: String) async throws {
    disk.write("a/one.jpg")
    disk.write("a/b/c/two.jpg")
    disk.write("d/three.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.write("a/\(marker)", Self.signature)
    var said = try await session.sync()
    #expect(known(session) == ["d/three.jpg"])
    #expect(gone(said) == [.event])
    #expect(said.contains { if case .ignored(_, []) = $0 { true } else { false } })
    // Nothing below is looked at meanwhile. Files created there are found once the marker is gone.
    disk.write("a/b/c/four.jpg")
    said = try await session.sync()
    #expect(said.count == 1)
    unlink(disk.path("a/\(marker)"))
    try await session.sync()
    #expect(known(session) == ["a/b/c/four.jpg", "a/b/c/two.jpg", "a/one.jpg", "d/three.jpg"])
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aMarkerInTheTopOfARootEmptiesIt() async throws {
    disk.write("one.jpg")
    disk.write("a/two.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.write(".nomedia", "")
    try await session.sync()
    #expect(known(session).isEmpty)
    unlink(disk.path(".nomedia"))
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aRenamedMarkerCountsOnlyInItsNewFolder() async throws {
    disk.write("a/one.jpg")
    disk.write("b/two.jpg")
    disk.write("b/.nomedia", "")
    Disk.write(disk.outside + "/.nomedia", "")
    let session = try await WatchSession(roots: [disk.root])
    #expect(known(session) == ["a/one.jpg"])
    disk.rename("b/.nomedia", "a/.nomedia")
    try await session.sync()
    #expect(known(session) == ["b/two.jpg"])
    disk.rename("a/.nomedia", "a/nomedia.txt")
    try await session.sync()
    #expect(known(session) == ["a/one.jpg", "b/two.jpg"])
    Glibc.rename(disk.outside + "/.nomedia", disk.path("a/.nomedia"))
    try await session.sync()
    #expect(known(session) == ["b/two.jpg"])
    await session.watcher.stop()
  }

  @Test func aFolderWithAMarkerKeepsItWhereverItMoves() async throws {
    Disk.makeDirectories(disk.outside + "/x/deep")
    Disk.write(disk.outside + "/x/deep/a.jpg", "x")
    Disk.write(disk.outside + "/x/.nomedia", "")
    disk.write("y/b.jpg")
    let session = try await WatchSession(roots: [disk.root])
    Glibc.rename(disk.outside + "/x", disk.path("x"))
    try await session.sync()
    #expect(known(session) == ["y/b.jpg"])
    disk.rename("x", "y/x")
    try await session.sync()
    #expect(known(session) == ["y/b.jpg"])
    // A folder that leaves it is wanted.
    disk.rename("y/x/deep", "deep")
    try await session.sync()
    #expect(known(session) == ["deep/a.jpg", "y/b.jpg"])
    await session.watcher.stop()
  }

  @Test func aCacheTagCountsFromItsSignatureOn() async throws {
    disk.write("a/one.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.write("a/CACHEDIR.TAG", "")
    try await session.sync()
    #expect(known(session) == ["a/one.jpg"])
    disk.write("a/CACHEDIR.TAG", Self.signature)
    try await session.sync()
    #expect(known(session).isEmpty)
    disk.write("a/CACHEDIR.TAG", "no longer")
    try await session.sync()
    #expect(known(session) == ["a/one.jpg"])
    await session.watcher.stop()
  }

  /// A directory without a watch is polled by its times, which do not change when a file in it is written.
  @Test(.enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"))
  func markersCountInPolledDirectoriesToo() async throws {
    for index in 0..<12 { disk.write("d\(index)/a.jpg") }
    let session = try await WatchSession(
      roots: [disk.root], executable: Namespace.wrapper(disk, .watches, 6))
    #expect(known(session).count == 12)
    for index in 0..<12 { disk.write("d\(index)/CACHEDIR.TAG", "") }
    try await session.sync()
    #expect(known(session).count == 12)
    // A directory that changed within the last two seconds would be listed in any case.
    try await Disk.wait(untilUnchangedFor: .milliseconds(2100), (0..<12).map { disk.path("d\($0)") })
    try await session.sync()
    for index in 0..<12 {
      let file = open(disk.path("d\(index)/CACHEDIR.TAG"), O_WRONLY)
      var text = Self.signature
      #expect(text.withUTF8 { write(file, $0.baseAddress, $0.count) } == text.utf8.count)
      close(file)
    }
    try await session.sync()
    #expect(known(session).isEmpty)
    for index in 0..<12 { disk.rename("d\(index)/CACHEDIR.TAG", "d\(index)/b.jpg") }
    try await session.sync()
    #expect(known(session).count == 24)
    await session.watcher.stop()
  }

  // MARK: Patterns

  @Test func configuredPatternsExcludeDirectoriesBeforeTheyAreWatched() async throws {
    disk.write("a.jpg")
    disk.write("b.heic")
    disk.write("Exports/c.jpg")
    disk.write("x/Exports/d/e.jpg")
    disk.write("x/Cache/f.jpg")
    disk.write("Cache/g.jpg")
    let session = try await WatchSession(
      roots: [disk.root], patterns: ["Exports", "*.heic", "Cache/**", "\(disk.root)/x/*.jpg"])
    #expect(known(session) == ["a.jpg", "x/Cache/f.jpg"])
    #expect(session.model.directories.count == 3)
    // The patterns also apply to events.
    disk.write("new.heic")
    disk.write("x/h.jpg")
    disk.write("y/Exports/i.jpg")
    disk.write("y/j.jpg")
    try await session.sync()
    #expect(known(session) == ["a.jpg", "x/Cache/f.jpg", "y/j.jpg"])
    // A file that is renamed to an excluded name is gone. One that is renamed from an excluded name is new.
    disk.rename("y/j.jpg", "x/j.jpg")
    disk.rename("x/Cache", "Exports2")
    disk.rename("Exports2", "x/Exports/Cache")
    disk.rename("x/h.jpg", "y/h.jpg")
    try await session.sync()
    #expect(known(session) == ["a.jpg", "y/h.jpg"])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }

  @Test func newPatternsTakeEffectAtOnce() async throws {
    disk.write("a.jpg")
    disk.write("b.heic")
    disk.write("Exports/c.jpg")
    disk.write("x/Exports/d/e.jpg")
    let session = try await WatchSession(roots: [disk.root])
    set(["Exports", "*.heic"], session)
    var said = try await session.sync()
    // The model takes a name that a listing lacks as gone. A consumer with a brake needs the `ignored` records.
    #expect(known(session) == ["a.jpg"])
    #expect(gone(said) == [.event, .event])
    #expect(said.contains { if case .ignored(_, Array("b.heic".utf8)) = $0 { true } else { false } })
    #expect(said.contains { if case .scanStarted(1, 0, .rules) = $0 { true } else { false } })
    set(["*.heic"], session)
    try await session.sync()
    #expect(known(session) == ["Exports/c.jpg", "a.jpg", "x/Exports/d/e.jpg"])
    // Setting the same patterns again causes no scan.
    set(["*.heic"], session)
    said = try await session.sync()
    #expect(said.count == 1)
    set([], session)
    try await session.sync()
    #expect(known(session) == ["Exports/c.jpg", "a.jpg", "b.heic", "x/Exports/d/e.jpg"])
    await session.watcher.stop()
  }

  /// photod-watch receives the patterns before it reads the renames.
  @Test func aFolderThatHasLeftAnExcludedNameIsNotGone() async throws {
    disk.write("x/a.jpg")
    disk.write("y/b.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    disk.rename("x", "z")
    disk.rename("y", "x")
    set(["x"], session)
    kill(process, SIGCONT)
    let said = try await session.sync()
    #expect(known(session) == ["z/a.jpg"])
    #expect(gone(said) == [.event])
    #expect(said.contains { if case .directoryMoved(_, _, Array("z".utf8)) = $0 { true } else { false } })
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }

  /// When the pattern came, the file was only created. It is looked at when it rests, and is no longer wanted then.
  @Test func aFileThatIsOpenWhenAPatternComesIsNotReported() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let descriptor = open(disk.path("b.jpg"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    #expect(write(descriptor, "x", 1) == 1)
    disk.write("c.jpg")
    // The record of the second file proves that the event of the first was read.
    try await session.take { if case .fileFound(_, Array("c.jpg".utf8), _, _) = $0 { true } else { false } }
    set(["b.jpg"], session)
    try await session.take { if case .scanEnded = $0 { true } else { false } }
    try await session.sync()
    #expect(known(session) == ["c.jpg"])
    close(descriptor)
    try await session.sync()
    #expect(known(session) == ["c.jpg"])
    await session.watcher.stop()
  }

  @Test func patternsSurviveARestartOfPhotodWatch() async throws {
    disk.write("a.jpg")
    disk.write("Exports/c.jpg")
    let session = try await WatchSession(roots: [disk.root])
    set(["Exports"], session)
    try await session.sync()
    kill(try #require(session.watcher.processID), SIGKILL)
    while session.deaths.isEmpty { try await session.takeInput() }
    try await session.sync()
    #expect(known(session) == ["a.jpg"])
    await session.watcher.stop()
  }

  @Test func aMovedFolderIsJudgedByItsNewPath() async throws {
    disk.write("raw/x/old/a.jpg")
    disk.write("raw/x/new/b.jpg")
    disk.write("raw/x/c.jpg")
    let session = try await WatchSession(roots: [disk.root], patterns: ["raw/x/old", "done/x/new/", "done/x/c.jpg"])
    #expect(known(session) == ["raw/x/c.jpg", "raw/x/new/b.jpg"])
    disk.rename("raw", "done")
    try await session.sync()
    #expect(known(session) == ["done/x/old/a.jpg"])
    disk.rename("done", "raw")
    try await session.sync()
    #expect(known(session) == ["raw/x/c.jpg", "raw/x/new/b.jpg"])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }
}
