import Glibc
import Logging
import Synchronization

/// The log: a line an event on standard error, its data behind it as `key=value`.
///
/// To the journal (systemd.exec(5): `JOURNAL_STREAM` names the device and inode of standard error) a line begins with
/// its priority as `<N>` (sd-daemon(3)), and the journal knows time and name. Elsewhere it begins with the time and the
/// level.
package struct LogOutput: LogHandler {
  package enum Form: Sendable { case journal, terminal }

  /// One level for all loggers of the process, so that a reload changes it everywhere.
  private static let sharedLevel = Atomic<Int>(1)

  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let form: Form
  private let write: @Sendable ([UInt8]) -> Void
  private var ownLevel: Logger.Level?

  package init(label: String, form: Form, write: @escaping @Sendable ([UInt8]) -> Void = Self.toStandardError) {
    self.label = label
    self.form = form
    self.write = write
  }

  /// Once a process, before the first logger is made.
  package static func bootstrap(_ environment: ProcessEnvironment) {
    level = .info
    let form = form(environment)
    LoggingSystem.bootstrap { LogOutput(label: $0, form: form) }
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
    var line = form == .journal ? "<\(Self.priority(event.level))>" : "\(Self.localTime()) \(event.level) "
    line += "\(label): \(Self.oneLine(event.message.description))"
    var data = metadata
    if let provided = metadataProvider?.get() { data.merge(provided) { $1 } }
    if let own = event.metadata { data.merge(own) { $1 } }
    for (key, value) in data.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(Self.quoted("\(value)"))" }
    if let error = event.error { line += " error=\(Self.quoted("\(error)"))" }
    write(Array((line + "\n").utf8))
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
