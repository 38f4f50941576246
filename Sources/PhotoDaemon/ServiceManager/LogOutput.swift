import Glibc
import Logging
import Synchronization

/// The log. Each event is a line, with its data behind the message as `key=value`.
///
/// If standard error is the journal's (systemd.exec(5): `JOURNAL_STREAM` names its device and inode), an event is an
/// entry of fields, beside the journal's own. `PHOTOD_MESSAGE` is the message in the form of ``key(_:)``, by which an
/// operator selects entries, and each of its data is a `PHOTOD_…` field. If the journal's socket does not take an
/// entry, it becomes a line on standard error that begins with the priority as `<N>` (sd-daemon(3)). If standard error
/// is not the journal's, a line begins with the time and the level.
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

  /// Sets up the logging of the process, once, before the first logger is made.
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
    // The journal adds the time and the name to the line.
    let start = form == .journal ? "<\(priority)>" : "\(Self.localTime()) \(event.level) \(label): "
    write(Array((start + text + "\n").utf8))
  }

  /// Returns a message as one word: `root offline` is `root-offline`. Messages are constant, and all that varies is in
  /// their data. So the word is the same in all releases, and the documentation is ordered by it.
  package static func key(_ message: String) -> String {
    message.lowercased().split { !($0.isLetter || $0.isNumber) }.joined(separator: "-")
  }

  // MARK: - Form

  /// Whether standard error is the journal's. `JOURNAL_STREAM` is `device:inode` in decimal.
  static func form(_ environment: ProcessEnvironment) -> Form {
    var status = stat()
    guard let stream = environment.variables["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else {
      return .terminal
    }
    return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .terminal
  }

  /// The priority of syslog(3).
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

  /// Returns the value, in quotes if a reader could not see where it ends.
  private static func quoted(_ value: String) -> String {
    let line = oneLine(value)
    guard line.isEmpty || line.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return line }
    return "\"" + line.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
  }

  /// Escapes control characters. A file name may hold a newline or an escape sequence, which must not start a line or
  /// reach the terminal.
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

  /// Writes the whole line at once, so that lines of several threads don't mix. If the reader is gone, the line is
  /// dropped.
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
