import Dispatch
import Glibc
import Logging
import PhotoModel
import PhotoServer
import ServiceLifecycle
import Synchronization
import Testing
import Varlink

@testable import PhotoDaemon

/// A library that does what the test orders, and records the calls that it gets.
private final class ScriptedLibrary: RunningLibrary {
  enum Event: Hashable, Sendable {
    case serving
    case moved
    case reloaded(Configuration)
    case askedAlive, drained, stopped
  }

  let statusLines: AsyncStream<String>
  /// The calls, as they happen.
  let events: AsyncStream<Event>
  let reopenReasons: AsyncStream<ReopenReason>
  let reason: AsyncStream<ReopenReason>.Continuation
  let descriptor = Atomic<Int32>(-1)
  let isAlive = Atomic(true)
  private let askedCount = Atomic(0)
  let idleSeconds = Atomic(0)
  private let event: AsyncStream<Event>.Continuation
  private let status: AsyncStream<String>.Continuation
  private let ended: AsyncStream<Never>
  private let end: AsyncStream<Never>.Continuation
  private let ignoresStop: Bool
  private let mayReload: AsyncStream<Void>?

  /// - Parameter mayReload: a reload lasts until this stream ends.
  init(ignoresStop: Bool = false, mayReload: AsyncStream<Void>? = nil) {
    (statusLines, status) = AsyncStream.makeStream()
    (events, event) = AsyncStream.makeStream()
    (ended, end) = AsyncStream.makeStream()
    (reopenReasons, reason) = AsyncStream.makeStream()
    self.ignoresStop = ignoresStop
    self.mayReload = mayReload
  }

  func publish(_ line: String) { status.yield(line) }
  func finish() { end.finish() }

  func serve(on descriptor: Int32) async throws {
    self.descriptor.store(descriptor, ordering: .relaxed)
    event.yield(.serving)
    for await _ in ended {}
    close(self.descriptor.load(ordering: .relaxed))
  }

  func move(to descriptor: Int32) async throws -> Bool {
    close(self.descriptor.exchange(descriptor, ordering: .relaxed))
    event.yield(.moved)
    return true
  }

  func reload(_ configuration: Configuration) async throws {
    event.yield(.reloaded(configuration))
    if let mayReload { for await _ in mayReload {} }
  }

  func whenAlive(_ proven: @escaping @Sendable () -> Void) {
    event.yield(.askedAlive)
    askedCount.add(1, ordering: .relaxed)
    if isAlive.load(ordering: .relaxed) { proven() }
  }

  /// Returns after this many more turns.
  func reach(turns: Int) async {
    let last = askedCount.load(ordering: .relaxed) + turns
    while askedCount.load(ordering: .relaxed) < last { await Task.yield() }
  }

  var idleTime: Duration { .seconds(idleSeconds.load(ordering: .relaxed)) }
  func drain() async { event.yield(.drained) }

  func stop() async {
    event.yield(.stopped)
    if !ignoresStop {
      end.finish()
      status.finish()
    }
  }
}

/// A daemon in this process, with signals and libraries from the test.
private struct Fixture: Sendable {
  let scratch: Scratch
  let hangups: AsyncStream<Void>
  let hangup: AsyncStream<Void>.Continuation
  let groups: AsyncStream<ServiceGroup>
  private let group: AsyncStream<ServiceGroup>.Continuation

  init() throws {
    scratch = try Scratch()
    try scratch.directory("Pictures")
    (hangups, hangup) = AsyncStream.makeStream()
    (groups, group) = AsyncStream.makeStream()
  }

  func run(
    _ more: [String: String] = [:], library: ScriptedLibrary, degraded: ScriptedLibrary? = nil,
    program: ProgramFile? = nil, log: any LogHandler = SwiftLogNoOpLogHandler(),
    reasons: @escaping @Sendable ([String]) -> Void = { _ in },
    report: @Sendable (String) -> Void = { _ in }, cutOff: @escaping @Sendable () -> Void = {}
  ) async -> EndStatus {
    let parts = DaemonParts(
      openLibrary: { _, _ in library },
      openDegraded: { given, _ in
        reasons(given)
        return degraded ?? library
      })
    return await run(parts, more, program: program, log: log, report: report, cutOff: cutOff)
  }

  func run(
    _ parts: DaemonParts, _ more: [String: String] = [:], program: ProgramFile? = nil,
    log: any LogHandler = SwiftLogNoOpLogHandler(), report: @Sendable (String) -> Void = { _ in },
    cutOff: @escaping @Sendable () -> Void = {}
  ) async -> EndStatus {
    await Daemon.run(
      options: Options(), environment: scratch.environment(more), parts: parts, hangups: hangups, stopSignals: [],
      logger: Logger(label: "test", factory: { _ in log }), report: report, cutOff: cutOff, program: program,
      started: { group.yield($0) })
  }

  /// Stops the daemon as SIGTERM does.
  func terminate() async {
    for await group in groups {
      await group.triggerGracefulShutdown()
      return
    }
  }
}

extension AsyncStream where Element == ScriptedLibrary.Event {
  /// Reads until the event; false if the stream ends before.
  fileprivate func reach(_ wanted: Element) async -> Bool {
    for await event in self where event == wanted { return true }
    return false
  }
}

@Suite(.timeLimit(.minutes(10))) struct DaemonTests {
  @Test func theManagerGetsEachStateAndNoFileRemains() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    let library = ScriptedLibrary()
    async let status = fixture.run(["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify"], library: library)
    #expect(await library.events.reach(.serving))
    let socket = "\(fixture.scratch.path)/run/photod/photod.sock"
    #expect(connectionResult(socket) == 0)
    #expect(try await manager.next() == "READY=1\nSTATUS=opening")
    library.publish("Live, 3 photos")
    #expect(try await manager.next() == "STATUS=Live, 3 photos")
    await fixture.terminate()
    #expect(try await manager.next() == "STOPPING=1\nSTATUS=stopping")
    #expect(await status == .success)
    #expect(mode(socket) == nil)
    // The lock was released too. A process that another test starts just now may hold a copy of its descriptor until it
    // execs.
    let catalog = "\(fixture.scratch.path)/.local/share/photod/catalog.sqlite"
    let deadline = ContinuousClock.now + .seconds(10)
    while (try? InstanceLock(besideCatalog: catalog)) == nil, ContinuousClock.now < deadline { await Task.yield() }
    _ = try InstanceLock(besideCatalog: catalog)
  }

  @Test func hangupAppliesTheNewConfigurationAndAWrongOneOnlyWarns() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    let library = ScriptedLibrary()
    async let status = fixture.run(["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify"], library: library)
    var events = library.events.makeAsyncIterator()
    #expect(await events.next() == .serving)
    #expect(try await manager.next().hasPrefix("READY=1"))

    try fixture.scratch.directory(".config/photod")
    try fixture.scratch.directory("other")
    let file = ".config/photod/config.toml"
    try fixture.scratch.file(file, "roots = [\"~/other\"]\nremoval-grace-seconds = 7\ncatalog = \"/x/c.sqlite\"")
    fixture.hangup.yield()
    guard case .reloaded(let configuration) = await events.next() else { throw Missing() }
    #expect(configuration.roots == ["\(fixture.scratch.path)/other"])
    #expect(configuration.removalGrace == .seconds(7))
    #expect(configuration.catalog == "\(fixture.scratch.path)/.local/share/photod/catalog.sqlite")
    #expect(
      configuration.warnings == ["The configuration has another catalog, /x/c.sqlite. Restart photod to use it."])
    #expect(try await manager.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    #expect(try await manager.next() == "READY=1")

    try fixture.scratch.file(file, "rots = 1")
    fixture.hangup.yield()
    guard case .reloaded(let kept) = await events.next() else { throw Missing() }
    #expect(kept.roots == configuration.roots)
    #expect(kept.warnings.count == 1)
    #expect(kept.warnings[0].contains("config.toml:1: unknown key \"rots\""))
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test func wrongConfigurationEndsAProcessStartedByHand() async throws {
    let fixture = try Fixture()
    try fixture.scratch.directory(".config/photod")
    try fixture.scratch.file(".config/photod/config.toml", "rots = 1")
    let printed = Mutex("")
    let status = await fixture.run(library: ScriptedLibrary(), report: { text in printed.withLock { $0 += text } })
    #expect(status == .configuration)
    #expect(
      printed.withLock { $0 } == """
        photod: \(fixture.scratch.path)/.config/photod/config.toml:1: unknown key "rots"
          The keys are catalog, ignore, image-cache-size, log-level, poll-interval-seconds, removal-grace-seconds, roots, share-thumbnails, socket.
          See `photod --help` for options, files and exit codes.

        """)
  }

  @Test func asAServiceItStaysUpDegradedUntilTheConfigurationIsMended() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    try fixture.scratch.directory(".config/photod")
    try fixture.scratch.file(".config/photod/config.toml", "rots = 1")
    let (library, degraded) = (ScriptedLibrary(), ScriptedLibrary())
    let reasons = Mutex<[String]>([])
    async let status = fixture.run(
      ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify"], library: library, degraded: degraded,
      reasons: { given in reasons.withLock { $0 = given } })
    #expect(await degraded.events.reach(.serving))
    #expect(try await manager.next() == "READY=1\nSTATUS=degraded")
    #expect(reasons.withLock { $0 }.first?.contains("unknown key \"rots\". The keys are") == true)
    #expect(connectionResult("\(fixture.scratch.path)/run/photod/photod.sock") == 0)

    try fixture.scratch.file(".config/photod/config.toml", "log-level = \"info\"")
    fixture.hangup.yield()
    #expect(await library.events.reach(.serving))
    #expect(try await manager.next().hasPrefix("RELOADING=1"))
    #expect(try await manager.next() == "READY=1\nSTATUS=opening")
    #expect(connectionResult("\(fixture.scratch.path)/run/photod/photod.sock") == 0)
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// The configured file may be a photo. Nothing stays beside it, however photod fails.
  @Test(arguments: [false, true]) func aStartThatFailsLeavesNoLock(isSocketTaken: Bool) async throws {
    let fixture = try Fixture()
    let socket = isSocketTaken ? try SocketFile(binding: "\(fixture.scratch.path)/run/photod/photod.sock") : nil
    let parts = DaemonParts(
      openLibrary: { _, _ in throw StartError(.inputOutput, "it is no catalog", remedy: "Give another.") },
      openDegraded: { _, _ in ScriptedLibrary() })
    #expect(await fixture.run(parts) == (isSocketTaken ? .alreadyRunning : .inputOutput))
    #expect(mode("\(fixture.scratch.path)/.local/share/photod") != nil)
    #expect(mode("\(fixture.scratch.path)/.local/share/photod/catalog.sqlite.lock") == nil)
    _ = socket?.close()
  }

  @Test func aSecondInstanceByHandEnds() async throws {
    let fixture = try Fixture()
    let lock = try InstanceLock(besideCatalog: "\(fixture.scratch.path)/.local/share/photod/catalog.sqlite")
    #expect(await fixture.run(library: ScriptedLibrary()) == .alreadyRunning)
    withExtendedLifetime(lock) {}
  }

  @Test func aServiceStandsByUntilTheOtherEnds() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    var lock: InstanceLock? = try InstanceLock(
      besideCatalog: "\(fixture.scratch.path)/.local/share/photod/catalog.sqlite")
    let (library, degraded) = (ScriptedLibrary(), ScriptedLibrary())
    let reasons = Mutex<[String]>([])
    async let status = fixture.run(
      ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify"], library: library, degraded: degraded,
      reasons: { given in reasons.withLock { $0 = given } })
    #expect(await degraded.events.reach(.serving))
    #expect(try await manager.next() == "READY=1\nSTATUS=degraded")
    #expect(reasons.withLock { $0 }.first?.hasPrefix("process \(getpid()) (") == true)
    withExtendedLifetime(lock) {}
    lock = nil
    #expect(await degraded.events.reach(.stopped))
    #expect(await library.events.reach(.serving))
    try await manager.next(beginning: "READY=1\nSTATUS=opening")
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test func aLibraryIsOpenedAnewAtTheSameSocket() async throws {
    let fixture = try Fixture()
    let (first, second) = (ScriptedLibrary(), ScriptedLibrary())
    let reopened = Mutex<[ReopenReason]>([])
    var parts = DaemonParts(openLibrary: { _, _ in first }, openDegraded: { _, _ in first })
    parts.reopenLibrary = { _, reason, _ in
      reopened.withLock { $0.append(reason) }
      return second
    }
    async let status = fixture.run(parts)
    #expect(await first.events.reach(.serving))
    first.reason.yield(.restored)
    #expect(await first.events.reach(.drained))
    #expect(await first.events.reach(.stopped))
    #expect(await second.events.reach(.serving))
    #expect(reopened.withLock { $0 } == [.restored])
    #expect(connectionResult("\(fixture.scratch.path)/run/photod/photod.sock") == 0)
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// The library is closed while it takes the new configuration.
  @Test(arguments: [true, false]) func aReloadIsNotLostToAReopening(isOpen: Bool) async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    let (mayReload, reloaded) = AsyncStream<Void>.makeStream()
    let (mayOpen, opened) = AsyncStream<Void>.makeStream()
    let (first, second) = (ScriptedLibrary(mayReload: mayReload), ScriptedLibrary())
    var parts = DaemonParts(openLibrary: { _, _ in first }, openDegraded: { _, _ in first })
    parts.reopenLibrary = { _, _, _ in
      for await _ in mayOpen {}
      return second
    }
    async let status = fixture.run(parts, ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify"])
    var events = first.events.makeAsyncIterator()
    #expect(await events.next() == .serving)
    #expect(try await manager.next().hasPrefix("READY=1"))
    try fixture.scratch.directory(".config/photod")
    let other = try fixture.scratch.directory("other")
    try fixture.scratch.file(".config/photod/config.toml", "roots = [\"~/other\"]")
    fixture.hangup.yield()
    guard case .reloaded = await events.next() else { throw Missing() }
    #expect(try await manager.next().hasPrefix("RELOADING=1"))
    first.reason.yield(.damaged)
    #expect(await events.next() == .drained)
    #expect(await events.next() == .stopped)
    #expect(try await manager.next().hasPrefix("RELOADING=1"))
    var later = second.events.makeAsyncIterator()
    if isOpen {
      opened.finish()
      #expect(await later.next() == .serving)
      #expect(try await manager.next().hasPrefix("READY=1"))
      reloaded.finish()
    } else {
      reloaded.finish()
      // The next message comes only after the library is open. `stop` at the end waits for the reload.
      for _ in 0..<1_000 { await Task.yield() }
      opened.finish()
    }
    #expect(try await manager.next().hasPrefix("RELOADING=1"), "the first library was not ready")
    guard case .reloaded(let configuration) = await later.next() else { throw Missing() }
    #expect(configuration.roots == [other])
    #expect(try await manager.next().hasPrefix("READY=1"))
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test func statusReportsTheUpgradeOfTheCatalog() async throws {
    struct Reply: Decodable { let status: LibraryStatus }
    let fixture = try Fixture()
    let library = ScriptedLibrary()
    let socket = "\(fixture.scratch.path)/run/photod/photod.sock"
    let (gate, opened) = AsyncStream<Void>.makeStream()
    var parts = DaemonParts(openLibrary: { _, _ in library }, openDegraded: { _, _ in library })
    parts.openLibrary = { _, progress, _, _ in
      try progress.note(.copying(done: 1, total: 4))
      for await _ in gate {}
      return library
    }
    async let status = fixture.run(parts)
    while connectionResult(socket) != 0 { await Task.yield() }
    let client = try await VarlinkClient.connect(path: socket)
    let reply = try await client.call("org.photod.library.Status", VarlinkEmpty(), returning: Reply.self)
    #expect(reply.status.state == .opening)
    #expect(reply.status.progress == .init(done: 1, total: 4, phase: "pages of the catalog copied"))
    let error = await #expect(throws: VarlinkError.self) {
      _ = try await client.call("org.photod.library.Fetch", VarlinkEmpty(), returning: VarlinkEmpty.self)
    }
    #expect(error?.name == "org.photod.library.LibraryUnavailable")
    opened.finish()
    #expect(await library.events.reach(.serving))
    await client.close()
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// The finished steps are kept, so that the next start continues after them.
  @Test func aStopEndsAnUpgrade() async throws {
    let fixture = try Fixture()
    let library = ScriptedLibrary()
    let begun = AsyncStream<Void>.makeStream()
    var parts = DaemonParts(openLibrary: { _, _ in library }, openDegraded: { _, _ in library })
    parts.openLibrary = { _, progress, _, _ in
      var done = 0
      while true {
        done += 1
        try progress.note(.copying(done: done, total: .max))
        begun.continuation.yield()
        await Task.yield()
      }
    }
    async let status = fixture.run(parts)
    for await _ in begun.stream { break }
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// A photod that was started by hand does not end either, because its library was already open.
  @Test func libraryThatCannotBeReopenedIsDegradedUntilItCan() async throws {
    let fixture = try Fixture()
    let (first, second, degraded) = (ScriptedLibrary(), ScriptedLibrary(), ScriptedLibrary())
    let attempts = Mutex(0)
    var parts = DaemonParts(openLibrary: { _, _ in first }, openDegraded: { _, _ in degraded })
    parts.retryInterval = .milliseconds(1)
    parts.reopenLibrary = { _, _, _ in
      guard
        attempts.withLock({
          $0 += 1
          return $0 > 3
        })
      else {
        throw StartError(.inputOutput, "the disk is full", remedy: "Make room.")
      }
      return second
    }
    async let status = fixture.run(parts)
    #expect(await first.events.reach(.serving))
    first.reason.yield(.damaged)
    #expect(await degraded.events.reach(.serving))
    #expect(await degraded.events.reach(.stopped))
    #expect(await second.events.reach(.serving))
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test func watchdogGetsPingsOnlyFromAWorkingLibrary() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    let library = ScriptedLibrary()
    async let status = fixture.run(
      ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify", "WATCHDOG_USEC": "20000"], library: library)
    var events = library.events.makeAsyncIterator()
    while await events.next() != .askedAlive {}
    try await manager.next(beginning: "READY=1")
    try await manager.next(beginning: "WATCHDOG=1")
    library.isAlive.store(false, ordering: .relaxed)
    // After two more turns, no ping of an earlier turn is under way. The events of earlier turns may still wait.
    await library.reach(turns: 2)
    library.publish("marker")
    try await manager.next(beginning: "STATUS=marker")
    await library.reach(turns: 3)
    library.publish("end")
    #expect(try await manager.next() == "STATUS=end")
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test func aLibraryThatIsReopenedIsCheckedByTheWatchdog() async throws {
    let fixture = try Fixture()
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    let (first, second) = (ScriptedLibrary(ignoresStop: true), ScriptedLibrary())
    let parts = {
      var parts = DaemonParts(openLibrary: { _, _ in first }, openDegraded: { _, _ in first })
      parts.reopenLibrary = { _, _, _ in second }
      return parts
    }()
    async let status = fixture.run(
      parts, ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify", "WATCHDOG_USEC": "20000"])
    try await manager.next(beginning: "WATCHDOG=1")
    first.isAlive.store(false, ordering: .relaxed)
    first.reason.yield(.restored)
    #expect(await first.events.reach(.stopped))
    // It hangs, so it is asked in vain, and the manager gets no ping.
    await first.reach(turns: 3)
    first.finish()
    #expect(await second.events.reach(.askedAlive))
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// The messages that the manager refused, as they are named in the log.
  private struct RefusalLog: LogHandler {
    let refused: AsyncStream<String>
    private let message: AsyncStream<String>.Continuation
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    init() { (refused, message) = AsyncStream.makeStream() }

    func log(event: LogEvent) {
      if event.message == "manager busy", let text = event.metadata?["message"] { message.yield("\(text)") }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    /// Returns when each of these messages was refused after this call.
    func wait(for messages: Set<String>) async {
      var missing = messages
      for await text in refused {
        missing.remove(text)
        if missing.isEmpty { return }
      }
    }
  }

  /// A manager whose queue is full.
  private func busyManager(_ fixture: Fixture) throws -> (NotifySocket, variables: [String: String]) {
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    // Ten minutes, so that no regular ping falls into these tests.
    let variables = ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify", "WATCHDOG_USEC": "600000000"]
    let other = ServiceNotifier(fixture.scratch.environment(variables))
    while other.status("filler") == nil {}
    return (manager, variables)
  }

  private func expect(_ messages: Set<String>, at manager: NotifySocket) async throws {
    var missing = messages
    while !missing.isEmpty {
      let message = try await manager.next()
      missing = missing.filter { !message.hasPrefix($0) }
    }
  }

  @Test func notificationThatABusyManagerRefusedIsSentAgain() async throws {
    let fixture = try Fixture()
    let (manager, variables) = try busyManager(fixture)
    let (library, log) = (ScriptedLibrary(), RefusalLog())
    async let status = fixture.run(variables, library: library, log: log)
    library.publish("live")
    await log.wait(for: ["READY=1", "STATUS=live"])
    // The library is asked again only after a ping was refused.
    var events = library.events.makeAsyncIterator()
    for _ in 0..<2 { while await events.next() != .askedAlive {} }
    try await expect(["READY=1", "WATCHDOG=1", "STATUS=live"], at: manager)
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// The same holds while the library is being opened: an upgrade may take longer than the manager waits for a start.
  @Test func readinessThatIsRefusedDuringAnUpgradeIsSentAgain() async throws {
    let fixture = try Fixture()
    let (manager, variables) = try busyManager(fixture)
    let (library, log) = (ScriptedLibrary(), RefusalLog())
    let (gate, opened) = AsyncStream<Void>.makeStream()
    var parts = DaemonParts(openLibrary: { _, _ in library }, openDegraded: { _, _ in library })
    parts.openLibrary = { _, progress, _, _ in
      try progress.note(.copying(done: 1, total: 4))
      for await _ in gate {}
      return library
    }
    async let status = fixture.run(parts, variables, log: log)
    await log.wait(for: ["READY=1"])
    try await expect(["READY=1"], at: manager)
    opened.finish()
    #expect(await library.events.reach(.serving))
    await fixture.terminate()
    #expect(await status == .success)
  }

  @Test(arguments: [true, false]) func aSocketWhoseFileIsDeletedIsMadeAgain(isHangup: Bool) async throws {
    let fixture = try Fixture()
    let library = ScriptedLibrary()
    // The check is made at half of the watchdog's interval, and at each SIGHUP.
    let interval = isHangup ? "600000000" : "20000"
    let manager = try NotifySocket("\(fixture.scratch.path)/notify")
    async let status = fixture.run(
      ["NOTIFY_SOCKET": "\(fixture.scratch.path)/notify", "WATCHDOG_USEC": interval], library: library)
    try await manager.next(beginning: "READY=1")
    let socket = "\(fixture.scratch.path)/run/photod/photod.sock"
    #expect(connectionResult(socket) == 0)
    #expect(unlink(socket) == 0)
    if isHangup { fixture.hangup.yield() }
    #expect(await library.events.reach(.moved))
    #expect(connectionResult(socket) == 0)
    await fixture.terminate()
    #expect(await status == .success)
    #expect(mode(socket) == nil)
  }

  @Test func aStopThatHangsIsCutOffWithinTwoSeconds() async throws {
    let fixture = try Fixture()
    let library = ScriptedLibrary(ignoresStop: true)
    let clock = ContinuousClock()
    let stopped = Mutex(clock.now)
    let took = Mutex<Duration?>(nil)
    async let status = fixture.run(
      library: library,
      cutOff: {
        took.withLock { $0 = stopped.withLock { clock.now - $0 } }
        library.finish()
      })
    #expect(await library.events.reach(.serving))
    stopped.withLock { $0 = clock.now }
    await fixture.terminate()
    #expect(await status == .success)
    let time = try #require(took.withLock { $0 })
    #expect(time >= Daemon.stopTime - .milliseconds(50))
  }

  /// A terminal that was stopped, or a pipe, blocks the log like this.
  @Test func aBlockedLogDoesNotDelayTheStop() async throws {
    let fixture = try Fixture()
    let library = ScriptedLibrary(ignoresStop: true)
    let log = UnreadLog()
    async let status = fixture.run(
      library: library, log: log,
      cutOff: {
        log.isRead.signal()
        library.finish()
      })
    #expect(await library.events.reach(.serving))
    await fixture.terminate()
    #expect(await status == .success)
  }

  /// Blocks each error until the test has read it.
  private struct UnreadLog: LogHandler {
    let isRead = DispatchSemaphore(value: 0)
    var logLevel = Logger.Level.error
    var metadata: Logger.Metadata = [:]

    func log(event: LogEvent) { isRead.wait() }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
  }

  @Test func replacedDaemonLeavesItsSocketToTheNext() async throws {
    let fixture = try Fixture()
    let scratch = fixture.scratch
    let manager = try NotifySocket("\(scratch.path)/notify")
    let socket = try SocketFile(binding: "\(scratch.path)/given")
    defer { socket.close() }
    let path = try scratch.file("program")
    #expect(symlink(path, "\(scratch.path)/exe") == 0)
    let environment = scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/notify", "WATCHDOG_USEC": "4000000"])
    let library = ScriptedLibrary()
    let life = DaemonLife(
      .success(try Configuration.load(options: Options(), environment: environment)), lock: nil, options: Options(),
      environment: environment,
      parts: DaemonParts(openLibrary: { _, _ in library }, openDegraded: { _, _ in library }),
      socket: ListeningSocket(given: socket.descriptor), program: ProgramFile(link: "\(scratch.path)/exe"),
      hangups: fixture.hangups, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    async let end: Void = life.run()
    async let told: Void = manager.next(beginning: "STOPPING=1\nSTATUS=ending for the new program")
    var events = library.events.makeAsyncIterator()
    while await events.next() != .serving {}

    #expect(rename(path, "\(path).old") == 0)
    try scratch.file("program")
    #expect(chmod(path, 0o755) == 0)
    // The replacement is noticed, and photod goes on listening.
    for _ in 0..<3 { #expect(await events.next() == .askedAlive) }
    library.idleSeconds.store(5, ordering: .relaxed)
    while let event = await events.next(), event != .drained { #expect(event == .askedAlive) }
    #expect(await events.next() == .stopped)
    try await end
    try await told
    #expect(connectionResult("\(scratch.path)/given") == 0)
  }

  /// Nothing could start the next photod if no client can connect to the socket.
  @Test func replacedDaemonWhoseSocketIsLostStays() async throws {
    let fixture = try Fixture()
    let scratch = fixture.scratch
    let socket = try SocketFile(binding: "\(scratch.path)/given")
    defer { socket.close() }
    let path = try scratch.file("program")
    #expect(symlink(path, "\(scratch.path)/exe") == 0)
    let manager = try NotifySocket("\(scratch.path)/notify")
    let environment = scratch.environment(["NOTIFY_SOCKET": "\(scratch.path)/notify", "WATCHDOG_USEC": "20000"])
    let (library, log) = (ScriptedLibrary(), MessageLog())
    let events = Mutex<[ScriptedLibrary.Event]>([])
    let reading = Task { for await event in library.events { events.withLock { $0.append(event) } } }
    let life = DaemonLife(
      .success(try Configuration.load(options: Options(), environment: environment)), lock: nil, options: Options(),
      environment: environment,
      parts: DaemonParts(openLibrary: { _, _ in library }, openDegraded: { _, _ in library }),
      socket: ListeningSocket(given: socket.descriptor), program: ProgramFile(link: "\(scratch.path)/exe"),
      hangups: fixture.hangups, logger: Logger(label: "test", factory: { _ in log }))
    let end = Task { try await life.run() }
    try await manager.next(beginning: "READY=1")
    #expect(unlink("\(scratch.path)/given") == 0)
    await log.wait(for: "socket unreachable")
    #expect(rename(path, "\(path).old") == 0)
    try scratch.file("program")
    #expect(chmod(path, 0o755) == 0)
    await log.wait(for: "replaced")
    library.idleSeconds.store(9_999, ordering: .relaxed)
    let count = events.withLock { $0.count }
    while events.withLock({ $0.count <= count + 10 && !$0.contains(.drained) }) { await Task.yield() }
    #expect(events.withLock { !$0.contains(.drained) })
    end.cancel()
    reading.cancel()
    _ = await end.result
  }

  /// The messages of a log, as they come.
  private struct MessageLog: LogHandler {
    private let messages: AsyncStream<String>
    private let message: AsyncStream<String>.Continuation
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    init() { (messages, message) = AsyncStream.makeStream() }

    func log(event: LogEvent) { message.yield("\(event.message)") }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func wait(for wanted: String) async { for await text in messages where text == wanted { return } }
  }

  @Test func aServiceThatEndsByItselfIsAnError() async throws {
    let fixture = try Fixture()
    let library = ScriptedLibrary()
    async let status = fixture.run(library: library)
    #expect(await library.events.reach(.serving))
    library.finish()
    #expect(await status == .software)
  }

  private struct Missing: Error {}
}
