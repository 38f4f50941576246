import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A status for a person.
enum StatusText {
  static func text(_ status: LibraryStatus) -> String {
    var text = "\(status.state.rawValue): \(Text.count(status.assetCount, "asset", "assets"))"
    if status.pendingCount > 0 { text += ", \(Text.grouped(status.pendingCount)) pending" }
    if status.failedCount > 0 { text += ", \(Text.grouped(status.failedCount)) unreadable" }
    text += "\n"
    if let progress = status.progress, status.state != .live { text += bar(progress, width: 30) + "\n" }
    if !status.roots.isEmpty { text += "\n" }
    let width = status.roots.reduce(0) { max($0, Printable.text($1.path).count) }
    for root in status.roots {
      let path = Printable.text(root.path)
      text += "  \(path)\(String(repeating: " ", count: width - path.count))  \(root.state.rawValue)"
      text += "  \(Text.count(root.assetCount, "asset", "assets"))"
      text += " in \(Text.count(root.directoryCount, "folder", "folders"))"
      switch root.watch {
      case .inotify: break
      case .polling: text += ", polled"
      case .mixed: text += ", \(Text.grouped(root.polledDirectoryCount)) of them polled"
      }
      text += "\n"
    }
    if !status.warnings.isEmpty { text += "\n" + warnings(status) }
    text += "\nphotod \(status.version), \(Text.count(status.connectionCount, "connection", "connections"))"
    text += ", \(Text.count(status.observerCount, "observer", "observers"))\n"
    return text + "token \(status.token)\n"
  }

  static func warnings(_ status: LibraryStatus) -> String {
    status.warnings.map { "  warning: \(Printable.text($0))\n" }.joined()
  }

  /// `[######......]  1,200 of 3,000, reading`
  static func bar(_ progress: LibraryStatus.Progress, width: Int) -> String {
    guard let total = progress.total, total > 0 else { return "\(Text.grouped(progress.done)), \(progress.phase)" }
    let done = min(max(progress.done, 0), total)
    let filled = Int(Double(done) / Double(total) * Double(width))
    return "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]  "
      + "\(Text.grouped(done)) of \(Text.grouped(total)), \(progress.phase)"
  }
}

/// One line of standard error that is written over again; nothing where that is no terminal.
struct ProgressBar {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var isDirty = false

  mutating func show(_ status: LibraryStatus) {
    guard isShown else { return }
    var line = status.state.rawValue
    if let progress = status.progress { line += "  " + StatusText.bar(progress, width: 30) }
    if status.pendingCount > 0 { line += ", \(Text.grouped(status.pendingCount)) pending" }
    var size = winsize()
    let columns = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    Output.complain("\r\u{1B}[K" + line.prefix(columns - 1))
    isDirty = true
  }

  mutating func clear() {
    guard isDirty else { return }
    Output.complain("\r\u{1B}[K")
    isDirty = false
  }
}
