import Glibc
import Logging
import Synchronization

/// The log: a line an event, its data behind it as `key=value`.
///
/// Where standard error is the journal's (systemd.exec(5): `JOURNAL_STREAM` names its device and inode), an event is an
/// entry of fields, beside the journal's own: `PHOTOD_MESSAGE`, which is the message in the form of ``key(_:)`` and so
/// what an operator asks for, and one `PHOTOD_…` for each of its data. An entry that its socket does not take is a line
/// on standard error that begins with the priority as `<N>` (sd-daemon(3)). Elsewhere a line begins with the time and
/// the level.
package struct LogOutput: LogHandler {
  package enum Form: Sendable { case journal, terminal }

  /// One level for all loggers of the process, so that a reload changes it everywhere.
  private static let sharedLevel = Atomic<Int>(1)

  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let form: Form
  private let journal: JournalSocket?
  private let write: @Sendable ([UInt8]) -> Void
  private var ownLevel: Logger.Level?

  package init(
    label: String, form: Form, journal: JournalSocket? = nil,
    write: @escaping @Sendable ([UInt8]) -> Void = Self.toStandardError
  ) {
    self.label = label
    self.form = form
    self.journal = journal
    self.write = write
  }

  /// Once a process, before the first logger is made.
  package static func bootstrap(_ environment: ProcessEnvironment) {
    level = .info
    let form = form(environment)
    let journal = form == .journal ? JournalSocket() : nil
    LoggingSystem.bootstrap { LogOutput(label: $0, form: form, journal: journal) }
  }

  package static var level: Logger.Level {
    get { Logger.Level.allCases[sharedLevel.load(ordering: .relaxed)] }
    set { sharedLevel.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
  }

  package var logLevel: Logger.Level {
    get { ownLevel ?? Self.level }
    set { ownLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var data = metadata
    if let provided = metadataProvider?.get() { data.merge(provided) { $1 } }
    if let own = event.metadata { data.merge(own) { $1 } }
    if let error = event.error { data["error"] = "\(error)" }
    let message = event.message.description
    let values = data.map { (key: $0.key, value: "\($0.value)") }.sorted { $0.key < $1.key }
    let text = values.reduce(Self.oneLine(message)) { $0 + " \($1.key)=\(Self.quoted($1.value))" }
    let priority = Self.priority(event.level)
    if let journal {
      var fields = [
        (name: "MESSAGE", value: text), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", label),
        ("PHOTOD_MESSAGE", Self.key(message)),
      ]
      for (key, value) in values { fields.append((JournalSocket.fieldName(key), value)) }
      if journal.send(fields) { return }
    }
    // The journal puts time and name before it.
    let start = form == .journal ? "<\(priority)>" : "\(Self.localTime()) \(event.level) \(label): "
    write(Array((start + text + "\n").utf8))
  }

  /// A message as a word: `root offline` is `root-offline`. Messages are constant, what changes is in their data, so this
  /// is what stays the same over releases, and what the documentation is ordered by.
  package static func key(_ message: String) -> String {
    message.lowercased().split { !($0.isLetter || $0.isNumber) }.joined(separator: "-")
  }

  // MARK: - Form

  /// Whether standard error is the journal's: the pair is `device:inode` in decimal.
  static func form(_ environment: ProcessEnvironment) -> Form {
    var status = stat()
    guard let stream = environment.variables["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else {
      return .terminal
    }
    return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .terminal
  }

  /// syslog(3)
  private static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  /// In quotes where a reader could not tell its end.
  private static func quoted(_ value: String) -> String {
    let line = oneLine(value)
    guard line.isEmpty || line.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return line }
    return "\"" + line.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
  }

  /// A name of a file may hold a newline or an escape sequence: neither reaches the terminal or starts a line.
  private static func oneLine(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: line += "\\n"
      case 0..<0x20, 0x7F..<0xA0: line += "\\u{\(String(scalar.value, radix: 16))}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  private static func localTime() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    localtime_r(&now.tv_sec, &parts)
    let numbers = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
    let time = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    let milliseconds = String(now.tv_nsec / 1_000_000)
    return time + "." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
  }

  /// The whole line at once, so that lines of several threads don't mix. A reader that is gone is nobody's loss.
  @Sendable package static func toStandardError(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return }
      sent += count
    }
  }
}
