import Glibc
import Logging
import PhotoDaemon
import Synchronization
import Testing

@Suite struct ServiceNotifierTests {
  @Test func messagesArriveAtAPath() async throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/notify")
    let notifier = ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/notify"]))
    #expect(notifier.ready(status: "Live, 3 photos") == nil)
    #expect(try await socket.next() == "READY=1\nSTATUS=Live, 3 photos")
    notifier.status("two\nREADY=1")
    #expect(try await socket.next() == "STATUS=two READY=1")
    notifier.alive()
    #expect(try await socket.next() == "WATCHDOG=1")
    notifier.stopping(status: "Stopping")
    #expect(try await socket.next() == "STOPPING=1\nSTATUS=Stopping")
  }

  @Test func messagesArriveAtAnAbstractName() async throws {
    let scratch = try Scratch()
    let name = "@photod-test-\(getpid())-\(scratch.path)"
    let socket = try NotifySocket(name)
    #expect(ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": name])).alive() == nil)
    #expect(try await socket.next() == "WATCHDOG=1")
  }

  @Test func aManagerThatDoesNotReadDelaysNoCaller() throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/notify")
    let notifier = ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/notify"]))
    let answers = (0..<10_000).map { _ in notifier.alive() }
    #expect(answers.first == .some(nil) && answers.last == "Resource temporarily unavailable")
    #expect(notifier.status("busy") != nil)
    withExtendedLifetime(socket) {}
  }

  @Test func reloadingHasAMonotonicTime() async throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/notify")
    let notifier = ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/notify"]))
    func now() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
    let before = now()
    notifier.reloading()
    let message = try await socket.next()
    let microseconds = try #require(Int(message.split(separator: "=").last ?? ""))
    #expect(message.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    #expect((before...now()).contains(microseconds))
  }

  @Test func notificationWithoutAManagerIsSkippedAndWithADeadOneIsLogged() throws {
    let scratch = try Scratch()
    #expect(ServiceNotifier(scratch.environment()).alive() == nil)
    #expect(
      ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/none"])).alive()
        == "No such file or directory")
    #expect(ServiceNotifier(scratch.environment(["NOTIFY_SOCKET": "vsock:2:1"])).alive() != nil)
  }

  @Test(
    arguments: [
      (["WATCHDOG_USEC": "3000000"], Duration.seconds(3)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"], .seconds(3)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "x"], nil), (["WATCHDOG_USEC": "18446744073709551615"], nil),
      ([:], nil),
    ] as [([String: String], Duration?)])
  func theWatchdogIsForThisProcess(variables: [String: String], interval: Duration?) throws {
    #expect(ServiceNotifier(try Scratch().environment(variables)).watchdogInterval == interval)
  }
}

@Suite struct LogOutputTests {
  private func line(_ form: LogOutput.Form, _ log: (Logger) -> Void) -> String {
    let written = Mutex<[UInt8]>([])
    withoutActuallyEscaping({ (bytes: [UInt8]) in written.withLock { $0 += bytes } } as @Sendable ([UInt8]) -> Void) {
      write in
      var handler = LogOutput(label: "photod", form: form, write: write)
      handler.logLevel = .trace
      log(Logger(label: "photod", factory: { _ in handler }))
    }
    return String(decoding: written.withLock { $0 }, as: UTF8.self)
  }

  @Test(arguments: [
    (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
  ])
  func theJournalGetsAPriority(level: Logger.Level, priority: Int) {
    #expect(line(.journal) { $0.log(level: level, "root offline") } == "<\(priority)>root offline\n")
  }

  @Test func logLineHasItsMetadataAfterTheMessage() {
    let text = line(.journal) {
      $0.info("file failed", metadata: ["path": "/a b/\n\u{1B}[31m\"x\"", "count": "3", "empty": ""])
    }
    #expect(text == "<6>file failed count=3 empty=\"\" path=\"/a b/\\n\\u{1b}[31m\\\"x\\\"\"\n")
  }

  @Test func theTerminalGetsTimeAndLevel() {
    let text = line(.terminal) { $0.notice("live") }
    #expect(text.wholeMatch(of: /\d\d:\d\d:\d\d\.\d\d\d notice photod: live\n/) != nil)
  }
}
