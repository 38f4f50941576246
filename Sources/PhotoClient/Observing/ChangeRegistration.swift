import PhotoModel
import Synchronization

/// An object that observes results, as PhotoKit's `PHPhotoLibraryChangeObserver`.
public protocol PhotoLibraryChangeObserver: AnyObject, Sendable {
  /// The observed results changed. The next call comes after this one has returned.
  func photoLibraryDidChange(_ change: Change) async
}

extension PhotoLibrary {
  /// Calls a closure for each change of these results, one call at a time and in the order of the changes.
  ///
  /// ```swift
  /// registration = library.register(for: [photos]) { @MainActor [weak self] change in self?.update(change) }
  /// ```
  ///
  /// The closure runs on its own actor. If that is also the actor of the caller, such as the main actor, no call comes
  /// before this method has returned.
  ///
  /// - Parameters:
  ///   - results: as for ``changes(for:onProblem:)``, which also describes the changes.
  ///   - onProblem: as for ``changes(for:onProblem:)``.
  /// - Returns: the registration. It ends with ``ChangeRegistration/unregister()``, or when it is released.
  public func register(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil,
    _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void
  ) -> ChangeRegistration {
    ChangeRegistration(changes(for: results, onProblem: onProblem), handler)
  }

  /// Calls an observer for each change of these results, as ``register(for:onProblem:_:)`` calls a closure.
  ///
  /// - Parameter observer: is not kept alive. When it is released, the calls end.
  public func register(
    _ observer: some PhotoLibraryChangeObserver, for results: [any ObservableResult],
    onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil
  ) -> ChangeRegistration {
    register(for: results, onProblem: onProblem) { [weak observer] change in
      await observer?.photoLibraryDidChange(change)
    }
  }
}

/// The registration of an observer: see ``PhotoLibrary/register(for:onProblem:_:)``. When it is released, the calls end.
public final class ChangeRegistration: Sendable {
  /// The registration whose handler runs in the current task.
  @TaskLocal private static var running: Calls?

  private let calls = Calls()
  private let task: Task<Void, Never>

  fileprivate init(
    _ changes: LibraryChanges, _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void
  ) {
    let calls = calls
    task = Task.detached {
      await Self.$running.withValue(calls) {
        for await change in changes {
          await Self.call(handler, change, calls, isolation: handler.isolation)
        }
      }
    }
  }

  deinit {
    calls.end()
    task.cancel()
  }

  /// Ends the calls. No call runs after this has returned: it waits for a call that is running, unless the handler itself
  /// unregisters.
  public func unregister() async {
    calls.end()
    task.cancel()
    if Self.running !== calls { await calls.idle() }
  }

  /// Calls the handler on its own actor. The registration is checked there, in the same turn of the actor in which the
  /// handler begins, so that no call begins after an `unregister()` of that actor.
  private static func call(
    _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void, _ change: Change, _ calls: Calls,
    isolation: isolated (any Actor)?
  ) async {
    guard calls.begin() else { return }
    await handler(change)
    calls.finish()
  }

  /// Whether a call of the handler runs or may begin.
  fileprivate final class Calls: Sendable {
    private struct State {
      var hasEnded = false
      var running: PendingValue<Void>?
    }

    private let state = Mutex(State())

    func begin() -> Bool {
      state.withLock { state in
        if state.hasEnded { return false }
        state.running = PendingValue()
        return true
      }
    }

    func finish() {
      let running = state.withLock { state in
        defer { state.running = nil }
        return state.running
      }
      running?.resolve(.success(()))
    }

    func end() { state.withLock { $0.hasEnded = true } }

    /// Waits for the running call.
    func idle() async {
      guard let running = state.withLock({ $0.running }) else { return }
      // If the caller is cancelled, it waits nevertheless: it was promised that no call runs.
      await Task.detached { try? await running.value() }.value
    }
  }
}
