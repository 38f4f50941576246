import Logging
import PhotoIndexer
import PhotoServer
import Varlink

/// Answers `Status` with the reasons, or with the progress of the opening, and all other calls with
/// `LibraryUnavailable`.
final class DegradedLibrary: RunningLibrary {
  let statusLines: AsyncStream<String>
  private let lines: AsyncStream<String>.Continuation
  private let service: VarlinkService
  /// No event is ever recorded here. Clients that follow the ring learn when it ends.
  private let events = EventRing()

  convenience init(reasons: [String], _ logger: Logger) {
    self.init(
      DegradedService(reasons: reasons, version: Daemon.version), line: "degraded: \(reasons.first ?? "")", logger)
  }

  convenience init(opening progress: OpeningProgress, _ logger: Logger) {
    self.init(DegradedService(opening: progress), line: "opening", logger)
  }

  private init(_ interface: DegradedService, line: String, _ logger: Logger) {
    (statusLines, lines) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    service = .photod(
      [
        interface, ManageService(connections: ConnectionRegistry(), events: events),
        DegradedImageService(beside: interface),
      ], logger: logger)
    lines.yield(line)
  }

  func serve(on descriptor: Int32) async throws { try await service.serve(listeningDescriptor: descriptor) }
  func move(to descriptor: Int32) async throws -> Bool { try await service.move(to: descriptor) }
  func reload(_ configuration: Configuration) async throws {}
  func whenAlive(_ proven: @escaping @Sendable () -> Void) { proven() }
  var idleTime: Duration { service.load.idleTime }
  func announceReopening() { events.isReopened.store(true, ordering: .releasing) }
  func drain() async { await service.drain() }

  func stop() async {
    events.feed.finish()
    service.shutDown()
    lines.finish()
  }
}
