/// Counts the operations of a run, and how clients came back.
struct LiveQueryTally {
  var operations = 0
  /// The operations that edited photos and albums.
  var edits = 0
  var checks = 0
  /// Lists that were compared with a fetch.
  var comparisons = 0
  /// The comparisons with an empty list.
  var emptyLists = 0
  var messages = 0
  var albumDifferences = 0
  var rootMoves = 0
  var sleeps = 0
  var deaths = 0
  var restarts: [String: Int] = [:]
  /// The largest number of clients whose sockets were full at the same time.
  var behind = 0
  private(set) var resumed: [Return: Int] = [:]

  struct Return: Hashable {
    let beginning: ObservedFetch.Beginning
    let hasOutlivedDaemon: Bool
    /// If false, the client got the whole list.
    let isWithoutReload: Bool
  }

  mutating func note(
    _ answer: ObservedFetch.Answer, to beginning: ObservedFetch.Beginning, hasOutlivedDaemon: Bool
  ) {
    let isWithoutReload = answer == .details || answer == .unchanged
    guard beginning != .anew, answer != .noSuchCollection else { return }
    resumed[
      Return(beginning: beginning, hasOutlivedDaemon: hasOutlivedDaemon, isWithoutReload: isWithoutReload), default: 0
    ] += 1
  }

  /// By the contract, the list itself gives an exact difference as long as the history reaches back, which it does
  /// here. The token alone suffices for some minutes, and only for the same daemon.
  static func isAllowed(_ answer: ObservedFetch.Answer, to beginning: ObservedFetch.Beginning) -> Bool {
    switch (beginning, answer) {
    case (_, .noSuchCollection), (.anew, .list(nil)): true
    case (.byToken, .details), (.byToken, .unchanged), (.byList, .details), (.byList, .unchanged): true
    case (.byToken, .list(.tooManyChanges)), (.byToken, .list(.tokenExpired)), (.byList, .list(.tooManyChanges)): true
    default: false
    }
  }

  func count(
    _ beginning: ObservedFetch.Beginning, hasOutlivedDaemon: Bool, isWithoutReload: Bool
  ) -> Int {
    resumed[
      Return(beginning: beginning, hasOutlivedDaemon: hasOutlivedDaemon, isWithoutReload: isWithoutReload), default: 0]
  }
}

extension LiveQueryTally: CustomStringConvertible {
  var description: String {
    func returns(_ beginning: ObservedFetch.Beginning, _ hasOutlivedDaemon: Bool) -> String {
      let kept = count(beginning, hasOutlivedDaemon: hasOutlivedDaemon, isWithoutReload: true)
      let reloaded = count(beginning, hasOutlivedDaemon: hasOutlivedDaemon, isWithoutReload: false)
      return "\(kept) + \(reloaded)"
    }
    return """
      \(operations) operations (\(edits) edits, \(rootMoves) root moves), \(checks) checks, \(comparisons) comparisons \
      (\(emptyLists) of empty lists), \(messages) messages, \(albumDifferences) differences of albums; \
      \(sleeps) sleeps, \(deaths) deaths, restarts \(restarts), \(behind) behind at once; \
      resumed (without + with reload) by token \(returns(.byToken, false)), after a restart \(returns(.byToken, true)); \
      by list \(returns(.byList, false)), after a restart \(returns(.byList, true))
      """
  }
}
