import Glibc
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The library while its catalog can't be written, and its restart from the catalog.
@Suite struct BreakdownTests {
  private struct DiskFull: Error {}

  @Test(.timeLimit(.minutes(10)), arguments: [false, true]) func aRescanFailsAtOnce(isConfirmed: Bool) async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    await fixture.library.breakDown(DiskFull())
    await #expect(throws: LibraryError.self) {
      try await fixture.library.rescan(path: Array("/pics".utf8), dryRun: false, confirm: isConfirmed)
    }
    #expect(await fixture.library.rescans.waitingCount == 0)
  }

  private struct UniqueConstraint: Error, CustomStringConvertible {
    let description = "SQLite error 19: UNIQUE constraint failed: asset.id"
  }

  private static func failure(_ code: Int32) -> PrivateFileError { PrivateFile.failure("/c/log", "written", code) }

  /// The remedy is that of the error, and all messages about it end alike.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      (failure(ENOSPC), "/c/log can't be written: No space left on device. Make room on its disk."),
      (failure(EDQUOT), "/c/log can't be written: Disk quota exceeded. Make room on its disk."),
      (
        failure(EROFS),
        "/c/log can't be written: Read-only file system. Make the file and its folder writable for your user. "
          + "If their file system is read-only, check its disk (`dmesg`)."
      ),
      (failure(EIO), "/c/log can't be written: Input/output error. Check its disk (`dmesg`)."),
      (PhotoError("catalogReplaced", "The catalog is being replaced."), "The catalog is being replaced."),
      (
        UniqueConstraint(),
        "SQLite error 19: UNIQUE constraint failed: asset.id. This is a bug of photod. Please report it with the log "
          + "(`journalctl --user -u photod`)."
      ),
    ] as [(any Error & Sendable, String)])
  func theMessagesHaveTheRemedyOfTheError(error: any Error & Sendable, text: String) async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    #expect(fixture.disk.write("/pics/new.jpg", isDone: true))
    await fixture.library.breakDown(error)
    let end = "can't be written: \(text) photod tries again by itself."
    let warning = try #require(fixture.library.statusStore.status.warnings.first)
    #expect(warning.hasPrefix("The catalog /") && warning.hasSuffix(end), "\(warning)")
    let explanation = try await fixture.library.explain(path: Array("/pics/new.jpg".utf8))
    #expect(explanation.reason.hasSuffix("because the catalog \(end)"), "\(explanation.reason)")
    let timeout = Library.timedOut(after: .seconds(1), fixture.library.statusStore.catalogProblem)
    guard case .timedOut(let message) = timeout else { throw timeout }
    #expect(message.hasSuffix("within 1 s, because the catalog \(end)"), "\(message)")
  }

  /// The disk is still full: the first batch writes nothing, and a later one fails.
  @Test func batchesThatWriteNothingDoNotShortenTheDelay() async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    for delay in [1, 2, 4, 8] as [Int64] {
      #expect(await fixture.library.restart.delay == .seconds(delay))
      await fixture.library.breakDown(DiskFull())
      fixture.clock.pass(delay * seconds)
      await fixture.library.doWhatIsDue()
      #expect(await fixture.library.restart.breakdown == nil)
      let root = try #require(await fixture.library.rootNumbers.first)
      await fixture.take([.scanStarted(root: root, request: 0, reason: .start)])
    }
    let root = try #require(await fixture.library.rootNumbers.first)
    let identity = fixture.disk.identity(try #require(fixture.disk.resolve("/pics")))
    await fixture.take([
      .directoryFound(number: 9, parent: 0, root: root, name: [], identity: identity),
      .listingStarted(number: 9, evidence: .scan), .listingEnded(number: 9, complete: true),
      .scanEnded(root: root, request: 0, complete: true),
    ])
    #expect(await fixture.library.restart.delay == .seconds(1))
  }
}

extension Library {
  fileprivate var rootNumbers: [UInt16] { reconciler.roots.watched.map(\.number) }
}
