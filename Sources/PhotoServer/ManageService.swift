import PhotoCatalog
import PhotoIndexer
import Varlink

/// `org.photod.manage`: who is connected, what happened, and what keeps the library safe. It answers with a library and
/// without one.
package final class ManageService: VarlinkInterface {
  package let name = "org.photod.manage"
  package let definition = String(decoding: PackageResources.org_photod_manage_varlink, as: UTF8.self)

  let connections: ConnectionBoard
  let events: EventRing
  /// Nil where there is none.
  let library: Library?
  /// Nil where there is no library to keep.
  let keeping: (any LibraryKeeping)?
  /// Returns when Clients may look again. Tests decide when that is.
  let interval: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - connections: of the service that this is an interface of.
  ///   - events: of the library; an empty ring where there is none.
  ///   - library: in which files can't be read; nil where there is none.
  ///   - keeping: of the library; nil where there is none.
  package convenience init(
    connections: ConnectionBoard, events: EventRing = EventRing(), library: Library? = nil,
    keeping: (any LibraryKeeping)? = nil
  ) {
    self.init(connections: connections, events: events, library: library, keeping: keeping) {
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  init(
    connections: ConnectionBoard, events: EventRing, library: Library? = nil,
    keeping: (any LibraryKeeping)? = nil,
    interval: @escaping @Sendable () async throws -> Void
  ) {
    self.connections = connections
    self.events = events
    self.library = library
    self.keeping = keeping
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
    struct Message: Encodable { let message: String }
    return VarlinkError("org.photod.manage.Unavailable", Message(message: message))
  }
}
