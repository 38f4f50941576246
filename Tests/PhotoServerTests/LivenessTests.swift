import Dispatch
import Foundation
import Logging
import PhotoCatalog
import PhotoIndexer
import PhotoWatch
import Synchronization
import Testing
import WatchRecords

/// The turn that photod's watchdog is told of.
@Suite struct LivenessTests {
  /// Holds up whoever gives it roots, which the library does on its own executor.
  private final class BlockingWatcher: WatchSource {
    let isEntered = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)

    func nextInput() async -> WatchInput? { nil }
    func start() throws {}
    func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 { 0 }
    func sync(number: UInt64) {}
    func stop() async {}

    func setRoots(_ roots: [WatchRoot]) {
      isEntered.signal()
      mayGoOn.wait()
    }
  }

  @Test func aLibraryWhoseExecutorHangsDoesNotProveThatItIsAlive() async throws {
    let folder = NSTemporaryDirectory() + "photod-liveness-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let catalog = try Catalog(path: folder + "/catalog.sqlite")
    let watcher = BlockingWatcher()
    let library = try Library(
      catalog: catalog, watcher: watcher, configuration: .init(roots: [], version: "1"),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    await library.proveAlive()

    async let hung: Void = library.setRoots([], ignore: [], removalGrace: .zero)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        watcher.isEntered.wait()
        continuation.resume()
      }
    }
    let isAlive = Atomic(false)
    let proof = Task {
      await library.proveAlive()
      isAlive.store(true, ordering: .releasing)
    }
    // It would answer within microseconds if it could.
    try await Task.sleep(for: .milliseconds(300))
    let hasAnswered = isAlive.load(ordering: .acquiring)
    #expect(!hasAnswered)
    watcher.mayGoOn.signal()
    await proof.value
    await hung
    try catalog.close()
    try FileManager.default.removeItem(atPath: folder)
  }
}
