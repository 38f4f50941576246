import Foundation
import Logging
import PhotoCatalog
import PhotoContract
import PhotoModel
import PhotoTestSupport
import PhotoWatch
import Synchronization
import Testing
import Varlink
import WatchRecords

@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// A library over a catalog in its own folder. The test makes its commits, and decides whether they are announced.
final class ServerFixture: Sendable {
  private let environment: TestCatalog
  var folder: String { environment.folder }
  let catalog: Catalog
  let library: Library
  let live: LiveLibrary
  /// The differences for the observations that a test advances itself.
  let directoryID: DirectoryID
  /// The service that ``serving(threads:libraryTurns:pageDeadline:snapshotDeadline:_:)`` started last.
  let service = Mutex<VarlinkService?>(nil)
  /// The reads of a client whose part the test plays.
  let reads = ClientReads(
    threads: ReadThreads(), decoders: ClientReads.makeDecoders(),
    peer: VarlinkPeer(connection: 1, uid: geteuid(), gid: getegid(), pid: getpid()))

  /// - Parameters:
  ///   - root: the path of the only root, which need not exist.
  ///   - isReopened: whether tokens of its epoch were given out before it was opened.
  init(root: String = "/p", isReopened: Bool = false) throws {
    environment = try TestCatalog("server")
    if isReopened { try environment.catalog.close() }
    catalog = isReopened ? try environment.open() : environment.catalog
    directoryID = try catalog.addRoot(root)
    live = try LiveLibrary(catalog: catalog)
    library = try Library(
      catalog: catalog, commits: live, watcher: ScriptedWatcher(), extractor: TestExtractor.make(),
      configuration: .init(roots: [], version: "1"),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Adds photos in one commit.
  @discardableResult
  func insert(_ count: Int = 1, titleLength: Int = 0, announced: Bool = true) throws -> [AssetID] {
    var ids: [AssetID] = []
    try commit(announced: announced) { writer in
      let title = titleLength > 0 ? String(repeating: "t", count: titleLength) : nil
      for _ in 0..<count {
        let row = FileRow(
          assetID: 0, directoryID: directoryID, name: Array(UUID().uuidString.utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", title: title)
        let id = try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
        ids.append(id)
      }
    }
    return ids
  }

  func delete(_ ids: [AssetID], announced: Bool = true) throws {
    try commit(announced: announced) { writer in
      for id in ids {
        try writer.deleteAsset(id)
      }
    }
  }

  /// Commits. A commit is in the catalog before the feed announces it, and races happen in between.
  ///
  /// - Parameter isKnown: false for a commit whose effects are only in the history, as for a large one.
  func commit(
    announced: Bool = true, isKnown: Bool = true, _ body: (CatalogWriter) throws -> Void
  ) throws {
    let (sequence, effects) = try catalog.write { writer in
      try body(writer)
      let sequence = try writer.append(origin: "watcher", date: .init(microseconds: 1))
      return (sequence, try writer.effects(origin: "watcher"))
    }
    live.commits.append(isKnown ? effects : nil, sequence: sequence)
    if announced { live.feed.publish(sequence) }
  }

  /// Runs `body` while a service answers on a socket. `failures` returns the internal errors that it reported.
  func serving(
    threads: ReadThreads = ReadThreads(), libraryTurns: LibraryTurns = LibraryTurns(),
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) },
    snapshotDeadline: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void = { _ in
      try await Task.sleep(for: .seconds(3_600))
    },
    _ body: @Sendable (_ socket: String, _ failures: @Sendable () -> [String]) async throws -> Void
  ) async throws {
    let failures = Mutex<[String]>([])
    try await withThrowingTaskGroup { group in
      let interface = LibraryService(
        library: library, live: live, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        threads: threads, libraryTurns: libraryTurns, pageDeadline: pageDeadline, snapshotDeadline: snapshotDeadline)
      let manage = ManageService(
        connections: interface.connections, events: library.events, library: library, heldLists: live.lists.held,
        threads: threads, libraryTurns: libraryTurns
      ) { _ in
        try Task.checkCancellation()
        await Task.yield()
      }
      let service = VarlinkService(
        identity: .init(vendor: "v", product: "p", version: "1", url: "u"), interfaces: [interface, manage],
        onEvent: { event in
          if case .failed(_, let method, let error) = event { failures.withLock { $0.append("\(method): \(error)") } }
        })
      self.service.withLock { $0 = service }
      let socket = folder + "/s"
      let descriptor = try VarlinkSocket.listen(path: socket)
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      try await body(socket) { failures.withLock { $0 } }
    }
  }

  var differences: SharedDifferences { live.differences }

  func token() throws -> String { try catalog.read { try $0.token().description } }

  func observation(
    _ parameters: ObserveRequest = ObserveRequest(), holder: ClientLists.Holder = .init(process: getpid())
  ) throws -> ListObservation {
    let options = parameters.options ?? FetchOptions()
    let plan = try catalog.read { try parameters.since == nil ? $0.plan(options) : $0.planOfResumption(options) }
    return ListObservation(
      of: live, reads: reads, plan: plan, request: parameters, holder: holder
    ) { [library] in
      try await library.endTokens(because: $0)
    }
  }
}
