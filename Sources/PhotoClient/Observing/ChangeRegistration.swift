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
  /// No call of a closure comes before this method has returned: the observation begins when the actor of the caller,
  /// such as the main actor, is free again. Code without an actor uses ``makeRegistration(for:onProblem:_:)``.
  ///
  /// - Parameters:
  ///   - results: as for ``changes(for:onProblem:)``, which also describes the changes.
  ///   - onProblem: as for ``changes(for:onProblem:)``. It is called between two changes, and not any more after
  ///     ``ChangeRegistration/unregister()``.
  ///   - isolation: the actor of the caller. Leave it out.
  ///   - handler: runs on its own actor.
  /// - Returns: the registration. It ends with ``ChangeRegistration/unregister()``, or when it is released.
  public func register(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil,
    isolation: isolated any Actor = #isolation, _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void
  ) -> ChangeRegistration {
    let registration = makeRegistration(for: results, onProblem: onProblem, handler)
    registration.begin(after: isolation)
    return registration
  }

  /// Calls an observer for each change of these results, as ``register(for:onProblem:isolation:_:)`` calls a closure.
  ///
  /// No call begins after the actor of the caller has released the registration.
  ///
  /// - Parameters:
  ///   - observer: is not kept alive. When it is released, the calls end.
  ///   - results: as for ``changes(for:onProblem:)``.
  ///   - onProblem: as for ``register(for:onProblem:isolation:_:)``.
  ///   - isolation: the actor of the caller, on which the calls begin. Leave it out.
  public func register(
    _ observer: some PhotoLibraryChangeObserver, for results: [any ObservableResult],
    onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil, isolation: isolated any Actor = #isolation
  ) -> ChangeRegistration {
    let registration = ChangeRegistration(of: self, results, onProblem, on: isolation) { [weak observer] change, _ in
      await observer?.photoLibraryDidChange(change)
    }
    registration.begin(after: isolation)
    return registration
  }

  /// Makes a registration whose calls begin with ``ChangeRegistration/begin()``, for code without an actor.
  ///
  /// Such code may run beside the closure, and nothing but itself knows when it has the registration. So it says so:
  ///
  /// ```swift
  /// let registration = library.makeRegistration(for: [photos]) { change in await index.update(change) }
  /// registrations.append(registration)
  /// registration.begin()
  /// ```
  ///
  /// - Parameters: as for ``register(for:onProblem:isolation:_:)``.
  public func makeRegistration(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil,
    _ handler: @escaping @isolated(any) @Sendable (Change) async -> Void
  ) -> ChangeRegistration {
    ChangeRegistration(of: self, results, onProblem, on: handler.isolation) { change, _ in await handler(change) }
  }

  /// Makes a registration of an observer, as ``makeRegistration(for:onProblem:_:)`` does for a closure.
  ///
  /// - Parameter observer: is not kept alive. When it is released, the calls end.
  public func makeRegistration(
    _ observer: some PhotoLibraryChangeObserver, for results: [any ObservableResult],
    onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil
  ) -> ChangeRegistration {
    ChangeRegistration(of: self, results, onProblem, on: nil) { [weak observer] change, _ in
      await observer?.photoLibraryDidChange(change)
    }
  }
}

/// The registration of an observer: see ``PhotoLibrary/register(for:onProblem:isolation:_:)``. When it is released, the
/// calls end.
public final class ChangeRegistration: Sendable {
  fileprivate typealias Handler = @Sendable (Change, isolated (any Actor)?) async -> Void

  /// The call of an observer in which the current task runs.
  @TaskLocal private static var current: ObserverCalls.Call?

  private let calls = ObserverCalls()
  /// Resolved when calls may begin.
  private let beginning = PendingValue<Void>()
  private let task: Task<Void, Never>

  /// - Parameter actor: the actor on which the calls of the handler begin. It is not kept alive, and when it is released,
  ///   the calls end.
  fileprivate init(
    of library: PhotoLibrary, _ results: [any ObservableResult], _ onProblem: (@Sendable (PhotoLibraryError) -> Void)?,
    on actor: (any Actor)?, _ handler: @escaping Handler
  ) {
    let (calls, beginning) = (calls, beginning)
    let report = onProblem.map { onProblem in
      { @Sendable (problem: PhotoLibraryError) in Self.report(problem, to: onProblem, calls) }
    }
    let changes = library.changes(for: results, onProblem: report)
    // The actor may hold the registration, as one does that observes. A strong reference would keep both alive.
    let hasActor = actor != nil
    task = Task.detached { [weak actor] in
      do { try await beginning.value() } catch { return }
      for await change in changes {
        let present = actor
        guard !hasActor || present != nil else { return }
        await Self.call(handler, change, calls, isolation: present)
      }
    }
  }

  /// Begins the calls of a registration that ``PhotoLibrary/makeRegistration(for:onProblem:_:)`` made. The first call
  /// may come at once. If the calls have begun, nothing happens.
  public func begin() { beginning.resolve(.success(())) }

  /// Begins the calls when the actor, on which the caller runs, has ended its turn.
  fileprivate func begin(after actor: any Actor) {
    let beginning = beginning
    Task.detached {
      await Self.turn(of: actor)
      beginning.resolve(.success(()))
    }
  }

  private static func turn(of actor: isolated any Actor) {}

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
  /// handler begins. So no call begins after an `unregister()` of that actor.
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
      // If the caller is cancelled, it waits nevertheless: it was promised that no call runs. The end of a call is never
      // an error, and the task, which would throw if it were cancelled, has no other owner.
      _ = await Task.detached { try await call.value() }.result
    }
  }
}
