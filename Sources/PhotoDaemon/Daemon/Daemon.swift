import Dispatch
import Glibc
import Logging
import PhotoModel
import PhotoServer
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The process from its start to its exit status.
package enum Daemon {
  /// The version of the whole package.
  package static let version = Release.version

  /// How long an orderly stop may take. After that the process ends itself. The catalog is safe at any moment.
  package static let stopTime = Duration.milliseconds(1800)

  /// Runs until SIGTERM or SIGINT; SIGHUP reads the configuration again.
  ///
  /// - Parameters:
  ///   - report: Receives the three lines of an error.
  ///   - cutOff: Ends the process when a stop takes longer than ``stopTime``.
  /// - Returns: The exit status.
  package static func run(
    options: Options, environment: ProcessEnvironment, parts: DaemonParts,
    logger: Logger = Logger(label: "photod"),
    report: @Sendable (String) -> Void = { LogOutput.toStandardError(Array($0.utf8)) },
    cutOff: @escaping @Sendable () -> Void = { _exit(EndStatus.software.rawValue) }
  ) async -> EndStatus {
    signal(SIGPIPE, SIG_IGN)
    FreedMemory.giveBackLargeBlocks()
    // The catalog and the socket are private to the user.
    umask(0o077)
    let signals = await UnixSignalsSequence(trapping: .sighup)
    let (hangups, hangup) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    // This unstructured task lives as long as the process, and carries signals only.
    let relay = Task { for await _ in signals { hangup.yield() } }
    defer { relay.cancel() }
    return await run(
      options: options, environment: environment, parts: parts, hangups: hangups, stopSignals: [.sigterm, .sigint],
      logger: logger, report: report, cutOff: cutOff)
  }

  /// The same with signals from the caller. In a test, `started` receives the group, and its graceful shutdown ends the
  /// run.
  static func run(
    options: Options, environment: ProcessEnvironment, parts: DaemonParts, hangups: AsyncStream<Void>,
    stopSignals: [UnixSignal], logger: Logger, report: @Sendable (String) -> Void,
    cutOff: @escaping @Sendable () -> Void, program: ProgramFile? = ProgramFile(),
    started: @Sendable (ServiceGroup) -> Void = { _ in }
  ) async -> EndStatus {
    do {
      let (first, lock) = try prepare(options, environment, logger)
      let socket: ListeningSocket
      do { socket = try listeningSocket(first, options, environment, logger) } catch {
        lock?.removeIfNew()
        throw error
      }
      defer { socket.close(logger) }
      let life = DaemonLife(
        first, lock: lock, options: options, environment: environment, parts: parts, socket: socket,
        program: program, hangups: hangups, logger: logger)
      let deadline = Deadline {
        // The message is logged on another thread, because the stop may hang at a log that is not read.
        let isLogged = DispatchSemaphore(value: 0)
        DispatchQueue(label: "cut-off").async {
          logger.error("stop cut off", metadata: ["after": "\(stopTime)"])
          isLogged.signal()
        }
        _ = isLogged.wait(timeout: .now() + .milliseconds(100))
        cutOff()
      }
      // The group would log every step at debug, and would repeat the errors that are logged here.
      var quiet = logger
      quiet.logLevel = .critical
      let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
          services: [
            .init(service: life, successTerminationBehavior: .gracefullyShutdownGroup, serviceName: "library"),
            // The last service is shut down first, so that its time runs while the library stops.
            .init(service: deadline, successTerminationBehavior: .ignore, serviceName: "deadline"),
          ], gracefulShutdownSignals: stopSignals, logger: quiet))
      started(group)
      defer { deadline.isMet.store(true, ordering: .releasing) }
      try await group.run()
      logger.notice("stopped")
      return .success
    } catch {
      let error = StartError(error)
      // The error is reported once: to the journal, or to the terminal.
      if environment.isActivated {
        logger.error("failed", metadata: ["problem": "\(error.problem)", "remedy": "\(error.remedy)"])
      } else {
        report(error.threeLines)
      }
      return error.status
    }
  }

  /// Loads the configuration and locks its catalog. For an activated daemon, an error of the configuration is returned,
  /// and not thrown.
  private static func prepare(
    _ options: Options, _ environment: ProcessEnvironment, _ logger: Logger
  ) throws -> (Result<Configuration, StartError>, InstanceLock?) {
    LogOutput.level = options.logLevel ?? .info
    do {
      let configuration = try Configuration.load(options: options, environment: environment)
      LogOutput.level = configuration.logLevel
      for remark in configuration.remarks { logger.warning("configuration remark", metadata: ["remark": "\(remark)"]) }
      // A photod that a service manager started goes on without its library, and tries to open it again.
      if !environment.isActivated { try PlaceCheck.catalog(configuration.catalog) }
      do {
        return (.success(configuration), try InstanceLock(besideCatalog: configuration.catalog))
      } catch  where environment.isActivated && error.status == .alreadyRunning {
        // The daemon waits, and takes over when the other one ends. If it exited, it would be started again every few
        // seconds.
        return (.success(configuration), nil)
      }
    } catch {
      let error = StartError(error)
      guard environment.isActivated else { throw error }
      return (.failure(error), nil)
    }
  }

  // MARK: - The socket

  private static func listeningSocket(
    _ configuration: Result<Configuration, StartError>, _ options: Options, _ environment: ProcessEnvironment,
    _ logger: Logger
  ) throws(StartError) -> ListeningSocket {
    let given = try ListenDescriptors(taking: environment).descriptors
    if let first = given.first {
      for other in given.dropFirst() {
        logger.warning("socket not served", metadata: ["name": "\(other.name)"])
        Glibc.close(other.number)
      }
      logger.info("listening", metadata: ["socket": "\(first.name)", "version": "\(version)"])
      return ListeningSocket(given: first.number)
    }
    let path: String
    switch configuration {
    case .success(let configuration): path = configuration.socket
    case .failure: path = try Configuration.socket(options: options, environment: environment)
    }
    let file = try SocketFile(binding: path)
    logger.info("listening", metadata: ["socket": "\(path)", "version": "\(version)"])
    return ListeningSocket(made: file)
  }
}

/// Ends the process if its orderly stop takes too long.
private final class Deadline: Service {
  /// The stop ended in time.
  let isMet = Atomic(false)
  private let cutOff: @Sendable () -> Void

  init(cutOff: @escaping @Sendable () -> Void) { self.cutOff = cutOff }

  func run() async throws {
    // If this is cancelled, the library has failed, and there is no stop to limit.
    do { try await gracefulShutdown() } catch { return }
    let time = Daemon.stopTime.components
    let milliseconds = Int(time.seconds * 1000 + time.attoseconds / 1_000_000_000_000_000)
    // This needs a queue of its own, because a stop that hangs may hold every thread of the concurrency pool.
    DispatchQueue(label: "deadline").asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self] in
      if !isMet.load(ordering: .acquiring) { cutOff() }
    }
  }
}
