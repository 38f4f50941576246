import Foundation
import Logging
import PhotoCatalog
import PhotoModel
import PhotoWatch
import Synchronization
import Testing
import Varlink
import WatchRecords

@testable import PhotoIndexer
@testable import PhotoServer

/// A library over a catalog in a folder of its own, whose commits a test makes itself, announced or not.
final class ServerFixture: Sendable {
  let folder: String
  let catalog: Catalog
  let library: Library
  /// Those of the observations that a test steps itself.
  let differences = SharedDifferences()
  let directoryID: Int64

  init() throws {
    folder = NSTemporaryDirectory() + "photod-server-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    catalog = try Catalog(path: folder + "/catalog.sqlite")
    directoryID = try catalog.write { writer in
      try writer.insertDirectory(
        parentID: nil, rootID: try writer.insertRoot(path: Array("/p".utf8)), name: [],
        volumeID: try writer.volume(identity: "v"), inode: 1, birthTime: 1
      ).directory
    }
    library = try Library(
      catalog: catalog, watcher: SilentWatcher(), configuration: .init(roots: [], version: "1"),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
  }

  /// Adds photos in one commit.
  @discardableResult
  func insert(_ count: Int = 1, titleLength: Int = 0, announced: Bool = true) throws -> [Int64] {
    var ids: [Int64] = []
    try commit(announced: announced) { writer, record in
      let title = titleLength > 0 ? String(repeating: "t", count: titleLength) : nil
      for _ in 0..<count {
        let row = FileRow(
          assetID: 0, directoryID: directoryID, name: Array(UUID().uuidString.utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", title: title)
        let id = try writer.insertAsset(content, file: row, addedDate: 1)
        record.insert(asset: id)
        ids.append(id)
      }
    }
    return ids
  }

  func delete(_ ids: [Int64], announced: Bool = true) throws {
    try commit(announced: announced) { writer, record in
      for id in ids {
        try writer.deleteAsset(id)
        record.delete(asset: id)
      }
    }
  }

  /// A commit is in the catalog before the feed says so: between both is where races are.
  ///
  /// - Parameter isKnown: false: as with a large one, what it did is in history alone.
  func commit(
    announced: Bool = true, isKnown: Bool = true, _ body: (CatalogWriter, inout CommitRecord) throws -> Void
  ) throws {
    let (sequence, effects) = try catalog.write { writer in
      var record = CommitRecord()
      try body(writer, &record)
      let sequence = try writer.append(record, origin: "watcher", date: 1)
      return (sequence, try writer.effects(of: record, origin: "watcher"))
    }
    library.recentCommits.append(isKnown ? effects : nil, sequence: sequence)
    if announced { library.feed.publish(sequence) }
  }

  /// Runs `body` while a service answers on a socket; `failures` are what it reports as errors of its own.
  func serving(
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) },
    _ body: @Sendable (_ socket: String, _ failures: @Sendable () -> [String]) async throws -> Void
  ) async throws {
    let failures = Mutex<[String]>([])
    try await withThrowingTaskGroup { group in
      let interface = LibraryService(
        library: library, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        pageDeadline: pageDeadline)
      let manage = ManageService(connections: interface.connections, events: library.events, library: library) {
        try Task.checkCancellation()
        await Task.yield()
      }
      let service = VarlinkService(
        identity: .init(vendor: "v", product: "p", version: "1", url: "u"), interfaces: [interface, manage],
        onEvent: { event in
          if case .failed(_, let method, let error) = event { failures.withLock { $0.append("\(method): \(error)") } }
        })
      interface.connections.watch(service)
      let socket = folder + "/s"
      let descriptor = try VarlinkSocket.listen(path: socket)
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      try await body(socket) { failures.withLock { $0 } }
    }
  }

  func token() throws -> String { try catalog.read { try $0.token().description } }

  func observation(_ parameters: ObserveParameters = ObserveParameters()) throws -> LiveObservation {
    let plan = try catalog.read { try $0.plan(parameters.options ?? FetchOptions()) }
    return LiveObservation(library: library, differences: differences, plan: plan, parameters: parameters)
  }
}

extension ObserveParameters {
  init(options: FetchOptions? = nil, since: String? = nil, sinceIDs: [Int64]? = nil, objects: Bool? = nil) {
    self.init(options: options, since: since, sinceDigest: nil, sinceIDs: sinceIDs, objects: objects, reloadOnly: nil)
  }
}

/// A disk on which nothing happens.
private struct SilentWatcher: WatchSource {
  func nextInput() async -> WatchInput? { nil }
  func start() throws {}
  func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 { 0 }
  func sync(number: UInt64) {}
  func setRoots(_ roots: [WatchRoot]) {}
  func stop() async {}
}
