import Dispatch
import Synchronization

/// Limits how many processes read files of one file system at a time, so that a slow or hanging one never takes all.
///
/// 1. One share has at most one process. Its files come through one process anyway, one call at a time.
/// 2. All shares together have at most two processes.
/// 3. One drive has at most as many processes as files are read at a time (`readerCount`).
///
/// There are three processes more than `readerCount`. So while one drive hangs and any number of shares are slow, one
/// process is left for the other drives. A process that hangs is given up after the deadline of the `Extractor`, and counts no
/// more here.
final class ExtractorPermits: Sendable {
  private static let mostOfAllShares = 2
  /// How many processes there must be beyond `readerCount`: those of shares, and one.
  static let spareProcesses = mostOfAllShares + 1

  private let readerCount: Int
  private let shares = DispatchSemaphore(value: 0)
  /// The permits of each file system that was read. There are few, so none is removed.
  private let permits = Mutex<[MediaSource.FileSystem: DispatchSemaphore]>([:])

  init(readerCount: Int) {
    self.readerCount = readerCount
    // A semaphore traps if it is destroyed with fewer permits than it was made with. So the permits are added.
    for _ in 0..<Self.mostOfAllShares { shares.signal() }
  }

  /// Takes a permit. Each one must be given to ``putBack(_:)``.
  ///
  /// - Returns: false if there was none until the deadline.
  func take(_ fileSystem: MediaSource.FileSystem, until deadline: DispatchTime) -> Bool {
    let own = semaphore(of: fileSystem)
    guard own.wait(timeout: deadline) == .success else { return false }
    guard fileSystem.isShare, shares.wait(timeout: deadline) != .success else { return true }
    own.signal()
    return false
  }

  func putBack(_ fileSystem: MediaSource.FileSystem) {
    if fileSystem.isShare { shares.signal() }
    semaphore(of: fileSystem).signal()
  }

  private func semaphore(of fileSystem: MediaSource.FileSystem) -> DispatchSemaphore {
    permits.withLock { permits in
      if let known = permits[fileSystem] { return known }
      let semaphore = DispatchSemaphore(value: 0)
      for _ in 0..<(fileSystem.isShare ? 1 : readerCount) { semaphore.signal() }
      permits[fileSystem] = semaphore
      return semaphore
    }
  }
}
