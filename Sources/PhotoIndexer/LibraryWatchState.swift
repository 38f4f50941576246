import Logging
import PhotoModel
import WatchRecords

/// What photod-watch said of how it sees changes: which folders it polls, and why.
struct WatchState {
  private var polled: [UInt16: [PollingReason: Int]] = [:]
  private var directories: [UInt16: Int] = [:]
  private(set) var budget: WatchBudget?

  mutating func note(_ record: WatchRecord) {
    switch record {
    case .polling(let root, let reason, let count, let total):
      polled[root, default: [:]][reason] = count == 0 ? nil : Int(count)
      directories[root] = Int(total)
    case .rootOffline(let root, _):
      polled[root] = nil
      directories[root] = nil
    case .watchBudget(let budget): self.budget = budget
    default: break
    }
  }

  func polledCount(of root: UInt16) -> Int { polled[root]?.values.reduce(0, +) ?? 0 }

  func watch(of root: UInt16) -> LibraryStatus.Root.Watch {
    let count = polledCount(of: root)
    return count == 0 ? .inotify : count >= directories[root] ?? 0 ? .polling : .mixed
  }

  /// Of the roots that are watched still.
  mutating func keep(_ roots: some Sequence<UInt16>) {
    let kept = Set(roots)
    polled = polled.filter { kept.contains($0.key) }
    directories = directories.filter { kept.contains($0.key) }
  }

  func count(_ reason: PollingReason) -> Int { polled.values.reduce(0) { $0 + ($1[reason] ?? 0) } }

  /// How many folders are on file systems that tell too little, by the kind of file system.
  var fileSystems: [(name: String, count: Int)] {
    var counts: [String: Int] = [:]
    for reasons in polled.values {
      for case (.fileSystem(let name), let count) in reasons {
        counts[String(decoding: name, as: UTF8.self), default: 0] += count
      }
    }
    return counts.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
  }
}

// What is said of folders that are polled: how many, why, how late changes are seen, and what helps.
extension Library {
  /// photod-watch looks again at polled folders in which something changed lately, and at all of them, every so many
  /// seconds, in so far as its share of the processor allows.
  private static let lateness = """
    Photos that come or go there are seen within 2 seconds where something changed lately, else within 30; \
    photos edited in place within a minute; with very many folders later.
    """

  func noteWatchState(_ record: WatchRecord) {
    let before = watchState
    watchState.note(record)
    let (unwatched, uninstanced) = (watchState.count(.watchLimit), watchState.count(.noInstance))
    // photod-watch says how many folders it polls before it first says what the limit is.
    if unwatched > 0, let budget = watchState.budget, before.count(.watchLimit) == 0 || before.budget == nil {
      logger.warning("watches exhausted", metadata: ["polled": "\(unwatched)", "limit": "\(budget.limit)"])
    }
    if uninstanced > 0, before.count(.noInstance) == 0 {
      logger.warning("no inotify instance", metadata: ["polled": "\(uninstanced)"])
    }
    warnWatchState()
  }

  func forgetWatchState(ofAllBut roots: some Sequence<UInt16>) {
    watchState.keep(roots)
    warnWatchState()
  }

  /// A fresh photod-watch says anew what it polls.
  func forgetWatchState() {
    watchState = WatchState()
    warnWatchState()
  }

  private func warnWatchState() {
    let (unwatched, uninstanced) = (watchState.count(.watchLimit), watchState.count(.noInstance))
    board.warn(
      "watches",
      unwatched == 0
        ? nil
        : "\(counted(unwatched, "folder is", "folders are")) only looked at every few seconds: \(watchLimitText()) \(Self.lateness)"
    )
    board.warn(
      "instances",
      uninstanced == 0
        ? nil
        : """
        \(counted(uninstanced, "folder is", "folders are")) only looked at every few seconds: the kernel gives photod no inotify instance \
        (\(errorText(watchState.budget?.instanceError ?? 0))). Programs of this user have all of them; end some. \
        \(Self.raising("fs.inotify.max_user_instances=1024")) photod tries again by itself. \(Self.lateness)
        """)
    let kinds = watchState.fileSystems
    let count = kinds.reduce(0) { $0 + $1.count }
    board.warn(
      "filesystems",
      kinds.isEmpty
        ? nil
        : """
        \(counted(count, "folder is", "folders are")) only looked at every few seconds: \(count == 1 ? "it is" : "they are") on \
        \(kinds.map(\.name).joined(separator: ", ")), which does not tell what other machines or programs change in it. \
        \(Self.lateness)
        """)
  }

  private static func raising(_ setting: String) -> String {
    "Raise the limit: sudo sysctl \(setting); for the next boot, too: echo \(setting) | sudo tee -a /etc/sysctl.d/60-photod.conf."
  }

  private func watchLimitText() -> String {
    guard let budget = watchState.budget else { return "there are no more inotify watches." }
    let (watched, limit) = (Int(budget.watched), Int(budget.limit))
    // What is wanted, with room for growth and for the share that others keep.
    let wanted = max(limit * 2, (watched + watchState.count(.watchLimit)) * 2, 524_288)
    let name = budget.isNamespaceLimit ? "user.max_inotify_watches" : "fs.inotify.max_user_watches"
    let cause =
      budget.isRefused
      ? "photod has \(watched) inotify watches and other programs of this user the rest of the \(limit) that there are."
      : "photod has \(watched) inotify watches, all that it takes of the \(limit) that this user may have."
    return "\(cause) \(Self.raising("\(name)=\(wanted)"))"
  }
}
