import PhotoModel

extension FetchResult {
  /// The assets of a part of the list, one after another, in bounded memory. Assets that were deleted since the snapshot
  /// are left out.
  ///
  /// ```swift
  /// for try await (index, asset) in photos.enumerate() { print(index, asset.resources[0].filename) }
  /// ```
  ///
  /// - Parameter range: by default the whole list.
  /// - Complexity: O(1). Reading the assets takes a call for each 500.
  public func enumerate(in range: Range<Int>? = nil) -> EnumeratedAssets {
    EnumeratedAssets(result: self, range: range ?? indices)
  }
}

/// The assets of a ``FetchResult`` with their positions. They are loaded some hundreds at a time.
public struct EnumeratedAssets: AsyncSequence, Sendable {
  /// A position in the result, and the asset at it.
  public typealias Element = (index: Int, asset: Asset)

  let result: FetchResult
  let range: Range<Int>

  /// Begins at the first position of the range.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(result: result, rest: range) }

  /// The iterator. It loads 500 assets at a time.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private static let chunk = 500

    let result: FetchResult
    /// The positions that are not loaded.
    var rest: Range<Int>
    private var loaded: ArraySlice<(index: Int, asset: Asset)> = []

    init(result: FetchResult, rest: Range<Int>) { (self.result, self.rest) = (result, rest) }

    /// The next asset; `nil` after the last one.
    ///
    /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
    public mutating func next() async throws -> (index: Int, asset: Asset)? {
      // A cancelled task does not get the rest of the assets that are loaded.
      try Task.checkCancellation()
      while loaded.isEmpty {
        guard !rest.isEmpty else { return nil }
        let part = rest.prefix(Self.chunk)
        let ids = try await result.ids(at: part)
        // These assets are read once, so they must not displace those that are shown.
        let library = result.lineage.library
        let assets = try await library.patiently { try await library.assets(ids) }
        let places = Dictionary(zip(ids, part)) { first, _ in first }
        loaded = assets.compactMap { asset in places[asset.id].map { ($0, asset) } }[...]
        rest = part.upperBound..<rest.upperBound
      }
      return loaded.removeFirst()
    }
  }
}
