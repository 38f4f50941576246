import Glibc
import Logging
import PhotoServer
import ServiceLifecycle

/// The service of which the process consists. It opens, serves, reloads and stops the library.
///
/// The socket belongs to the process, and each library gets a duplicate. So a daemon that was `degraded` opens a
/// library at the same socket when its configuration is corrected, and clients never find the socket closed.
actor DaemonLife: Service {
  private enum State {
    /// There is no library yet. A reload that is asked for meanwhile is done after the opening.
    case opening(reloadAsked: Bool)
    case serving(any RunningLibrary, Configuration)
    /// photod answers with the reason why it can't work. If `waits` is true, the problem may end without a reload, and
    /// photod tries again.
    case degraded(any RunningLibrary, waits: Bool)
    /// photod stops. No other state follows.
    case stopping
  }

  private var state = State.opening(reloadAsked: false) {
    didSet { if isStopping { ping?.use(.none) } }
  }
  /// The configuration for the next library, or the error of loading it.
  private var next: Result<Configuration, StartError>
  /// The lock of the catalog, held from the first library on. A degraded daemon needs none.
  private var lock: InstanceLock?
  /// Whether the catalog could be opened. If not, it may be a file of another program, and the lock is not left beside it.
  private var hasOpened = false
  /// Why the last library was closed; nil before that.
  private var reopenReason: ReopenReason?
  /// The library that was opened while a degraded one still answered.
  private var opened: (any RunningLibrary, Configuration)?

  private let options: Options
  private let environment: ProcessEnvironment
  private let parts: DaemonParts
  private let socket: ListeningSocket
  /// The library or stand-in that answers at the socket now.
  private var answering: (any RunningLibrary)?
  /// Why clients can't reach the socket, as it was logged last.
  private var socketProblem: String?
  /// Whether the library or stand-in accepts connections at the socket, and not at one whose file was deleted.
  private var isSocketServed = true
  /// Whether ``restoreSocket()`` runs. SIGHUP may come while the regular check waits for the library.
  private var isRestoringSocket = false
  private let program: ProgramFile?
  private var departure = Departure()
  private let notifier: ServiceNotifier
  /// Nil without a watchdog.
  private let ping: WatchdogPing?
  private var unsent: UnsentMessages {
    didSet { if !unsent.areNone { refusal.yield() } }
  }
  /// Yields an element after the manager refused a message.
  private let refusals: AsyncStream<Void>
  private let refusal: AsyncStream<Void>.Continuation
  private let hangups: AsyncStream<Void>
  private let logger: Logger

  /// - Parameters:
  ///   - lock: The lock of the configuration's catalog, if there is a configuration.
  ///   - socket: The caller closes it.
  ///   - program: The program that runs; nil if it is not known.
  ///   - hangups: Yields an element for each SIGHUP.
  init(
    _ first: Result<Configuration, StartError>, lock: InstanceLock?, options: Options, environment: ProcessEnvironment,
    parts: DaemonParts, socket: ListeningSocket, program: ProgramFile?, hangups: AsyncStream<Void>, logger: Logger
  ) {
    next = first
    self.lock = lock
    self.options = options
    self.environment = environment
    self.parts = parts
    self.socket = socket
    self.program = program
    self.hangups = hangups
    self.logger = logger
    notifier = ServiceNotifier(environment)
    unsent = UnsentMessages(notifier, logger)
    (refusals, refusal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    ping = WatchdogPing(notifier)
  }

  /// Runs until graceful shutdown, or until the library can't go on.
  func run() async throws {
    enum Part { case service, companion }
    ping?.start()
    defer { ping?.end() }
    defer { if !hasOpened { lock?.removeIfNew() } }
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        try await self.serveUntilStopped()
        return .service
      }
      group.addTask {
        for await _ in self.hangups {
          await self.restoreSocket()
          await self.reload()
        }
        return .companion
      }
      group.addTask {
        await self.takeTurns()
        return .companion
      }
      group.addTask {
        await self.sendRefusedMessages()
        return .companion
      }
      group.addTask {
        // This is cancelled if the service has ended by itself.
        do { try await gracefulShutdown() } catch { return .companion }
        await self.stop()
        return .companion
      }
      while let ended = try await group.next() {
        if ended == .service { break }
      }
      group.cancelAll()
    }
  }

  // MARK: - Serving

  private func serveUntilStopped() async throws {
    while !isStopping {
      let library = try await cancelWhenGracefulShutdown { try await self.open() }
      guard let library else { return }
      let descriptor = try socket.duplicate()
      // The socket was listening before the library was opened, so clients that connect now wait in its queue.
      unsent.ready(status: isDegraded ? "degraded" : "opening")
      // A library that is closed to be opened again must prove that it is alive until it has ended. Otherwise photod
      // would send pings for ever while that library hangs.
      if !isStopping { ping?.use(.library(library)) }
      answering = library
      defer {
        ping?.use(.none)
        answering = nil
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for await line in library.statusLines { await self.send(line) }
        }
        group.addTask { for await reason in library.reopenReasons { await self.reopen(reason) } }
        group.addTask { await self.retry() }
        try await library.serve(on: descriptor)
        group.cancelAll()
      }
      if case .opening = state { continue }
      guard isStopping else {
        throw StartError(
          .software, "the service ended by itself", remedy: "This is a bug. Please report it with the log.")
      }
    }
  }

  private func send(_ status: String) {
    if !isStopping { unsent.send(status) }
  }

  /// - Returns: Nil if photod was asked to stop meanwhile.
  /// - Throws: The error, if photod was started by hand and has had no library. Only the terminal can show it then.
  private func open() async throws -> (any RunningLibrary)? {
    let library: any RunningLibrary
    var configuration: Configuration?
    var waits = false
    do {
      (library, configuration) = try await openLibrary()
    } catch {
      if isStopping || error is CancellationError { return nil }
      // A photod that had a library goes on and reports the error, even if it was started by hand. A disk that is full
      // will have room again.
      let goesOn = environment.isActivated || reopenReason != nil
      let reason = StartError(error, isTriedAgain: goesOn)
      guard goesOn else { throw reason }
      logger.error("degraded", metadata: ["problem": "\(reason.problem)", "remedy": "\(reason.remedy)"])
      library = try await parts.openDegraded([reason.description], logger)
      waits = reason.status != .configuration
    }
    guard case .opening(let reloadAsked) = state else {
      await library.stop()
      return nil
    }
    state = configuration.map { .serving(library, $0) } ?? .degraded(library, waits: waits)
    if reloadAsked { await reload() }
    return library
  }

  private func openLibrary() async throws -> (any RunningLibrary, Configuration) {
    if let opened {
      self.opened = nil
      return opened
    }
    let configuration = try next.get()
    if lock == nil { lock = try InstanceLock(besideCatalog: configuration.catalog) }
    if let reopenReason {
      return (try await parts.reopenLibrary(configuration, reopenReason, logger), configuration)
    }
    let library = try await openFirst(configuration)
    hasOpened = true
    return (library, configuration)
  }

  /// Opens the first library. The catalog of an older photod is upgraded first, which may take a minute. Meanwhile a
  /// stand-in answers with the progress. A stop ends the upgrade, and the next start continues it.
  private func openFirst(_ configuration: Configuration) async throws -> any RunningLibrary {
    let progress = OpeningProgress(version: Daemon.version)
    // A degraded daemon answers already, and needs no stand-in.
    let isDegraded = isDegraded
    return try await withTaskCancellationHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        if !isDegraded { group.addTask { await self.answer(during: progress) } }
        defer { progress.end() }
        return try await parts.openLibrary(configuration, progress, isDegraded, logger)
      }
    } onCancel: {
      progress.cancel()
    }
  }

  /// Serves a stand-in from the first progress on. An opening without an upgrade reports no progress, and needs no
  /// stand-in.
  private func answer(during progress: OpeningProgress) async {
    guard var version = await progress.feed.next(after: 0) else { return }
    let descriptor: Int32
    do { descriptor = try socket.duplicate() } catch {
      logger.warning("not served during the upgrade", metadata: ["error": "\(error.problem)"])
      return
    }
    logger.notice("upgrading the catalog")
    // The manager's time limit for a start would be too short for an upgrade.
    unsent.ready(status: "opening")
    let standIn = parts.openStandIn(progress, logger)
    answering = standIn
    defer { answering = nil }
    await withTaskGroup(of: Void.self) { [logger] group in
      group.addTask {
        do { try await standIn.serve(on: descriptor) } catch {
          logger.warning("not served during the upgrade", metadata: ["error": "\(error)"])
        }
      }
      while let next = await progress.feed.next(after: version) {
        version = next
        if let done = progress.status.progress { send("opening: \(done.done) of \(done.total ?? 0) \(done.phase)") }
        do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
      }
      standIn.announceReopening()
      await standIn.drain()
      await standIn.stop()
    }
  }

  /// Closes the library, and has it opened again at the same socket.
  private func reopen(_ reason: ReopenReason) async {
    guard case .serving(let library, let configuration) = state else { return }
    logger.notice("reopening the library", metadata: ["reason": "\(reason)"])
    next = .success(configuration)
    reopenReason = reason
    unsent.reloading()
    state = .opening(reloadAsked: false)
    library.announceReopening()
    // A client that asked for this, by a restore, gets its reply first.
    await library.drain()
    await library.stop()
  }

  /// Tries to open the library while a degraded one answers, and replaces that one when the library is open.
  private func retry() async {
    while case .degraded(let degraded, waits: true) = state {
      do { try await Task.sleep(for: parts.retryInterval) } catch { return }
      do {
        let library = try await openLibrary()
        guard case .degraded(_, waits: true) = state else {
          await library.0.stop()
          return
        }
        opened = library
        logger.notice("library opened")
        unsent.reloading()
        state = .opening(reloadAsked: false)
        degraded.announceReopening()
        await degraded.stop()
      } catch {
        logger.debug("still degraded", metadata: ["error": "\(error)"])
      }
    }
  }

  // MARK: - Reload, stop and update

  /// Reads the configuration again. A wrong one only adds a warning to the status.
  private func reload() async {
    switch state {
    case .stopping: return
    case .opening: state = .opening(reloadAsked: true)
    case .serving(let library, let current):
      unsent.reloading()
      await reload(library, from: current)
      // If the library was closed meanwhile, photod is ready again when the next one is open.
      if case .serving = state { unsent.ready() }
    case .degraded(let library, _):
      do {
        next = .success(try Configuration.load(options: options, environment: environment))
        logger.notice("configuration corrected")
        unsent.reloading()
        state = .opening(reloadAsked: false)
        library.announceReopening()
        await library.stop()
      } catch {
        logger.error("still degraded", metadata: ["problem": "\(error.problem)", "remedy": "\(error.remedy)"])
      }
    }
  }

  private func reload(_ library: any RunningLibrary, from current: Configuration) async {
    var wanted = current
    var isRead = true
    do {
      wanted = try Configuration.load(options: options, environment: environment)
      for remark in wanted.remarks { logger.warning("configuration remark", metadata: ["remark": "\(remark)"]) }
      for (key, new, old) in [("catalog", wanted.catalog, current.catalog), ("socket", wanted.socket, current.socket)]
      where new != old {
        wanted.warnings.append("The configuration has another \(key), \(new). Restart photod to use it.")
      }
      (wanted.catalog, wanted.socket) = (current.catalog, current.socket)
    } catch {
      isRead = false
      wanted.warnings = ["The configuration was not read again: \(error)"]
      logger.error("reload failed", metadata: ["problem": "\(error.problem)", "remedy": "\(error.remedy)"])
    }
    LogOutput.level = wanted.logLevel
    do {
      try await library.reload(wanted)
      guard case .serving(let present, _) = state, present === library else {
        // The library was closed meanwhile. The next one was opened with the old configuration, or will be.
        return await reload()
      }
      state = .serving(library, wanted)
      guard isRead else { return }
      logger.notice(
        "reloaded",
        metadata: [
          "roots": "\(wanted.roots.joined(separator: " "))", "ignore": "\(wanted.ignore.joined(separator: " "))",
          "log-level": "\(wanted.logLevel)",
        ])
    } catch {
      logger.error("reload failed", metadata: ["problem": "\(error)"])
    }
  }

  private func stop() async {
    let previous = state
    state = .stopping
    unsent.forget()
    notifier.stopping(status: "stopping")
    logger.debug("stopping")
    switch previous {
    case .serving(let library, _), .degraded(let library, _): await library.stop()
    case .opening, .stopping: break
    }
  }

  /// Sends the messages that a busy manager refused, once a second, until it takes them.
  private func sendRefusedMessages() async {
    for await _ in refusals {
      while !unsent.areNone {
        // The sleep is cancelled when the daemon ends.
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
        unsent.sendAgain()
      }
    }
  }

  /// Checks from time to time whether a newer photod should take over, and whether clients still find the socket.
  private func takeTurns() async {
    let interval = notifier.watchdogInterval.map { $0 / 2 } ?? .seconds(30)
    let clock = SuspendingClock()
    while !Task.isCancelled {
      await restoreSocket()
      switch state {
      case .opening, .stopping: break
      case .serving(let library, _), .degraded(let library, _): await makeRoom(library, now: clock.now)
      }
      // The sleep is cancelled when the daemon ends.
      do { try await clock.sleep(for: interval) } catch { return }
    }
  }

  /// Listens again at the socket's path if its file was deleted. Without the file, no client finds photod.
  private func restoreSocket() async {
    guard !isStopping, !isRestoringSocket else { return }
    isRestoringSocket = true
    defer { isRestoringSocket = false }
    switch socket.restore() {
    case .present: socketProblem = nil
    case .madeAgain(let path):
      socketProblem = nil
      isSocketServed = false
      logger.notice("socket made again", metadata: ["path": "\(path)"])
    case .lost(let path):
      note(
        StartError(
          .system, "the file of the socket was deleted, or a private mount namespace hides it from photod",
          remedy: "If clients can't connect, run `systemctl --user restart photod.socket`."), of: path)
    case .failed(let path, let error): note(error, of: path)
    }
    guard !isSocketServed else { return }
    do {
      // A library that is opened later gets the new socket by itself. If it is about to serve, it is asked again at the
      // next check.
      isSocketServed = try await answering?.move(to: socket.duplicate()) ?? true
    } catch {
      note(StartError(error), of: socket.path)
    }
  }

  /// Logs why clients can't reach the socket. It is logged once, and not at each check.
  private func note(_ problem: StartError, of path: String) {
    guard socketProblem != problem.problem else { return }
    socketProblem = problem.problem
    logger.error(
      "socket unreachable",
      metadata: ["path": "\(path)", "problem": "\(problem.problem)", "remedy": "\(problem.remedy)"])
  }

  /// Ends the daemon if its program was replaced and no client needs it. The next connection starts the new program.
  private func makeRoom(_ library: any RunningLibrary, now: SuspendingClock.Instant) async {
    guard !isStopping, let program else { return }
    // Nothing starts the next photod if clients can't connect to the socket.
    let canLeave = socket.isGiven && socketProblem == nil
    let decision = departure.decide(
      isReplaced: program.isReplaced, canLeave: canLeave, idleTime: library.idleTime, now: now)
    switch decision {
    case .stay: break
    case .replaced:
      logger.notice(
        "replaced",
        metadata: [
          "program": "\(program.path)",
          "next": canLeave ? "photod ends when it is idle" : "restart photod to run the new program",
        ])
    case .leave:
      logger.notice("ending for the new program")
      state = .stopping
      unsent.forget()
      notifier.stopping(status: "ending for the new program")
      await library.drain()
      await library.stop()
    }
  }

  private var isStopping: Bool { if case .stopping = state { true } else { false } }
  private var isDegraded: Bool { if case .degraded = state { true } else { false } }
}
