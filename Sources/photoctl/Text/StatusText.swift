import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Formats a status for a person.
enum StatusText {
  static func text(_ status: LibraryStatus, style: Style = .plain) -> String {
    var text = "\(colored(status.state, style)): \(Text.count(status.assetCount, "asset", "assets"))"
    if status.pendingCount > 0 { text += ", \(Text.grouped(status.pendingCount)) pending" }
    if status.failedCount > 0 { text += ", \(Text.grouped(status.failedCount)) with unreadable content" }
    text += status.failedCount > 0 ? " (see `photoctl status --unreadable`)\n" : "\n"
    if status.state != .live, let bar = status.progress.flatMap({ Self.bar($0, width: 30) }) { text += bar + "\n" }
    if !status.roots.isEmpty { text += "\n" }
    let width = status.roots.reduce(0) { max($0, TextWidth.columns(of: Printable.text($1.path))) }
    for root in status.roots {
      text += "  \(TextWidth.padded(Printable.text(root.path), to: width))  "
      text += root.state == .online ? root.state.rawValue : style.doubtful(root.state.rawValue)
      text += "  \(Text.count(root.assetCount, "asset", "assets"))"
      text += " in \(Text.count(root.directoryCount, "folder", "folders"))"
      switch root.watch {
      case .inotify: break
      case .polling: text += ", polled"
      case .unknown: text += ", watched in an unknown way"
      case .mixed: text += ", \(Text.grouped(root.polledDirectoryCount)) of them polled"
      }
      if let since = root.since { text += ", since \(since.localTimeToMinute)" }
      text += "\n"
      if let reason = root.reason, !isWarned(reason, of: root, in: status) {
        text += "    \(Printable.text(reason))\n"
      }
    }
    if let hashing = status.hashing.flatMap(Self.hashing) { text += "\n" + hashing }
    if !status.warnings.isEmpty { text += "\n" + warnings(status, style: style) }
    if let counters = status.counters { text += "\n" + since(counters) }
    if let readers = status.readers { text += Self.readers(readers) }
    text += "\nphotod \(status.version), \(Text.count(status.connectionCount, "connection", "connections"))"
    text += ", \(Text.count(status.observerCount, "observer", "observers"))\n"
    return text + "token \(status.token)\n"
  }

  /// A warning may say the same, with the folder's path instead of "It". Then the reason is not repeated.
  private static func isWarned(_ reason: String, of root: LibraryStatus.Root, in status: LibraryStatus) -> Bool {
    reason.hasPrefix("It ") && status.warnings.contains(root.path + reason.dropFirst(2))
  }

  private static func since(_ counters: LibraryStatus.Counters) -> String {
    var text = "since its start: \(Text.grouped(counters.assetsInserted)) inserted"
    text += ", \(Text.grouped(counters.assetsUpdated)) updated, \(Text.grouped(counters.assetsRemoved)) removed; "
    text += "\(Text.count(counters.filesRead, "file", "files")) read, \(Text.count(counters.scans, "scan", "scans"))"
    if counters.overflows > 0 { text += ", \(Text.count(counters.overflows, "overflow", "overflows"))" }
    if counters.watcherStarts > 1 { text += ", \(Text.grouped(counters.watcherStarts)) starts of photod-watch" }
    return text + "\n"
  }

  private static func readers(_ readers: LibraryStatus.Readers) -> String {
    var text = "metadata is read by \(Text.count(readers.running, "process", "processes"))"
    if readers.restarts > 0 { text += ", \(Text.count(readers.restarts, "restart", "restarts"))" }
    if readers.blamedFiles > 0 { text += ", \(Text.count(readers.blamedFiles, "file", "files")) given up" }
    return text + "\n"
  }

  /// `nil` if all is done.
  private static func hashing(_ hashing: LibraryStatus.Hashing) -> String? {
    var parts: [String] = []
    if hashing.unsampledCount > 0 { parts.append(Text.count(hashing.unsampledCount, "sample", "samples")) }
    if hashing.unhashedCount > 0 { parts.append(Text.count(hashing.unhashedCount, "hash", "hashes")) }
    guard !parts.isEmpty else { return nil }
    let text = "to make while idle: " + parts.joined(separator: " and ")
    return text + (hashing.paused.map { ", paused: \($0)" } ?? "") + "\n"
  }

  static func warnings(_ status: LibraryStatus, style: Style = .plain) -> String {
    status.warnings.map { "  \(style.doubtful("warning:")) \(Printable.text($0))\n" }.joined()
  }

  /// Why a list fetched in this state may lack photos; nil if it is complete.
  static func reasonOfIncompleteLists(_ state: LibraryStatus.State) -> String? {
    switch state {
    case .opening, .scanning: "photod is still scanning the folders"
    case .recovering: "photod lost events and is scanning the folders again"
    case .live, .degraded, .unknown: nil
    }
  }

  private static func colored(_ state: LibraryStatus.State, _ style: Style) -> String {
    switch state {
    case .live: style.good(state.rawValue)
    case .degraded: style.bad(state.rawValue)
    default: style.doubtful(state.rawValue)
    }
  }

  /// `[######......]  1,200 of 3,000, reading`. Without a known total, `1,200 files seen`, or `nil` if there are none.
  static func bar(_ progress: LibraryStatus.Progress, width: Int) -> String? {
    guard let total = progress.total, total > 0 else {
      return progress.done > 0 ? "\(Text.count(progress.done, "file", "files")) seen" : nil
    }
    let done = min(max(progress.done, 0), total)
    let filled = Int(Double(done) / Double(total) * Double(width))
    return "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]  "
      + "\(Text.grouped(done)) of \(Text.grouped(total)), \(progress.phase)"
  }
}

/// One line on standard error that is overwritten again and again. It stays hidden if standard error is no terminal.
struct ProgressBar {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var isDirty = false

  mutating func show(_ status: LibraryStatus) {
    guard isShown else { return }
    var line = status.state.rawValue
    if let bar = status.progress.flatMap({ StatusText.bar($0, width: 30) }) { line += "  " + bar }
    if status.pendingCount > 0 { line += ", \(Text.grouped(status.pendingCount)) pending" }
    Output.complain("\r\u{1B}[K" + TextWidth.shortened(line, to: Output.columns(of: STDERR_FILENO) - 1))
    isDirty = true
  }

  mutating func clear() {
    guard isDirty else { return }
    Output.complain("\r\u{1B}[K")
    isDirty = false
  }
}
