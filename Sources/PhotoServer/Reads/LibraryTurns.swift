import PhotoModel
import Synchronization
import Varlink

/// Lets few calls at a time into the library's own queue. Processes take turns (``ProcessTurns``).
///
/// The library takes in what happens in its folders in the same queue, in the order of arrival. If all changes of a
/// client with a thousand connections waited there, new photos would have to wait for all of them.
package final class LibraryTurns: Sendable {
  /// Calls in the library's queue at a time; a process has one of them.
  private static let most = 2

  private let turns = Mutex(ProcessTurns<CheckedContinuation<Void, any Error>>(threadCount: most))

  package init() {}

  /// The number of calls that wait for their turn.
  var waitingCount: Int { turns.withLock { $0.waitingCount } }

  /// Runs `work` when its process has its turn.
  ///
  /// - Throws: `CancellationError` if the task was cancelled before, as when its connection closes; or an error from
  ///   `work`.
  func run<Value: Sendable>(for peer: VarlinkPeer, _ work: () async throws -> Value) async throws -> Value {
    try await wait(peer.pid)
    defer {
      // Processor time makes no process heavy here: a change takes little of it, and is slow because of the disk.
      turns.withLock { $0.end(of: peer.pid, processorTime: 0, at: .boot) }
      startWaiting()
    }
    return try await work()
  }

  private func wait(_ process: Int32) async throws {
    let number = Mutex<Int?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let added = turns.withLock { $0.append(continuation, of: process) }
        number.withLock { $0 = added }
        if Task.isCancelled { cancel(added, of: process) }
        startWaiting()
      }
    } onCancel: {
      if let number = number.withLock({ $0 }) { cancel(number, of: process) }
    }
  }

  /// A call whose turn has come goes on.
  private func cancel(_ number: Int, of process: Int32) {
    turns.withLock { $0.remove(number, of: process) }?.resume(throwing: CancellationError())
  }

  private func startWaiting() {
    while let turn = turns.withLock({ $0.next(at: .boot) }) { turn.job.resume() }
  }
}
