import PhotoCatalog
import PhotoContract
import PhotoIndexer
import Varlink

/// `org.photod.manage`: connected clients, recent events, and backups. It answers with and without a library.
package final class ManageService: VarlinkInterface {
  package let name = "org.photod.manage"
  package let definition = InterfaceDefinition.manage
  package let bounds = RequestBounds.manage.mapValues(VarlinkBound.init)

  let connections: ConnectionRegistry
  let events: EventRing
  /// Nil if there is no library.
  let library: Library?
  /// Nil if there is no library to back up.
  let keeping: (any LibraryBackups)?
  let threads: ReadThreads
  /// Returns when Clients may look again. Tests decide when that is.
  let interval: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - connections: the registry that all interfaces of the service share.
  ///   - events: the library's events; an empty ring if there is no library.
  ///   - library: the library whose unreadable files are listed; nil if there is none.
  ///   - keeping: the backups of the library; nil if there is none.
  ///   - threads: the threads of the service's other interface, so that a process has one share of them.
  package convenience init(
    connections: ConnectionRegistry, events: EventRing = EventRing(), library: Library? = nil,
    keeping: (any LibraryBackups)? = nil, threads: ReadThreads = ReadThreads()
  ) {
    self.init(connections: connections, events: events, library: library, keeping: keeping, threads: threads) {
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  init(
    connections: ConnectionRegistry, events: EventRing, library: Library? = nil,
    keeping: (any LibraryBackups)? = nil, threads: ReadThreads = ReadThreads(),
    interval: @escaping @Sendable () async throws -> Void
  ) {
    self.connections = connections
    self.events = events
    self.library = library
    self.keeping = keeping
    self.threads = threads
    self.interval = interval
  }

  package func respond(to call: VarlinkServiceCall) async throws {
    defer { connections.endStream(call) }
    switch call.method {
    case "Clients": try await clients(call)
    case "Events": try await events(call)
    case "ListUnreadable": try await listUnreadable(call)
    case "Backup": try await backUp(call)
    case "ListBackups": try await listBackups(call)
    case "Restore": try await restore(call)
    case "Check": try await check(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  func ended() -> VarlinkError {
    Self.unavailable(
      events.isReopened.load(ordering: .acquiring)
        ? "photod opens its catalog anew. Ask again in a moment." : "photod is stopping.")
  }

  static func unavailable(_ message: String) -> VarlinkError {
    VarlinkError("org.photod.manage.Unavailable", MessageError(message: message))
  }
}
