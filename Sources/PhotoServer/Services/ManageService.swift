import PhotoCatalog
import PhotoContract
import PhotoImages
import PhotoIndexer
import PhotoLive
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
  /// The lists that calls of clients hold, for the bound of their memory.
  let heldLists: ClientLists
  /// Nil if there is no library to back up.
  let backups: (any LibraryBackups)?
  /// Nil if there is no library to make pictures of.
  let engine: ImageEngine?
  let threads: ReadThreads
  private let decoders = ClientReads.makeDecoders()
  /// The turns of the calls that work in the library's own queue.
  let libraryTurns: LibraryTurns
  let snapshots: ClientSnapshots

  /// - Parameters:
  ///   - connections: the registry that all interfaces of the service share.
  ///   - events: the library's events; an empty ring if there is no library.
  ///   - library: the library whose unreadable files are listed; nil if there is none.
  ///   - heldLists: the lists that the calls of the service's other interface hold.
  ///   - backups: the backups of the library; nil if there is none.
  ///   - engine: makes the pictures of the library; nil if there is none.
  ///   - threads, libraryTurns: those of the service's other interface, so that a process has one share of them.
  ///   - interval: returns when Clients may look again after it looked at this time. Tests decide when that is.
  package init(
    connections: ConnectionRegistry, events: EventRing = EventRing(), library: Library? = nil,
    heldLists: ClientLists = ClientLists(), backups: (any LibraryBackups)? = nil, engine: ImageEngine? = nil,
    threads: ReadThreads = ReadThreads(),
    libraryTurns: LibraryTurns = LibraryTurns(),
    interval: @escaping ClientSnapshots.Interval = {
      try await Task.sleep(until: $0 + .milliseconds(500), clock: .continuous)
    }
  ) {
    self.connections = connections
    self.events = events
    self.library = library
    self.heldLists = heldLists
    self.backups = backups
    self.engine = engine
    self.threads = threads
    self.libraryTurns = libraryTurns
    snapshots = ClientSnapshots(interval: interval)
  }

  /// The methods with an effect. A oneway call of any other method would do nothing, so it is skipped.
  private static let actions: Set = ["Backup", "Restore", "Check", "ClearImages"]

  package func respond(to call: VarlinkServiceCall) async throws {
    defer { connections.endStream(call) }
    if call.isOneway, !Self.actions.contains(call.method) { return }
    switch call.method {
    case "Clients": try await clients(call)
    case "Events": try await events(call)
    case "ListUnreadable": try await listUnreadable(call)
    case "Backup": try await backUp(call)
    case "ListBackups": try await listBackups(call)
    case "Restore": try await restore(call)
    case "Check": try await check(call)
    case "ClearImages": try await clearImages(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  func reads(_ call: VarlinkServiceCall) -> ClientReads { reads(for: call.peer) }

  func reads(for peer: VarlinkPeer) -> ClientReads { ClientReads(threads: threads, decoders: decoders, peer: peer) }

  func ended() -> VarlinkError {
    Self.unavailable(
      events.isReopened.load(ordering: .acquiring)
        ? "photod opens its catalog again. Repeat the call in a moment." : "photod is stopping.")
  }

  static func unavailable(_ message: String) -> VarlinkError {
    VarlinkError("org.photod.manage.Unavailable", MessageError(message: message))
  }
}
