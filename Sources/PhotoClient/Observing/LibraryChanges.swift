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
  ///
  /// - Complexity: O(1)
  public var observableList: ObservableList { ObservableList(kind: .assets(self)) }
}

extension CollectionFetchResult: ObservableResult {
  /// The list of this result.
  ///
  /// - Complexity: O(1)
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
  /// the last change of that list.
  ///
  /// Changes of several lists by one commit come together, however late one of them arrives, and no later change has
  /// the same token. If commits follow each other fast, photod may merge some of them for one list and not for another.
  /// Then the change of the first list comes later, with the token of the last of them. A list that photod refuses at
  /// the time, and the lists of a photod of an earlier version, are not waited for. So only their changes may come later
  /// with the same token, or an earlier one.
  ///
  /// If the album of a list is deleted, or the program loses its access, the list is empty until it is back.
  /// ``FetchResultChange/isCollectionDeleted`` tells a deleted album from an empty one.
  ///
  /// - Parameters:
  ///   - results: the results as they were fetched, or as an earlier change left them. Each iteration begins with them.
  ///   - onProblem: is called with each error after which the library tries again, for a log or a notice to the user.
  ///     The task of the loop calls it while it waits for a change, so no call comes after the loop has ended. If the
  ///     loop is busy, the last 100 errors wait.
  public func changes(
    for results: [any ObservableResult], onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil
  ) -> LibraryChanges {
    LibraryChanges(results: results, report: onProblem)
  }
}

/// The changes of some results: see ``PhotoLibrary/changes(for:onProblem:)``.
public struct LibraryChanges: AsyncSequence, Sendable {
  /// The changes of all results by one commit, or by several that photod merged.
  public typealias Element = Change
  /// No error ends the sequence.
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
  private let report: (@Sendable (PhotoLibraryError) -> Void)?

  init(_ results: [any ObservableResult], _ report: (@Sendable (PhotoLibraryError) -> Void)?) {
    let inbox = ChangeInbox(listCount: results.count, keepsProblems: report != nil)
    self.inbox = inbox
    self.report = report
    following = Task {
      await withTaskGroup(of: Void.self) { group in
        for (number, result) in results.enumerated() {
          let writer = InboxWriter(inbox: inbox, number: number, isOneOfSeveral: results.count > 1)
          switch result.observableList.kind {
          case .assets(let result):
            let follower = ListFollower(result: result, inbox: writer)
            group.addTask { await follower.follow() }
          case .collections(let result):
            let follower = CollectionListFollower(result: result, inbox: writer)
            group.addTask { await follower.follow() }
          }
        }
      }
    }
  }

  deinit { following.cancel() }

  func next() async -> Change? {
    do {
      while true {
        switch try await inbox.next() {
        case .change(let change): return change
        case .problem(let problem): report?(problem)
        }
      }
    } catch {
      following.cancel()
      return nil
    }
  }
}
