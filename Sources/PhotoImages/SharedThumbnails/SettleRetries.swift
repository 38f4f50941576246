import PhotoModel

/// The assets whose thumbnails could not be brought up to date, because the catalog could not be read. They are tried
/// again after a pause. Otherwise a hidden photo would keep its thumbnails.
///
/// The pause doubles while reading fails, and no more assets are remembered than the queue holds. So a catalog that can't be
/// read costs little.
struct SettleRetries: Sendable {
  static let shortestPause: UInt32 = 60
  static let longestPause: UInt32 = 3600
  static let mostAssets = ThumbnailQueue.mostAssets

  private(set) var assetIDs: Set<AssetID> = []
  /// When the pause is over, in seconds since 1970. Nil if no asset waits.
  private(set) var time: UInt32?
  private var pause = Self.shortestPause

  /// - Returns: the pause if one begins, in seconds.
  mutating func add(_ assetID: AssetID, now: UInt32) -> UInt32? {
    if assetIDs.count < Self.mostAssets { assetIDs.insert(assetID) }
    guard time == nil else { return nil }
    defer { pause = min(2 * pause, Self.longestPause) }
    time = now + pause
    return pause
  }

  /// An asset was read, so the next pause is short.
  mutating func succeeded() { pause = Self.shortestPause }

  /// The assets to try again, once their pause is over. They are not remembered any longer.
  mutating func take(now: UInt32) -> Set<AssetID>? {
    guard let time, time <= now else { return nil }
    self.time = nil
    defer { assetIDs = [] }
    return assetIDs
  }
}
