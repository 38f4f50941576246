import Dispatch
import Logging
import PhotoIndexer
import PhotoLive
import PhotoTestSupport
import Synchronization
import Testing

/// The turn of the library that photod reports to the watchdog.
@Suite struct LivenessTests {
  /// The steps of the executor, in their order.
  private final class Order: Sendable {
    private let steps = Mutex<[String]>([])
    func add(_ step: String) { steps.withLock { $0.append(step) } }
    var all: [String] { steps.withLock { $0 } }
  }

  @Test func aLibraryWhoseExecutorHangsDoesNotProveThatItIsAlive() async throws {
    let order = Order()
    let (proofs, proven) = AsyncStream.makeStream(of: Void.self)
    let noteRelease: @Sendable () -> Void = { order.add("released") }
    try await whileExecutorHangs(onRelease: noteRelease) { library, release in
      library.whenAlive {
        order.add("alive")
        proven.finish()
      }
      // A proof that does not come from the executor has this time to come before the release.
      await #expect(throws: LibraryError.self) { try await library.synchronize(timeout: .milliseconds(10)) }
      release()
      for await _ in proofs {}
    }
    #expect(order.all == ["released", "alive"])
  }

  /// The executor is released only after the call has ended. If the call waited for it, this test would not end.
  @Test(.timeLimit(.minutes(10))) func synchronizeEndsAtItsTimeoutWhileALongBatchRuns() async throws {
    try await whileExecutorHangs { library, release in
      let error = await #expect(throws: LibraryError.self) {
        try await library.synchronize(timeout: .milliseconds(10))
      }
      guard case .timedOut = error else { throw error ?? LibraryError.unavailable("no error") }
      release()
    }
  }

  /// Runs `body` while the library's executor is blocked, until `body` calls `release`.
  ///
  /// - Parameter onRelease: Called on the executor when it continues.
  private func whileExecutorHangs(
    onRelease: @escaping @Sendable () -> Void = {},
    _ body: (_ library: Library, _ release: () -> Void) async throws -> Void
  ) async throws {
    let environment = try TestCatalog("liveness")
    let (entered, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let watcher = ScriptedWatcher { _ in
      entered.signal()
      mayGoOn.wait()
      onRelease()
    }
    let library = try Library(
      catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: watcher,
      extractor: TestExtractor.make(),
      configuration: .init(roots: [], version: "1"),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    await withCheckedContinuation { continuation in library.whenAlive { continuation.resume() } }
    async let hung: Void = library.setRoots([], ignore: [], removalGrace: .zero)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        entered.wait()
        continuation.resume()
      }
    }
    try await body(library) { mayGoOn.signal() }
    await hung
    try environment.catalog.close()
  }
}
