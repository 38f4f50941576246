import PhotoIndexer
import Varlink

/// `org.photod.manage`: who is connected, and what happened. It answers with a library and without one.
package final class ManageService: VarlinkInterface {
  package let name = "org.photod.manage"
  package let definition = String(decoding: PackageResources.org_photod_manage_varlink, as: UTF8.self)

  let connections: ConnectionBoard
  let events: EventRing
  /// Returns when Clients may look again. Tests decide when that is.
  let interval: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - connections: of the service that this is an interface of.
  ///   - events: of the library; an empty ring where there is none.
  package convenience init(connections: ConnectionBoard, events: EventRing = EventRing()) {
    self.init(connections: connections, events: events) { try await Task.sleep(for: .milliseconds(500)) }
  }

  init(connections: ConnectionBoard, events: EventRing, interval: @escaping @Sendable () async throws -> Void) {
    self.connections = connections
    self.events = events
    self.interval = interval
  }

  package func respond(to call: VarlinkServiceCall) async throws {
    defer { connections.endStream(call) }
    switch call.method {
    case "Clients": try await clients(call)
    case "Events": try await events(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  static func stopping() -> VarlinkError {
    struct Message: Encodable { let message: String }
    return VarlinkError("org.photod.manage.Unavailable", Message(message: "photod is stopping."))
  }
}
