import PhotoCatalog
import Synchronization

/// What a rescan found that was not known.
package struct RescanResult: Sendable, Equatable {
  package var inserted = 0
  package var updated = 0
  package var removed = 0
  /// Of a dry run: as many of those that are missing would stay for now, until a second scan misses them as well.
  package var heldBack = 0

  package init() {}
}

/// Those who wait for a scan that they asked for, with what it found so far.
final class RescanDesk: Sendable {
  private struct Rescan {
    var found = RescanResult()
    /// Nil until somebody waits.
    var continuation: CheckedContinuation<RescanResult, any Error>?
    /// It ended before anybody waited.
    var outcome: Result<RescanResult, any Error>?
  }

  private let rescans = Mutex<[UInt32: Rescan]>([:])

  /// From now on what the scan finds is counted. The caller waits for it next.
  func open(_ request: UInt32) { rescans.withLock { $0[request] = Rescan() } }

  /// Returns when the scan has ended.
  func wait(for request: UInt32) async throws -> RescanResult {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = rescans.withLock { rescans -> Result<RescanResult, any Error>? in
          if Task.isCancelled { rescans[request]?.outcome = .failure(CancellationError()) }
          guard let rescan = rescans[request], rescan.outcome == nil else {
            return rescans.removeValue(forKey: request)?.outcome ?? .failure(CancellationError())
          }
          rescans[request]!.continuation = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      end(request) { _ in .failure(CancellationError()) }
    }
  }

  /// Scans whose number this is count what a commit changed.
  func add(_ record: CommitRecord, to requests: some Sequence<UInt32>) {
    rescans.withLock { rescans in
      for request in requests {
        rescans[request]?.found.inserted += record.insertedAssets.count
        rescans[request]?.found.updated += record.updatedAssets.count
        rescans[request]?.found.removed += record.deletedAssets.count
      }
    }
  }

  func finish(_ request: UInt32) { end(request) { .success($0) } }

  func fail(_ request: UInt32, with error: any Error) { end(request) { _ in .failure(error) } }

  func failAll(with error: any Error) {
    for request in rescans.withLock({ Array($0.keys) }) { fail(request, with: error) }
  }

  private func end(_ request: UInt32, _ outcome: (RescanResult) -> Result<RescanResult, any Error>) {
    let waiting = rescans.withLock { rescans -> (CheckedContinuation<RescanResult, any Error>, RescanResult)? in
      guard let rescan = rescans[request], rescan.outcome == nil else { return nil }
      guard let continuation = rescan.continuation else {
        rescans[request]!.outcome = outcome(rescan.found)
        return nil
      }
      rescans[request] = nil
      return (continuation, rescan.found)
    }
    if let (continuation, found) = waiting { continuation.resume(with: outcome(found)) }
  }
}
