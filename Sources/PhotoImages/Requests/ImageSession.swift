import Synchronization

/// A session of `org.photod.images`: requests go in, and results are pulled.
///
/// All members can be called from any thread. After ``cancel(_:)`` has returned, ``takeResults()`` returns no result of the
/// requests that it named. A result that was taken before counts as sent, so the caller must write it to the stream before
/// the reply to a cancellation that comes after it.
package final class ImageSession: Sendable {
  /// 128 random bits in hexadecimal.
  package let name: String
  let number: Int
  private let engine: ImageEngine

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

  /// Cancels requests.
  /// - Parameter ids: nil means all that are open.
  /// - Returns: the requests that get no further result. The final result of any other was taken.
  package func cancel(_ ids: [Int64]?) -> [Int64] { engine.cancel(ids, number) }

  /// Adds members to the caching set: an asset with a frame and a mode. A member that is there already stays once.
  package func startCaching(
    assetIDs: [Int64], frame: ImageFrame, contentMode: ImageOptions.ContentMode
  ) throws(ImageRequestError) {
    try engine.startCaching(assetIDs, CachingSets.Want(frame: frame, contentMode: contentMode), number)
  }

  package func stopCaching(
    assetIDs: [Int64], frame: ImageFrame, contentMode: ImageOptions.ContentMode
  ) throws(ImageRequestError) {
    try engine.stopCaching(assetIDs, CachingSets.Want(frame: frame, contentMode: contentMode), number)
  }

  package func stopCachingAll() throws(ImageRequestError) { try engine.stopCachingAll(number) }

  /// Reads a page of at most 512 KiB of a picture that a result has named by its `imageID`, within 60 s after that.
  package func readImage(_ imageID: String, offset: Int) throws(ImageRequestError) -> (bytes: [UInt8], total: Int) {
    try engine.readImage(imageID, offset: offset, number)
  }

  /// Takes up to 64 results and 1 MiB that wait: none if none do. At most 64 results and 4 MiB wait. Then the session gets
  /// no more work until some are taken.
  package func takeResults() -> [PictureResult] { engine.takeResults(number) }

  /// Sets the closure that is called when results wait and none did before, and when the session has ended. It is called
  /// at once if one of them holds already. It may be called on any thread, and must not block.
  package func onResults(_ notify: @escaping @Sendable () -> Void) { engine.onResults(notify, number) }

  /// Whether ``close()`` was called, or photod stops.
  package var isEnded: Bool { engine.isEnded(number) }

  /// Ends the session: everything in it is cancelled. It must be called when the stream closes.
  package func close() { engine.close(number) }
}
