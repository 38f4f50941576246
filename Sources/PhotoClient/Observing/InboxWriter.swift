/// Writes the changes of one list to an inbox.
struct InboxWriter: Sendable {
  let inbox: ChangeInbox
  /// The number of the list among those that are observed together.
  let number: Int
  /// Whether there are other lists. Their changes wait until the inbox knows the token of this one.
  let isOneOfSeveral: Bool

  func put(_ step: ObservedStep, isKnown: Bool) async throws {
    try await inbox.put(step, from: number, isKnown: isKnown)
  }
  func reached(_ token: String) { inbox.reached(token, by: number) }
  func lost() { inbox.lost(number) }
  func release() { inbox.release(number) }

  /// Notes an error after which the list tries again.
  func report(_ problem: PhotoLibraryError) {
    if Reconnection.isOutage(problem) { lost() } else { release() }
    inbox.report(problem)
  }
}

/// Whether photod replies for commits that left a list as it was.
struct TokenReplies {
  private let inbox: InboxWriter
  /// Whether the list itself is read again after each commit.
  private let areNeeded: Bool
  /// Whether this photod does not know the option `unchanged`.
  private var isOldDaemon = false

  init(for inbox: InboxWriter, areNeeded: Bool = false) {
    self.inbox = inbox
    self.areNeeded = areNeeded
  }

  /// Whether the call requests these replies.
  var areRequested: Bool { (inbox.isOneOfSeveral || areNeeded) && !isOldDaemon }
  /// Whether a change of the list says that the list is known up to its token. A photod without these replies may send
  /// nothing more for a long time, so no other list can wait for that.
  var changesGiveTheToken: Bool { !isOldDaemon }

  func reached(_ token: String) {
    if !isOldDaemon { inbox.reached(token) }
  }

  /// The next photod may be another version.
  mutating func connectionWasLost() {
    isOldDaemon = false
    inbox.lost()
  }

  /// Requests no more such replies if the error says that this photod is too old for them.
  ///
  /// - Returns: whether the error says that. The call must be repeated.
  mutating func fallBack(after error: PhotoLibraryError) -> Bool {
    if Reconnection.isOutage(error) { isOldDaemon = false }
    guard areRequested, error == .invalidParameter("unchanged") else { return false }
    isOldDaemon = true
    inbox.release()
    return true
  }
}
