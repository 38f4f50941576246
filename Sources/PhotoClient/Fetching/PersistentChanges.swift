import PhotoContract
import PhotoModel

extension PhotoLibrary {
  /// The place of the library in its history now.
  public var currentChangeToken: String { get async throws { try await patiently { try await self.status().token } } }

  /// The commits after a token, oldest first.
  ///
  /// - Parameter token: a token of a result, a change or the library. An old one throws
  ///   ``PhotoLibraryError/changeTokenExpired(message:currentToken:)``: fetch anew, and continue from the token of that.
  ///   While photod is away, the sequence waits for it, and continues behind the last commit that it gave.
  /// - Complexity: O(n) for n commits, of which one page is in memory.
  public func fetchPersistentChanges(since token: String) -> PersistentChanges {
    PersistentChanges(library: self, token: token, following: .none)
  }

  /// The commits after a token, oldest first, and then each commit as it happens.
  ///
  /// ```swift
  /// for try await change in library.followPersistentChanges(since: token) {
  ///   upload(change.insertedAssets)
  ///   token = change.token                // store it, and continue from it at the next start
  /// }
  /// ```
  ///
  /// The sequence never ends by itself. While photod is away, it waits for it without a limit, and continues behind the
  /// last commit that it gave. So no commit is missed, and none comes twice. Any other error ends the sequence.
  ///
  /// - Parameters:
  ///   - token: a token of a result, a change or the library. If it is too old, or expires during an outage, the sequence
  ///     throws ``PhotoLibraryError/changeTokenExpired(message:currentToken:)``: fetch anew, and continue from the token of
  ///     that.
  ///   - onProblem: is called with each error after which the library tries again, for a log or a notice to the user.
  ///     The task of the loop calls it while it waits for a commit.
  /// - Complexity: O(n) for n commits, of which one page is in memory.
  public func followPersistentChanges(
    since token: String, onProblem: (@Sendable (PhotoLibraryError) -> Void)? = nil
  ) -> PersistentChanges {
    PersistentChanges(library: self, token: token, following: .always(onProblem))
  }
}

/// The commits of the library, one after another.
public struct PersistentChanges: AsyncSequence, Sendable {
  /// Whether the sequence goes on after the last commit.
  enum Following: Sendable {
    case none
    /// It goes on, and calls the closure with each outage.
    case always((@Sendable (PhotoLibraryError) -> Void)?)
  }

  let library: PhotoLibrary
  let token: String
  let following: Following

  /// Begins a call when its first commit is asked for.
  ///
  /// - Complexity: O(1)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// The iterator. It loads the commits page by page.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let library: PhotoLibrary
    private let following: Following
    private var pages: LibraryReplies<HistoryPage>.AsyncIterator
    private var loaded: ArraySlice<PersistentChange> = []
    /// The place behind the pages that came.
    private var token: String
    private var reconnection = Reconnection()
    /// Whether the present call has brought a page.
    private var hasProgress = false
    private var isOver = false

    fileprivate init(_ changes: PersistentChanges) {
      (library, following, token) = (changes.library, changes.following, changes.token)
      pages = Self.pages(of: library, since: token, following)
    }

    private static func pages(
      of library: PhotoLibrary, since token: String, _ following: Following
    ) -> LibraryReplies<HistoryPage>.AsyncIterator {
      let follow = if case .always = following { true } else { false }
      return library.persistentChanges(since: token, follow: follow).makeAsyncIterator()
    }

    /// The next commit; `nil` after the last one, or after an error.
    ///
    /// - Throws: ``PhotoLibraryError`` or `CancellationError`, which ends the sequence.
    public mutating func next() async throws -> PersistentChange? {
      guard !isOver else { return nil }
      do {
        // A cancelled task does not get the rest of a page.
        try Task.checkCancellation()
        while loaded.isEmpty {
          guard let page = try await nextPage() else {
            isOver = true
            return nil
          }
          (loaded, token) = (page.changes[...], page.token)
        }
        return loaded.removeFirst()
      } catch {
        isOver = true
        throw error
      }
    }

    private mutating func nextPage() async throws -> HistoryPage? {
      switch following {
      case .none:
        try await library.patiently {
          do { return try await pages.next() } catch let error as PhotoLibraryError where Reconnection.isOutage(error) {
            pages = Self.pages(of: library, since: token, following)
            throw error
          }
        }
      case .always(let report):
        try await followedPage(report)
      }
    }

    /// The next page, also after outages.
    private mutating func followedPage(_ report: (@Sendable (PhotoLibraryError) -> Void)?) async throws -> HistoryPage {
      while true {
        do {
          // The stream ends only with its connection.
          guard let page = try await pages.next() else { throw PhotoLibraryError.connectionClosed }
          hasProgress = true
          return page
        } catch let error as PhotoLibraryError where Reconnection.isOutage(error) {
          report?(error)
          try await reconnection.wait(madeProgress: hasProgress)
          hasProgress = false
          reconnection.begin()
          pages = Self.pages(of: library, since: token, following)
        }
      }
    }
  }
}
