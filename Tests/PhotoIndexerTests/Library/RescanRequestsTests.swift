import Dispatch
import PhotoModel
import Synchronization
import Testing

@testable import PhotoIndexer

/// The rescans that photod-watch has to make.
@Suite(.timeLimit(.minutes(10))) struct RescanRequestsTests {
  /// Begins rescans as the library does, and records the folders of those that began.
  private final class Scans: Sendable {
    let requests = RescanRequests()
    private let begun = Mutex<[DirectoryID]>([])

    var folders: [DirectoryID] { begun.withLock { $0 } }

    func begin() {
      requests.beginWaiting { folder in
        begun.withLock { begun in
          begun.append(folder.directoryID)
          return UInt32(begun.count)
        }
      }
    }

    /// Returns when the caller is registered.
    ///
    /// - Parameter root: nil: a root for each folder.
    func ask(_ folder: DirectoryID, ofRoot root: UInt16? = nil) async -> Task<RescanCounts, any Error> {
      let root = root ?? UInt16(folder.rawValue)
      let (registered, isRegistered) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await self.requests.wait(for: .init(root: root, directoryID: folder, isConfirmed: false)) {
          self.begin()
          isRegistered.finish()
        }
      }
      for await _ in registered {}
      return task
    }
  }

  @Test func callersOfAFolderShareAScanThatWaits() async throws {
    let scans = Scans()
    defer { scans.requests.failAll(with: CancellationError()) }
    for folder in Int64(1)...4 { _ = await scans.ask(DirectoryID(rawValue: folder)) }
    var callers: [Task<RescanCounts, any Error>] = []
    for _ in 0..<50 { callers.append(await scans.ask(1)) }
    #expect(scans.folders == [1, 2, 3, 4] && scans.requests.waitingCount == 1)
    scans.requests.finish(1)
    scans.begin()
    #expect(scans.folders == [1, 2, 3, 4, 1], "the scan that had begun was not shared")
    scans.requests.finish(5)
    for caller in callers { _ = try await caller.value }
  }

  @Test func aScanWhoseCallersHaveGoneIsNotBegun() async throws {
    let scans = Scans()
    defer { scans.requests.failAll(with: CancellationError()) }
    for folder in Int64(1)...4 { _ = await scans.ask(DirectoryID(rawValue: folder)) }
    var gone: [Task<RescanCounts, any Error>] = []
    for folder in Int64(5)...300 { gone.append(await scans.ask(DirectoryID(rawValue: folder))) }
    let last = await scans.ask(1_000)
    #expect(scans.requests.waitingCount == 297)
    for caller in gone {
      caller.cancel()
      _ = await caller.result
    }
    #expect(scans.requests.waitingCount == 1)
    scans.requests.finish(2)
    scans.begin()
    #expect(scans.folders == [1, 2, 3, 4, 1_000])
    scans.requests.finish(5)
    _ = try await last.value
  }

  /// photod-watch gets the next request only after the library has taken in the result of the one before.
  @Test func aRootIsScannedOnceAtATime() async throws {
    let scans = Scans()
    defer { scans.requests.failAll(with: CancellationError()) }
    for folder in Int64(11)...13 { _ = await scans.ask(DirectoryID(rawValue: folder), ofRoot: 1) }
    _ = await scans.ask(21, ofRoot: 2)
    #expect(scans.folders == [11, 21])
    scans.requests.finish(2)
    scans.begin()
    #expect(scans.folders == [11, 21])
    scans.requests.finish(1)
    scans.begin()
    #expect(scans.folders == [11, 21, 12])
  }

  @Test(arguments: [true, false]) func aScanThatEndsBeforeItsCallerIsSuspendedAnswersIt(isSuccess: Bool) async throws {
    struct Failure: Error {}
    let scans = Scans()
    let ending = Task {
      try await scans.requests.wait(for: .init(root: 1, directoryID: 1, isConfirmed: false)) {
        scans.begin()
        if isSuccess { scans.requests.finish(1) } else { scans.requests.fail(1, with: Failure()) }
      }
    }
    switch await ending.result {
    case .success(let result): #expect(isSuccess && result == RescanCounts())
    case .failure(let error): #expect(!isSuccess && error is Failure)
    }
    // Nothing of the request is left.
    let next = await scans.ask(1)
    #expect(scans.folders == [1, 1])
    scans.requests.finish(2)
    _ = try await next.value
  }

  /// A queue as an executor, like that of the library. It can check whether the caller is on it.
  private final class MarkedExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "caller")

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private actor Caller {
    private let executor = MarkedExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Returns: whether the scan was begun on the caller's executor.
    func rescan(_ scans: Scans) async throws -> Bool {
      var isOwn = false
      _ = try await scans.requests.wait(for: .init(root: 1, directoryID: 1, isConfirmed: false)) {
        isOwn = MarkedExecutor.isCurrent
        scans.begin()
        scans.requests.finish(1)
      }
      return isOwn
    }
  }

  /// Otherwise the scan would begin concurrently with the library. Its records would be handled before its number is
  /// known.
  @Test func aScanIsBegunOnItsCallersExecutor() async throws {
    #expect(try await Caller().rescan(Scans()))
  }

  @Test func aScanThatIsBeingRequestedKeepsItsCallers() async throws {
    let requests = RescanRequests()
    let counts = Mutex<[Int]>([])
    let caller = Task {
      try await requests.wait(for: .init(root: 1, directoryID: 1, isConfirmed: false)) {
        requests.beginWaiting { _ in
          counts.withLock { $0.append(requests.waitingCount) }
          return 1
        }
        counts.withLock { $0.append(requests.waitingCount) }
        requests.finish(1)
      }
    }
    _ = try await caller.value
    #expect(counts.withLock { $0 } == [1, 0])
  }
}
