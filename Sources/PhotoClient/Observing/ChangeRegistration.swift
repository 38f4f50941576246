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
  ///   - onProblem: as for ``changes(for:onProblem:)``. It is not called any more after ``ChangeRegistration/unregister()``.
  /// - Returns: the registration. It ends with ``ChangeRegistration/unregister()``, or when it is released.
  public func register(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil,
    _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void
  ) -> ChangeRegistration {
    ChangeRegistration(of: self, results, onProblem, on: handler.isolation) { change, _ in await handler(change) }
  }

  /// Calls an observer for each change of these results, as ``register(for:onProblem:_:)`` calls a closure.
  ///
  /// If the observer has the actor of the caller, no call begins after that actor has released the registration.
  ///
  /// - Parameters:
  ///   - observer: is not kept alive. When it is released, the calls end.
  ///   - results: as for ``changes(for:onProblem:)``.
  ///   - onProblem: as for ``register(for:onProblem:_:)``.
  ///   - isolation: the actor on which the calls begin, by default that of the caller.
  public func register(
    _ observer: some PhotoLibraryChangeObserver, for results: [any ObservableResult],
    onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil, isolation: isolated (any Actor)? = #isolation
  ) -> ChangeRegistration {
    ChangeRegistration(of: self, results, onProblem, on: isolation) { [weak observer] change, _ in
      await observer?.photoLibraryDidChange(change)
    }
  }
}

/// The registration of an observer: see ``PhotoLibrary/register(for:onProblem:_:)``. When it is released, the calls end.
public final class ChangeRegistration: Sendable {
  fileprivate typealias Handler = @Sendable (Change, isolated (any Actor)?) async -> Void

  /// The call of an observer in which the current task runs.
  @TaskLocal private static var current: ObserverCalls.Call?

  private let calls = ObserverCalls()
  private let task: Task<Void, Never>

  /// - Parameter actor: the actor on which the calls of the handler begin.
  fileprivate init(
    of library: PhotoLibrary, _ results: [any ObservableResult], _ onProblem: (@Sendable (PhotoLibraryError) -> Void)?,
    on actor: (any Actor)?, _ handler: @escaping Handler
  ) {
    let calls = calls
    let report = onProblem.map { onProblem in
      { @Sendable (problem: PhotoLibraryError) in Self.report(problem, to: onProblem, calls) }
    }
    let changes = library.changes(for: results, onProblem: report)
    task = Task.detached {
      for await change in changes { await Self.call(handler, change, calls, isolation: actor) }
    }
  }

  deinit {
    calls.end()
    task.cancel()
  }

  /// Ends the calls. No call of the handler or of `onProblem` runs after this has returned: it waits for a call that is
  /// running, unless it is called from that call or from a task that was begun in it.
  public func unregister() async {
    calls.end()
    task.cancel()
    await calls.finish(except: Self.current)
  }

  /// Calls the handler on its own actor. The registration is checked there, in the same turn of the actor in which the
  /// handler begins, so that no call begins after an `unregister()` of that actor.
  private static func call(
    _ handler: Handler, _ change: Change, _ calls: ObserverCalls, isolation: isolated (any Actor)?
  ) async {
    guard let call = calls.begin() else { return }
    await $current.withValue(call) { await handler(change, isolation) }
    calls.finish(call)
  }

  private static func report(
    _ problem: PhotoLibraryError, to onProblem: @Sendable (PhotoLibraryError) -> Void, _ calls: ObserverCalls
  ) {
    guard let call = calls.begin() else { return }
    $current.withValue(call) { onProblem(problem) }
    calls.finish(call)
  }
}

/// The calls of one observer that run, and whether further ones may begin.
private final class ObserverCalls: Sendable {
  /// A call that runs. It is resolved at its end.
  typealias Call = PendingValue<Void>

  private struct State {
    var hasEnded = false
    var running: [ObjectIdentifier: Call] = [:]
  }

  private let state = Mutex(State())

  /// Begins a call.
  ///
  /// - Returns: nil if no call may begin any more.
  func begin() -> Call? {
    state.withLock { state in
      if state.hasEnded { return nil }
      let call = Call()
      state.running[ObjectIdentifier(call)] = call
      return call
    }
  }

  func finish(_ call: Call) {
    _ = state.withLock { $0.running.removeValue(forKey: ObjectIdentifier(call)) }
    call.resolve(.success(()))
  }

  /// No further call begins.
  func end() { state.withLock { $0.hasEnded = true } }

  /// Waits for the calls that run.
  func finish(except current: Call?) async {
    let running = state.withLock { Array($0.running.values) }
    for call in running where call !== current {
      // If the caller is cancelled, it waits nevertheless: it was promised that no call runs.
      await Task.detached { try? await call.value() }.value
    }
  }
}
