/// The place of one list in an inbox.
struct ObservedPlace: Sendable {
  let inbox: ChangeInbox
  /// The number of the list among those that are observed together.
  let number: Int
  /// Whether there are other lists, which must know how far this one is.
  let isOneOfSeveral: Bool

  func put(_ step: ObservedStep, isKnown: Bool) async throws {
    try await inbox.put(step, from: number, isKnown: isKnown)
  }
  func reached(_ token: String) { inbox.reached(token, by: number) }
  func release() { inbox.release(number) }

  /// Notes an error after which the list tries again.
  func report(_ problem: PhotoLibraryError) {
    if Reconnection.isOutage(problem) { inbox.lost(number) } else { inbox.release(number) }
    inbox.report(problem)
  }
}

/// Whether photod replies for commits that left a list as it was.
struct TokenReplies {
  private let place: ObservedPlace
  /// Whether this photod does not know the option.
  private var isOldDaemon = false

  init(for place: ObservedPlace) { self.place = place }

  /// Whether the call asks for them.
  var areWanted: Bool { place.isOneOfSeveral && !isOldDaemon }
  /// Whether a change of the list says that the list is known up to its token.
  var areKnown: Bool { !isOldDaemon }

  func reached(_ token: String) {
    if !isOldDaemon { place.reached(token) }
  }

  /// The next photod may be another version.
  mutating func connectionWasLost() {
    isOldDaemon = false
    place.inbox.lost(place.number)
  }

  /// Notes that an earlier version of photod refused the option.
  ///
  /// - Returns: whether the error says that. The call must be repeated.
  mutating func areUnknown(to error: PhotoLibraryError) -> Bool {
    if Reconnection.isOutage(error) { isOldDaemon = false }
    guard areWanted, error == .invalidParameter("unchanged") else { return false }
    isOldDaemon = true
    place.release()
    return true
  }
}
