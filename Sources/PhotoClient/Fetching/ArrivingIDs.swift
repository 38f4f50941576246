import PhotoContract
import PhotoModel
import Synchronization

/// The ids of a list, which arrive page by page behind the first one.
final class ArrivingIDs: Sendable {
  /// The place of the list in the library's history, and its length.
  struct Header: Sendable {
    let token: String
    let count: Int
  }

  private struct State {
    var ids: [AssetID] = []
    var failure: (any Error)?
    var isComplete = false
    /// The tasks that wait until there are so many ids.
    var waiters: [(count: Int, arrival: PendingValue<Void>)] = []
  }

  let header = PendingValue<Header>()
  private let state = Mutex(State())

  init() {}

  /// A list that is already complete.
  init(_ ids: [AssetID], token: String) {
    state.withLock { state in (state.ids, state.isComplete) = (ids, true) }
    header.resolve(.success(Header(token: token, count: ids.count)))
  }

  // MARK: - Arrival

  /// Reads the list to its end.
  ///
  /// If the connection is lost, the list is read again. It must be the same list: a daemon that has another token by then
  /// no longer knows it, and the rest of the ids is ``PhotoLibraryError/snapshotExpired(message:)``.
  func read(_ options: FetchOptions, from library: PhotoLibrary) async {
    do {
      try await library.patiently { try await self.readOnce(options, from: library) }
    } catch {
      header.resolve(.failure(error))
      let waiters = state.withLock { state in
        state.failure = error
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.arrival.resolve(.failure(error)) }
    }
  }

  private func readOnce(_ options: FetchOptions, from library: PhotoLibrary) async throws {
    var known: Header?
    for try await page in library.fetchIDs(options) {
      if page.offset == 0 {
        header.resolve(.success(Header(token: page.token, count: page.total)))
        known = try await header.value()
      }
      guard page.token == known?.token, page.total == known?.count else {
        throw PhotoLibraryError.snapshotExpired(
          message: "The library changed before all ids of the list had arrived. Fetch the list again.")
      }
      try append(page)
    }
    guard let known, state.withLock({ $0.ids.count }) == known.count else {
      throw PhotoLibraryError.malformedReply("FetchIDs ended before the end of the list")
    }
    state.withLock { $0.isComplete = true }
  }

  private func append(_ page: AssetIDPage) throws {
    let arrived = try state.withLock { state -> [PendingValue<Void>] in
      guard page.offset <= state.ids.count, page.offset + page.ids.count <= page.total else {
        throw PhotoLibraryError.malformedReply("a page of ids at \(page.offset) came after \(state.ids.count) ids")
      }
      if state.ids.isEmpty { state.ids.reserveCapacity(page.total) }
      // After a lost connection, the first pages come a second time.
      state.ids += page.ids.dropFirst(state.ids.count - page.offset)
      let count = state.ids.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }.map(\.arrival)
    }
    for arrival in arrived { arrival.resolve(.success(())) }
  }

  // MARK: - Reading

  /// The ids at these positions, if they have arrived.
  func arrived(_ range: Range<Int>) -> [AssetID]? {
    state.withLock { $0.ids.count >= range.upperBound ? Array($0.ids[range]) : nil }
  }

  /// The whole list, if it has arrived. The array is shared, not copied.
  var complete: [AssetID]? { state.withLock { $0.isComplete ? $0.ids : nil } }

  /// The ids at these positions. It waits until they have arrived.
  func ids(_ range: Range<Int>) async throws -> [AssetID] {
    while true {
      if let ids = arrived(range) { return ids }
      let arrival = try state.withLock { state -> PendingValue<Void>? in
        if state.ids.count >= range.upperBound { return nil }
        if let failure = state.failure { throw failure }
        let arrival = PendingValue<Void>()
        state.waiters.append((range.upperBound, arrival))
        return arrival
      }
      try await arrival?.value()
    }
  }

  /// The position of an id in a list of `count`, or nil if the list does not have it. It waits until the id has arrived, or
  /// all others have.
  func position(of id: AssetID, in count: Int) async throws -> Int? {
    var searched = 0
    while true {
      let position = state.withLock { state -> Int? in
        defer { searched = state.ids.count }
        return state.ids[searched...].firstIndex(of: id)
      }
      if position != nil || searched == count { return position }
      _ = try await ids(searched..<searched + 1)
    }
  }

  /// The whole list. It waits until all ids have arrived.
  func all(_ count: Int) async throws -> [AssetID] {
    if let ids = complete { return ids }
    _ = try await ids(count..<count)
    return state.withLock { $0.ids }
  }
}
