import Dispatch
import Glibc
import PhotoModel
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The rescans that change nothing.
@Suite(.timeLimit(.minutes(10))) struct DryRunsTests {
  /// An empty folder. Each walk lists it, and waits there until the test lets it go on.
  private final class Files: PhotoFiles {
    let memory = MemoryDisk()
    let walks = ChangeFeed(sequence: 0)
    private let mayGoOn = DispatchSemaphore(value: 0)

    func letGoOn(_ count: Int = 1) { for _ in 0..<count { mayGoOn.signal() } }

    func list(_ folder: [UInt8]) -> FolderLookup {
      walks.publish(walks.sequence + 1)
      mayGoOn.wait()
      return .entries([])
    }

    func stat(_ path: [UInt8]) -> FileStat? { memory.stat(path) }
    func exists(_ path: [UInt8]) -> Bool { true }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading { .raced }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
    var readCount: Int { 0 }
  }

  private let files = Files()
  private let dryRuns = DryRuns()
  private let fixture: ReconcilerFixture

  init() throws {
    fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.found(2, "x", inode: 2))
  }

  private var top: DirectoryID { fixture.reconciler.tree.directory(number: 1)! }
  private var folder: DirectoryID { fixture.reconciler.tree.directory(number: 2)! }

  private func snapshot() -> DryRuns.Snapshot {
    DryRuns.Snapshot(
      tree: fixture.reconciler.tree, volumes: fixture.reconciler.volumes, roots: fixture.reconciler.roots,
      policy: fixture.reconciler.policy, rules: WatchRules.nameRules(ignoring: []), catalog: fixture.catalog,
      files: files)
  }

  /// Returns when the caller waits for its walk.
  private func ask(_ folders: [DirectoryID]) async -> Task<RescanCounts, any Error> {
    let before = dryRuns.callerCount
    let task = Task { [dryRuns, snapshot = snapshot()] in try await dryRuns.counts(of: folders, in: snapshot) }
    while dryRuns.callerCount == before { await Task.yield() }
    return task
  }

  @Test func callersOfAFolderShareAWalkThatWaits() async throws {
    let first = await ask([top])
    _ = await files.walks.next(after: 0)
    var callers: [Task<RescanCounts, any Error>] = []
    for _ in 0..<300 { callers.append(await ask([top])) }
    #expect(dryRuns.waitingCount == 1, "the walk that had begun was not shared")
    files.letGoOn(2)
    _ = try await first.value
    for caller in callers { #expect(try await caller.value == RescanCounts()) }
    #expect(files.walks.sequence == 2 && dryRuns.callerCount == 0 && dryRuns.waitingCount == 0)
  }

  @Test func aWalkWhoseCallersHaveGoneIsNotMade() async throws {
    let first = await ask([top])
    _ = await files.walks.next(after: 0)
    let gone = [await ask([folder]), await ask([folder])]
    let last = await ask([folder, top])
    #expect(dryRuns.waitingCount == 2)
    for caller in gone {
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.value }
    }
    #expect(dryRuns.waitingCount == 1)
    files.letGoOn(3)
    _ = try await first.value
    _ = try await last.value
    #expect(files.walks.sequence == 3, "one for the first walk, and two for the folders of the last one")
  }

  @Test func aWalkEndsWhenItsLastCallerHasGone() async throws {
    let first = await ask([top, folder])
    _ = await files.walks.next(after: 0)
    let next = await ask([top])
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    files.letGoOn(2)
    _ = try await next.value
    #expect(files.walks.sequence == 2, "the second folder of the first walk was not listed")
  }

  /// A caller may have been told of a photo that came after the walk was requested.
  @Test func aSharedWalkComparesWithTheLibraryOfItsLastCaller() async throws {
    let first = await ask([top])
    _ = await files.walks.next(after: 0)
    let early = await ask([top])
    fixture.disk.write("/p/y/a.jpg")
    let stat = try #require(fixture.disk.stat(Fixture.bytes("/p/y/a.jpg")))
    try fixture.apply(Fixture.found(3, "y", inode: 3), Fixture.file("a.jpg", in: 3, stat))
    let late = await ask([top])
    files.letGoOn(2)
    #expect(try await first.value.removed == 0)
    for caller in [early, late] { #expect(try await caller.value.removed == 1, "the disk is empty") }
  }

  @Test func aFolderThatWentMeanwhileIsLeftOut() async throws {
    let first = await ask([top])
    _ = await files.walks.next(after: 0)
    let second = await ask([folder])
    try fixture.apply(.directoryGone(number: 2, evidence: .event))
    let third = await ask([top])
    files.letGoOn(2)
    for caller in [first, second, third] { #expect(try await caller.value == RescanCounts()) }
    #expect(files.walks.sequence == 2)
  }
}
