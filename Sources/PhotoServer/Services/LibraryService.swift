import Logging
import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import PredicateLanguage
import Synchronization
import Varlink

/// `org.photod.library` over one library: requests in, replies and observations out.
package final class LibraryService: VarlinkInterface {
  package let name = "org.photod.library"
  package let definition = InterfaceDefinition.library
  package let bounds = RequestBounds.library.mapValues(VarlinkBound.init)

  let library: Library
  /// The catalog as clients observe it. The library publishes its commits there.
  let live: LiveLibrary
  let logger: Logger
  let observers = Mutex(0)
  let rootCounts: RootCountCache
  /// The threads for all reads of clients.
  package let threads: ReadThreads
  private let decoders = ClientReads.makeDecoders()
  /// The turns of the calls that work in the library's own queue.
  package let libraryTurns: LibraryTurns
  let snapshots = SnapshotSlots()
  /// Returns when a page has been unread for too long, so that its snapshot is released. Tests decide when that is.
  let pageDeadline: @Sendable () async throws -> Void
  /// Returns when a snapshot is so old that it is released, however fast its pages are read. Everything that is written
  /// meanwhile stays in the catalog's log.
  let snapshotDeadline: @Sendable (_ begunAt: ContinuousClock.Instant) async throws -> Void
  /// Shared with the other interfaces of the same service.
  package let connections = ConnectionRegistry()

  package init(
    library: Library, live: LiveLibrary, logger: Logger, threads: ReadThreads = ReadThreads(),
    libraryTurns: LibraryTurns = LibraryTurns(),
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) },
    snapshotDeadline: @escaping @Sendable (_ begunAt: ContinuousClock.Instant) async throws -> Void = {
      try await Task.sleep(until: $0 + .seconds(120), clock: .continuous)
    }
  ) {
    self.library = library
    self.live = live
    self.logger = logger
    self.threads = threads
    self.libraryTurns = libraryTurns
    self.pageDeadline = pageDeadline
    self.snapshotDeadline = snapshotDeadline
    rootCounts = RootCountCache(catalog: library.catalog)
  }

  package func respond(to call: VarlinkServiceCall) async throws {
    defer { connections.endStream(call) }
    do {
      try await dispatch(call)
    } catch let error as FetchError {
      throw ContractError.from(error)
    } catch let error as LibraryError {
      throw ContractError.from(error, method: call.method)
    } catch is ClientLists.Excess {
      throw ContractError.tooManyLists
    } catch is WorkBudget.Spent {
      throw ContractError.budgetSpent(call.method)
    } catch let error as PhotoError {
      throw ContractError.unavailable(error.description)
    } catch  where Catalog.isDamage(error) {
      throw ContractError.unavailable(ContractError.damaged)
    }
  }

  func reads(_ call: VarlinkServiceCall) -> ClientReads {
    ClientReads(threads: threads, decoders: decoders, peer: call.peer)
  }

  /// The methods with an effect. A oneway call of any other method would do nothing, so it is skipped.
  private static let actions: Set = ["PerformChanges", "UndoChange", "Rescan", "Synchronize"]

  private func dispatch(_ call: VarlinkServiceCall) async throws {
    if call.isOneway, !Self.actions.contains(call.method) { return }
    switch call.method {
    case "ListKeys": try await call.reply(ListKeys.current)
    case "ListValues": try await listValues(call)
    case "Fetch": try await fetch(call)
    case "FetchIDs": try await fetchIDs(call)
    case "GetAssets": try await getAssets(call)
    case "FindAssets": try await findAssets(call)
    case "FetchUserData": try await fetchUserData(call)
    case "FetchCollections": try await fetchCollections(call)
    case "Observe": try await observe(call)
    case "ObserveCollections": try await observeCollections(call)
    case "FetchPersistentChanges": try await fetchPersistentChanges(call)
    case "Synchronize": try await synchronize(call)
    case "PerformChanges": try await performChanges(call)
    case "FetchUndoableChanges": try await fetchUndoableChanges(call)
    case "UndoChange": try await undoChange(call)
    case "AuthorizationStatus": try await authorizationStatus(call)
    case "RequestAuthorization": try await requestAuthorization(call)
    case "Status": try await status(call)
    case "Explain": try await explain(call)
    case "Rescan": try await rescan(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }
}

extension ListKeys {
  /// The keys of this version.
  static let current = ListKeys(
    predicateKeys: PredicateKey.allCases.map(\.rawValue), sortKeys: FetchPlan.sortKeys,
    valueKeys: ValueKey.allCases.map(\.rawValue))
}
