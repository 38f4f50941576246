import PhotoContract
import PhotoModel
import Synchronization

/// The result of a fetch of assets: a list as it was at one time, like PhotoKit's `PHFetchResult`.
///
/// ```swift
/// let photos = try await library.fetchAssets()
/// for index in 0..<min(100, photos.count) {
///   if let photo = try await photos[index] { show(photo, at: index) }
/// }
/// ```
///
/// A result is a snapshot. Its count and its order never change. ``PhotoLibrary/changes(for:onProblem:)`` gives the results
/// that follow it.
///
/// It holds the id of each asset (8 bytes). It loads the assets in pages when they are accessed. The next page in the
/// direction of the accesses is loaded in advance. Results that follow each other share at most 2,000 loaded assets, so
/// memory is bounded.
///
/// The first ids are there when the fetch returns. If the list is long, the others arrive later. An access to an id
/// that has not arrived waits for it. If photod ends before all have arrived, and the library has changed when it runs
/// again, the rest of the list is lost. Then an access to it throws ``PhotoLibraryError/snapshotExpired(message:)``, and
/// the ids and assets that have arrived stay readable. Fetch the list again.
///
/// An asset is as it was when its page was loaded, which may be later than the snapshot. An asset that was deleted since
/// the snapshot is `nil`, and no other asset takes its place.
///
/// While photod is restarted, accesses wait for it, for 30 s. Every access throws ``PhotoLibraryError`` or
/// `CancellationError`, and nothing else. An index beyond the list is a programming error and ends the program.
public struct FetchResult: Sendable {
  /// The options of the fetch.
  public let options: FetchOptions
  /// The place of the snapshot in the history of the library.
  public let token: String
  /// The number of assets.
  public let count: Int

  let snapshot: SnapshotIDs
  let lineage: FetchLineage

  /// Whether there are no assets.
  ///
  /// - Complexity: O(1)
  public var isEmpty: Bool { count == 0 }
  /// The positions of the assets.
  ///
  /// - Complexity: O(1)
  public var indices: Range<Int> { 0..<count }

  init(_ lineage: FetchLineage, _ snapshot: SnapshotIDs) {
    options = lineage.options
    token = snapshot.token
    count = snapshot.count
    self.lineage = lineage
    self.snapshot = snapshot
  }

  /// A result that follows another one.
  func following(with ids: [AssetID], token: String) -> FetchResult {
    FetchResult(lineage, SnapshotIDs(ids, token: token))
  }

  // MARK: - Ids

  /// The ids of all assets, in the order of the list. The access waits until all of them have arrived.
  ///
  /// - Complexity: O(1) once they have arrived.
  public var ids: [AssetID] { get async throws { try await snapshot.all() } }

  /// The ids of the assets at these positions.
  ///
  /// - Complexity: O(k) for k positions.
  public func ids(at range: Range<Int>) async throws -> [AssetID] {
    check(range)
    return try await snapshot.ids(range)
  }

  /// The position of an asset, or `nil` if the list does not have it. If the list is still arriving, the call waits for the
  /// id, or for the end of the list.
  ///
  /// - Complexity: O(n); about 1 ms for a million assets.
  public func index(of id: AssetID) async throws -> Int? { try await snapshot.position(of: id) }

  /// Whether the list has an asset.
  ///
  /// - Complexity: O(n)
  public func contains(_ id: AssetID) async throws -> Bool { try await index(of: id) != nil }

  // MARK: - Assets

  /// The asset at a position; `nil` if it was deleted since the snapshot.
  ///
  /// - Complexity: O(1) if its page is loaded, else one call for the page.
  public subscript(index: Int) -> Asset? { get async throws { try await asset(at: index) } }

  /// The asset at a position; `nil` if it was deleted since the snapshot.
  ///
  /// - Complexity: O(1) if its page is loaded, else one call for the page.
  public func asset(at index: Int) async throws -> Asset? {
    try await objects(at: index..<index + 1)[0]
  }

  /// The first asset; `nil` if the list is empty, or if this asset was deleted since the snapshot.
  ///
  /// - Complexity: O(1) if its page is loaded, else one call for the page.
  public var firstObject: Asset? { get async throws { isEmpty ? nil : try await asset(at: 0) } }

  /// The last asset; `nil` if the list is empty, or if this asset was deleted since the snapshot.
  ///
  /// - Complexity: O(1) if its page is loaded, else one call for the page. If the list is still arriving, the access
  ///   waits for its end.
  public var lastObject: Asset? { get async throws { isEmpty ? nil : try await asset(at: count - 1) } }

  /// The assets at these positions, parallel to them; `nil` for each that was deleted since the snapshot.
  ///
  /// Use it for the assets on a screen. ``enumerate(in:)`` reads a whole list.
  ///
  /// - Complexity: O(k) for k positions, with a call for each 100 that are not loaded.
  public func objects(at range: Range<Int>) async throws -> [Asset?] {
    check(range)
    guard range.count > AssetPages.mostAtOnce else { return try await loaded(range) }
    var assets: [Asset?] = []
    for start in stride(from: range.lowerBound, to: range.upperBound, by: AssetPages.mostAtOnce) {
      assets += try await loaded(start..<min(start + AssetPages.mostAtOnce, range.upperBound))
    }
    return assets
  }

  private func loaded(_ range: Range<Int>) async throws -> [Asset?] {
    guard !range.isEmpty else { return [] }
    let size = AssetPages.pageSize
    let (first, last) = (range.lowerBound / size, (range.upperBound - 1) / size)
    let pages = first * size..<min((last + 1) * size, count)
    let ids = try await snapshot.ids(pages)
    let wanted = ids[range.lowerBound - pages.lowerBound..<range.upperBound - pages.lowerBound]
    let next = lineage.visit(first...last) * size
    let nextIDs = indices.contains(next) ? snapshot.arrived(next..<min(next + size, count)) : nil
    return try await lineage.pages.assets(Array(wanted), page: ids, next: nextIDs ?? [])
  }

  private func check(_ range: Range<Int>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count, "positions \(range) of a list of \(count) assets")
  }
}

extension FetchResult: Equatable {
  /// Whether both are the same snapshot of the same fetch. Lists that are only alike are not equal.
  ///
  /// - Complexity: O(1)
  public static func == (one: FetchResult, other: FetchResult) -> Bool { one.snapshot === other.snapshot }
}

/// The ids of one snapshot.
final class SnapshotIDs: Sendable {
  private static let lastSerial = Atomic<UInt64>(0)

  /// A number that no other snapshot of the process ever gets, not even after this one was released.
  let serial = lastSerial.add(1, ordering: .relaxed).newValue
  let token: String
  let count: Int
  private let ids: ArrivingIDs
  /// Reads the ids that have not arrived.
  private let reading: Task<Void, Never>?

  init(_ ids: [AssetID], token: String) {
    self.token = token
    count = ids.count
    self.ids = ArrivingIDs(ids, token: token)
    reading = nil
  }

  /// Begins to read a list. It returns when the first page is there.
  init(_ options: FetchOptions, from library: PhotoLibrary) async throws {
    let ids = ArrivingIDs()
    let reading = Task { await ids.read(options, from: library) }
    let header: ArrivingIDs.Header
    do {
      header = try await ids.header.value()
    } catch {
      reading.cancel()
      throw error
    }
    (token, count) = (header.token, header.count)
    self.ids = ids
    self.reading = reading
  }

  deinit { reading?.cancel() }

  func arrived(_ range: Range<Int>) -> [AssetID]? { ids.arrived(range) }
  func ids(_ range: Range<Int>) async throws -> [AssetID] { try await ids.ids(range) }
  func all() async throws -> [AssetID] { try await ids.all(count) }
  func position(of id: AssetID) async throws -> Int? { try await ids.position(of: id, in: count) }
  /// All ids, or nil if some are still arriving. The ids of a snapshot that came with a change are complete.
  var complete: [AssetID]? { ids.complete }
}

/// The parts that the results of one fetch share.
final class FetchLineage: Sendable {
  let library: PhotoLibrary
  let options: FetchOptions
  let pages: AssetPages
  /// The pages that were accessed last.
  private let visited = Mutex<ClosedRange<Int>?>(nil)

  init(of library: PhotoLibrary, _ options: FetchOptions) {
    self.library = library
    self.options = options
    pages = AssetPages(of: library)
  }

  /// Notes an access to these pages.
  ///
  /// - Returns: the page that will probably be next: the one after them in the direction of the accesses.
  func visit(_ pages: ClosedRange<Int>) -> Int {
    visited.withLock { visited in
      defer { visited = pages }
      guard let visited else { return pages.upperBound + 1 }
      return pages.lowerBound < visited.lowerBound ? pages.lowerBound - 1 : pages.upperBound + 1
    }
  }
}
