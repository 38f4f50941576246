import PhotoModel
import Synchronization

/// A session of `org.photod.images`: requests go in, and results are pulled.
///
/// All members can be called from any thread. Results leave by ``takeResults()``, or by ``sendResults(_:)``, which also lets
/// ``cancel(_:)`` wait until the results that were taken are on the stream.
package final class ImageSession: Sendable {
  /// 128 random bits in hexadecimal.
  package let name: String
  let number: Int
  private let engine: ImageEngine
  private let sending = Mutex(Sending.idle)

  private enum Sending {
    case idle
    /// Results are on their way to the stream. These cancellations wait for them.
    case active(waiters: [CheckedContinuation<Void, Never>])
  }

  init(number: Int, engine: ImageEngine) {
    name = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { bits in
      let digits = String(bits, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    self.number = number
    self.engine = engine
  }

  /// Adds requests: all or none. Results may be there before this returns.
  package func request(_ demands: [ImageDemand]) throws(ImageRequestError) { try engine.request(demands, number) }

  /// Cancels requests. It returns when the results that ``sendResults(_:)`` had taken are on the stream.
  ///
  /// - Parameter ids: nil means all that are open.
  /// - Returns: the requests that get no further result. The final result of any other was sent.
  package func cancel(_ ids: [Int64]?) async -> [Int64] {
    let cancelled = engine.cancel(ids, number)
    await withCheckedContinuation { continuation in
      let waits = sending.withLock { sending in
        guard case .active(let waiters) = sending else { return false }
        sending = .active(waiters: waiters + [continuation])
        return true
      }
      if !waits { continuation.resume() }
    }
    return cancelled
  }

  /// Adds members to the caching set: an asset with a frame and a mode. A member that is there already stays once.
  package func startCaching(
    assetIDs: [AssetID], frame: ImageFrame, contentMode: ImageOptions.ContentMode
  ) throws(ImageRequestError) {
    try engine.startCaching(assetIDs, CachingSets.Want(frame: frame, contentMode: contentMode), number)
  }

  package func stopCaching(
    assetIDs: [AssetID], frame: ImageFrame, contentMode: ImageOptions.ContentMode
  ) throws(ImageRequestError) {
    try engine.stopCaching(assetIDs, CachingSets.Want(frame: frame, contentMode: contentMode), number)
  }

  package func stopCachingAll() throws(ImageRequestError) { try engine.stopCachingAll(number) }

  /// Reads a page of at most 512 KiB of a picture that a result has named by its `imageID`, within 60 s after that.
  package func readImage(_ imageID: String, offset: Int) throws(ImageRequestError) -> (bytes: [UInt8], total: Int) {
    try engine.readImage(imageID, offset: offset, number)
  }

  /// Takes waiting results: up to 64 with 640 KiB together, or a single one that is larger. If no result waits, the list is
  /// empty. At most 64 results and 4 MiB wait. Then the session gets no more work until some are taken.
  package func takeResults() -> [PictureResult] { engine.takeResults(number) }

  /// Takes results as ``takeResults()`` does, and puts them on the stream. Only one task sends the results of a session.
  ///
  /// - Parameter put: puts results on the stream. It must return when they are in the buffer of the connection, even if
  ///   the client does not read: cancellations wait for it.
  /// - Returns: false if there are no results. Then `put` was not called.
  package func sendResults(_ put: ([PictureResult]) async throws -> Void) async rethrows -> Bool {
    // The mark comes first. So a cancellation either finds the results in the engine, or waits for them.
    sending.withLock { $0 = .active(waiters: []) }
    defer { endSending() }
    let results = takeResults()
    guard !results.isEmpty else { return false }
    try await put(results)
    return true
  }

  private func endSending() {
    let waiters = sending.withLock { sending -> [CheckedContinuation<Void, Never>] in
      guard case .active(let waiters) = sending else { return [] }
      sending = .idle
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Sets the closure that is called when results wait and none did before, and when the session has ended. It is called
  /// at once if one of them holds already. It may be called on any thread, and must not block.
  package func onResults(_ notify: @escaping @Sendable () -> Void) { engine.onResults(notify, number) }

  /// Whether ``close()`` was called, or photod stops.
  package var isEnded: Bool { engine.isEnded(number) }

  /// Ends the session: everything in it is cancelled. It must be called when the stream closes.
  package func close() { engine.close(number) }
}
