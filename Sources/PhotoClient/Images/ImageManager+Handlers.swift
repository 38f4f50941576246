import PhotoModel
import Synchronization

/// A request with a handler. ``ImageManager/cancelImageRequest(_:)`` cancels it.
public struct ImageRequestID: Hashable, Sendable {
  fileprivate let request: HandledRequest

  /// Whether both are the same request.
  public static func == (one: ImageRequestID, other: ImageRequestID) -> Bool { one.request === other.request }

  /// Hashes the identity of the request.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(request)) }
}

/// The state of a request with a handler.
private final class HandledRequest: Sendable {
  private enum State {
    /// The task that reads the results is about to be stored.
    case starting
    case running(Task<Void, Never>)
    case cancelled
  }

  private let state = Mutex(State.starting)
  private let session: ImageSessionConnection
  /// The count of closes when the request was made.
  private let closeCount: Int

  init(in session: ImageSessionConnection) { (self.session, closeCount) = (session, session.closeCount) }

  /// Whether the handler must not be called, because the request was cancelled or the manager was closed.
  var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } } || session.closeCount != closeCount
  }

  func run(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      if case .cancelled = state { return true }
      state = .running(task)
      return false
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    let task = state.withLock { state -> Task<Void, Never>? in
      defer { state = .cancelled }
      if case .running(let task) = state { return task }
      return nil
    }
    task?.cancel()
  }
}

extension ImageManager {
  /// Requests a picture, and gives its results to a handler, as PhotoKit's `requestImage`.
  ///
  /// ```swift
  /// func show(_ asset: Asset, in cell: Cell) {          // on the main actor
  ///   if let request = cell.request { images.cancelImageRequest(request) }
  ///   cell.request = images.requestImage(for: asset.id, targetSize: cell.size) { result in
  ///     cell.show(try? result.get())
  ///   }
  /// }
  /// ```
  ///
  /// The handler runs on the actor of the caller, which is the main actor for a user interface. So it is never called
  /// before this call has returned. It is called for at most one degraded picture, and then exactly once for the final
  /// one or the error. It is never called after ``cancelImageRequest(_:)`` or ``close()`` on this actor, or after the
  /// manager was released there. Code without an actor uses
  /// ``requestImage(for:targetSize:contentMode:options:)-(AssetID,_,_,_)``, whose results come in a loop.
  ///
  /// - Parameters:
  ///   - targetSize: the frame; nil for the picture's own size.
  ///   - contentMode: whether the picture fits inside the frame, or covers it.
  ///   - resultHandler: takes a picture, or the ``PhotoLibraryError`` that says why there is none.
  /// - Returns: the id to cancel the request.
  @discardableResult
  public func requestImage(
    for id: AssetID, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions(), isolation: isolated any Actor = #isolation,
    resultHandler: @escaping (Result<AssetImage, PhotoLibraryError>) -> Void
  ) -> ImageRequestID {
    let request = HandledRequest(in: session)
    let results = requestImage(for: id, targetSize: targetSize, contentMode: contentMode, options: options)
    let task = Task {
      // The task runs on this actor, because it uses it.
      _ = isolation
      do {
        for try await image in results {
          if request.isCancelled { return }
          resultHandler(.success(image))
        }
      } catch let error as PhotoLibraryError {
        if !request.isCancelled { resultHandler(.failure(error)) }
      } catch {
        // The request was cancelled, or the manager was closed.
      }
    }
    request.run(task)
    return ImageRequestID(request: request)
  }

  /// Requests a picture of an asset, and gives its results to a handler. It does the same as the call with the asset's id.
  @discardableResult
  public func requestImage(
    for asset: Asset, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions(), isolation: isolated any Actor = #isolation,
    resultHandler: @escaping (Result<AssetImage, PhotoLibraryError>) -> Void
  ) -> ImageRequestID {
    requestImage(
      for: asset.id, targetSize: targetSize, contentMode: contentMode, options: options, isolation: isolation,
      resultHandler: resultHandler)
  }

  /// Cancels a request with a handler. photod does not begin its work. A picture that is being made is finished and kept.
  ///
  /// If it is called on the actor of the request, the handler is not called again. It also gets no error about the
  /// cancellation. A call from elsewhere does not wait: the handler may be running, or about to begin, when it returns. A
  /// second call, or one after the final result, has no effect.
  public func cancelImageRequest(_ id: ImageRequestID) { id.request.cancel() }
}
