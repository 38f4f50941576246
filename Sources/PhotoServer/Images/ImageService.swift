import PhotoCatalog
import PhotoContract
import PhotoImages
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

/// `org.photod.images` over the engine that makes the pictures: requests in, results out.
///
/// The engine works on its own threads. A call here only hands its request over, so it never waits for a picture. The
/// exceptions are the streams OpenSession and MakeImages, which have a connection of their own.
package final class ImageService: VarlinkInterface {
  package let name = "org.photod.images"
  package let definition = InterfaceDefinition.images
  package let bounds = RequestBounds.images.mapValues(VarlinkBound.init)

  let engine: ImageEngine
  let assets: CatalogImageAssets
  let catalog: Catalog
  /// Shared with the other interfaces of the service.
  let connections: ConnectionRegistry
  /// The error of calls after the library has ended.
  private let ended: @Sendable () -> LibraryError
  private let threads: ReadThreads
  private let decoders = ClientReads.makeDecoders()
  /// The threads that read files for ReadResource. A file on a slow disk must not hold up reads of the catalog. Reading
  /// takes hardly any processor time, so the budget never ends it.
  let fileThreads = ReadThreads(count: 4, budget: .seconds(20), waitsForCancelled: false)
  /// The threads for files on shares. A share that does not answer must not hold up pictures and files of drives.
  let shareThreads = ReadThreads(count: 2, budget: .seconds(20), waitsForCancelled: false)
  /// Returns when a page of ReadResource has been unread for too long. Tests decide when that is.
  let pageDeadline: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - threads: the threads that read the catalog for the service's other interfaces.
  ///   - ended: why calls can't be answered any more.
  package init(
    engine: ImageEngine, assets: CatalogImageAssets, catalog: Catalog, connections: ConnectionRegistry,
    threads: ReadThreads = ReadThreads(), ended: @escaping @Sendable () -> LibraryError,
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) }
  ) {
    self.engine = engine
    self.assets = assets
    self.catalog = catalog
    self.connections = connections
    self.threads = threads
    self.ended = ended
    self.pageDeadline = pageDeadline
  }

  /// The methods with an effect. A oneway call of any other method would do nothing, so it is skipped.
  private static let actions: Set = [
    "RequestImages", "CancelRequests", "StartCaching", "StopCaching", "StopCachingAll",
  ]

  package func respond(to call: VarlinkServiceCall) async throws {
    defer { connections.endStream(call) }
    do {
      try await dispatch(call)
    } catch let error as ImageRequestError {
      throw ImageContractError.from(error)
    } catch let error as PhotoError {
      throw ImageContractError.unavailable(error.description)
    } catch  where Catalog.isDamage(error) {
      throw ImageContractError.unavailable(ContractError.damaged)
    }
  }

  private func dispatch(_ call: VarlinkServiceCall) async throws {
    if call.isOneway, !Self.actions.contains(call.method) { return }
    switch call.method {
    case "OpenSession": try await openSession(call)
    case "RequestImages": try await requestImages(call)
    case "CancelRequests": try await cancelRequests(call)
    case "StartCaching": try await startCaching(call)
    case "StopCaching": try await stopCaching(call)
    case "StopCachingAll": try await stopCachingAll(call)
    case "ReadImage": try await readImage(call)
    case "MakeImages": try await makeImages(call)
    case "ReadResource": try await readResource(call)
    case "Statistics": try await statistics(call)
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  /// The parameters of a call. A long text is decoded on a thread for that.
  func parameters<Parameters: Decodable & Sendable>(
    _ call: VarlinkServiceCall, _ type: Parameters.Type
  ) async throws -> Parameters {
    guard call.parameterByteCount <= ImageLimits.maximumCallBytes else {
      throw VarlinkError.invalidParameter("parameters")
    }
    return try await reads(call).parameters(call, type)
  }

  func reads(_ call: VarlinkServiceCall) -> ClientReads {
    ClientReads(threads: threads, decoders: decoders, peer: call.peer)
  }

  func client(_ call: VarlinkServiceCall) -> ImageClient { ImageClient(process: String(call.peer.pid)) }

  func unavailable() -> VarlinkError {
    guard case .unavailable(let message) = ended() else {
      return ImageContractError.unavailable("photod is stopping. Repeat the call in a moment.")
    }
    return ImageContractError.unavailable(message)
  }

  private func statistics(_ call: VarlinkServiceCall) async throws {
    let counts = engine.statistics()
    try await call.reply(
      ImageStatistics(
        sessions: counts.sessions, queued: counts.queued, running: counts.running, made: counts.made,
        cacheHits: counts.cacheHits, failed: counts.failed, undelivered: counts.undelivered,
        bytes: counts.bytes, maximumBytes: counts.maximumBytes))
  }
}
