import PhotoClient
import PhotoModel

/// The assets of a list, read at the pace of the program that reads the output.
///
/// photod keeps a snapshot only while it sends the ids of the list, which takes one second for a million. A stream of whole
/// assets would need the snapshot until the last of them is printed. But photod ends a stream that is not read for ten
/// seconds.
struct QueriedAssets {
  let library: PhotoLibrary
  let options: FetchOptions

  /// Calls `body` with the assets in their order, some hundred at a time.
  ///
  /// The list is that of one moment. Each asset is shown in its state when its page is read. An asset that leaves the
  /// library in between is omitted.
  ///
  /// - Returns: the number of assets in the list.
  /// - Throws: ``PhotoLibraryError``, or an error from `body`.
  @discardableResult
  func forEachPage(_ body: ([Asset]) throws -> Void) async throws -> Int {
    // Most lists are short, and the first page has all of them.
    let first = try await library.fetchPage(options)
    guard first.assets.count < first.total else {
      try body(first.assets)
      return first.total
    }
    var ids: [AssetID] = []
    var token = ""
    for try await page in library.fetchIDs(options) {
      token = page.token
      ids += page.ids
    }
    var rest = ids[...]
    if token == first.token {
      try body(first.assets)
      rest = rest.dropFirst(first.assets.count)
    }
    while !rest.isEmpty {
      try body(try await library.assets(Array(rest.prefix(Self.pageSize))))
      rest = rest.dropFirst(Self.pageSize)
    }
    return ids.count
  }

  /// The most assets in one call, by the contract.
  private static let pageSize = 1_000
}
