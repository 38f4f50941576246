import Logging
import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Synchronization
import Varlink

/// `org.photod.library` over one library: requests in, replies and observations out.
package final class LibraryService: VarlinkInterface {
  package let name = "org.photod.library"
  package let definition = contractText

  let library: Library
  let logger: Logger
  let observers = Mutex(0)
  let differences = SharedDifferences()
  let totals = ListTotals()
  let rootCounts: RootCountCache
  /// Returns when a page was unread for so long that its snapshot is let go of. Tests decide when that is.
  let pageDeadline: @Sendable () async throws -> Void
  /// Those of the service that this is an interface of, which is made after this and given to it.
  package let connections = ConnectionBoard()

  package init(
    library: Library, logger: Logger,
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) }
  ) {
    self.library = library
    self.logger = logger
    self.pageDeadline = pageDeadline
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
    } catch let error as PhotoError {
      throw ContractError.unavailable(error.description)
    } catch  where Catalog.isDamage(error) {
      throw ContractError.unavailable(ContractError.damaged)
    }
  }

  private func dispatch(_ call: VarlinkServiceCall) async throws {
    switch call.method {
    case "ListKeys": try await call.reply(ListKeysReply())
    case "Fetch": try await fetch(call)
    case "FetchIDs": try await fetchIDs(call)
    case "GetAssets": try await getAssets(call)
    case "FindAssets": try await findAssets(call)
    case "FetchCollections": try await fetchCollections(call)
    case "Observe": try await observe(call)
    case "ObserveCollections": try await observeCollections(call)
    case "FetchPersistentChanges": try await fetchPersistentChanges(call)
    case "Synchronize": try await synchronize(call)
    case "PerformChanges": try await performChanges(call)
    case "Status": try await status(call)
    case "Explain": try await explain(call)
    case "Rescan": try await rescan(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }
}

/// What lists may be made from, for programs that offer it.
struct ListKeysReply: Encodable {
  let predicateKeys = PredicateKey.allCases.map(\.rawValue)
  let sortKeys = FetchPlan.sortKeys
}

/// The interface file.
let contractText = String(decoding: PackageResources.org_photod_library_varlink, as: UTF8.self)

/// How large replies may be, by the contract.
enum ReplyLimits {
  static let maximumBytes = 1 << 20
  static let defaultPage = 500
  static let maximumPage = 5_000
  static let idsPerPage = 40_000
  /// At most, with the comma.
  static let bytesPerID = 21
  static let maximumIDsPerCall = 1_000

  /// Encodes the longest head of `items` that fits, at least one; returns it with how many it took.
  static func page<Item, Reply: Encodable>(_ items: ArraySlice<Item>, _ reply: (ArraySlice<Item>) -> Reply) throws
    -> (VarlinkEncoded, taken: Int)
  {
    var count = items.count
    while true {
      let encoded = try VarlinkEncoded(encoding: reply(items.prefix(count)))
      if encoded.byteCount <= maximumBytes || count <= 1 { return (encoded, count) }
      // Items are much alike: aim a little below what fits.
      count = min(count - 1, max(1, count * (maximumBytes * 9 / 10) / encoded.byteCount))
    }
  }
}
