import PhotoModel

/// A result that can be observed: a ``FetchResult`` or a ``CollectionFetchResult``. No other type can conform to it, because
/// none can make an ``ObservableList``.
public protocol ObservableResult: Sendable {
  /// The list that is observed.
  var observableList: ObservableList { get }
}

/// The list of an ``ObservableResult``. Only PhotoClient makes one.
public struct ObservableList: Sendable {
  enum Kind {
    case assets(FetchResult)
    case collections(CollectionFetchResult)
  }

  let kind: Kind
}

extension FetchResult: ObservableResult {
  /// The list of this result.
  public var observableList: ObservableList { ObservableList(kind: .assets(self)) }
}

extension CollectionFetchResult: ObservableResult {
  /// The list of this result.
  public var observableList: ObservableList { ObservableList(kind: .collections(self)) }
}

extension PhotoLibrary {
  /// The changes of these results from now on, and those since they were fetched.
  ///
  /// ```swift
  /// for await change in library.changes(for: [photos, albums]) {
  ///   if let details = change.details(for: photos) {
  ///     photos = details.after
  ///     update(details)
  ///   }
  ///   if let details = change.details(for: albums) { albums = details.after }
  /// }
  /// ```
  ///
  /// The sequence never ends by itself. It ends when its task is cancelled, and gives nothing more then. While photod does
  /// not run, it waits. After that, each list continues from its last state with one change at most, also if photod was
  /// restarted.
  ///
  /// A slow reader gets one change from its last state to the present one. The result before a change is the result after
  /// the last change of that list. Changes of several lists by one commit come together, unless they reach the program more
  /// than some milliseconds apart.
  ///
  /// If the album of a list is deleted, or the program loses its access, the list is empty until it is back.
  ///
  /// - Parameters:
  ///   - results: the results as they were fetched, or as an earlier change left them. Each iteration begins with them.
  ///   - onProblem: is called, from any thread, with each error after which the library tries again, for a log or a notice
  ///     to the user.
  public func changes(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil
  ) -> LibraryChanges {
    LibraryChanges(results: results, report: onProblem)
  }
}

/// The changes of some results: see ``PhotoLibrary/changes(for:onProblem:)``.
public struct LibraryChanges: AsyncSequence, Sendable {
  public typealias Element = Change
  public typealias Failure = Never

  let results: [any ObservableResult]
  let report: (@Sendable (PhotoLibraryError) -> Void)?

  /// Begins to observe the results.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results, report) }

  /// The iterator. It holds a connection for each result, and closes them when it is released.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let observation: Observers

    fileprivate init(_ results: [any ObservableResult], _ report: (@Sendable (PhotoLibraryError) -> Void)?) {
      observation = Observers(results, report)
    }

    /// The next change; `nil` if the task is cancelled.
    public mutating func next() async -> Change? { await observation.next() }

    /// The next change; `nil` if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? { await observation.next() }
  }
}

/// The connections of one iteration. They are closed when the iterator is released.
private final class Observers: Sendable {
  private let inbox: ChangeInbox
  private let following: Task<Void, Never>

  init(_ results: [any ObservableResult], _ report: (@Sendable (PhotoLibraryError) -> Void)?) {
    let inbox = ChangeInbox(listCount: results.count)
    self.inbox = inbox
    following = Task {
      await withTaskGroup(of: Void.self) { group in
        for (number, result) in results.enumerated() {
          switch result.observableList.kind {
          case .assets(let result):
            let follower = ListFollower(result: result, number: number, inbox: inbox, report: report)
            group.addTask { await follower.follow() }
          case .collections(let result):
            let follower = CollectionListFollower(result: result, number: number, inbox: inbox, report: report)
            group.addTask { await follower.follow() }
          }
        }
      }
    }
  }

  deinit { following.cancel() }

  func next() async -> Change? {
    do {
      let change = try await inbox.take()
      // A task that was cancelled meanwhile gets nothing more.
      if Task.isCancelled { return nil }
      return change
    } catch {
      following.cancel()
      return nil
    }
  }
}
