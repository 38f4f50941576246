/// The index of words, to which new assets are added when the library is idle.
struct WordIndexing {
  enum State {
    /// Every asset is in the index.
    case complete
    /// Assets may be missing from it.
    case pending
    /// Assets could not be written to it. The next commit lets it be tried again.
    case failed
  }

  /// The number of assets in one transaction. It takes some 20 ms, and other writes wait meanwhile.
  static let batch = 2_000
  static let batchesPerSecond = 10

  var state = State.pending
  var wait = QuietWait()
}
