import Glibc
import PhotoCatalog
import PhotoContract
import PhotoModel
import SystemErrors

/// A file or folder that can't be read, and its remedy.
package struct UnreadableEntry: Sendable, Equatable {
  package var kind: UnreadableFile.Kind
  package var path: [UInt8]
  package var assetID: AssetID?
  /// The message of the system, or of the reader of its format.
  package var reason: String
  /// When it was found unreadable, or nil if that is not known. If it was damaged when it was new, this is the time of its
  /// last change.
  package var since: PhotoDate?

  init(
    kind: UnreadableFile.Kind, path: [UInt8], assetID: AssetID? = nil, reason: String, since: PhotoDate?
  ) {
    self.kind = kind
    self.path = path
    self.assetID = assetID
    self.reason = reason
    self.since = since
  }

  package init(_ asset: FailedAsset) {
    let isFailing = asset.readTime == .unknown
    self.init(
      kind: isFailing ? .failing : ForbiddenFile.isFailure(asset.failure) ? .unreadable : .damaged,
      path: asset.path, assetID: asset.assetID, reason: asset.failure,
      since: isFailing ? nil : PhotoDate(Self.start(of: asset)))
  }

  /// The time since which a file is damaged.
  ///
  /// A young file that can't be parsed is read again and again, and each reading has a later time. All of these readings
  /// are of the content that the file got by its last change. So that change is the start, and stays the start.
  private static func start(of asset: FailedAsset) -> WallTime {
    let retries = Duration.zero...ReadRetries.longestDelay * 2
    return retries.contains(asset.readTime - asset.changeTime) ? asset.changeTime : asset.readTime
  }

  package var remedy: String {
    switch kind {
    case .damaged: "Replace it by an intact copy. photod reads that at once."
    case .failing: Warning.retry
    case .unreadable where reason == errorText(EREMOTE):
      "A share is mounted there. To index it, add it to `roots` in the configuration, and run `systemctl --user reload photod`."
    case .unreadable:
      reason == errorText(EACCES) || reason == errorText(EPERM) || ForbiddenFile.isFailure(reason)
        ? Warning.remedy(ofUnreadable: EACCES)
        : Warning.remedy(ofUnreadable: EIO)
    }
  }
}

extension Library {
  /// All files and folders of the library that can't be read, by path. Blocks while the catalog is read.
  ///
  /// - Parameter state: the result of ``unreadableState()`` from just before.
  /// - Complexity: O(n) over the directories and the unreadable files.
  nonisolated package func unreadableEntries(_ state: UnreadableState) throws -> [UnreadableEntry] {
    let (places, failing) = (state.places, state.failing)
    var entries: [[UInt8]: UnreadableEntry] = [:]
    for asset in try catalog.read({ try $0.failedAssets(limit: .max) }) {
      entries[asset.path] = UnreadableEntry(asset)
    }
    // A present failure of the disk comes before the result of an earlier reading.
    for (assetID, failure) in failing {
      entries[failure.path] = UnreadableEntry(
        kind: .failing, path: failure.path, assetID: assetID, reason: failure.reason,
        since: PhotoDate(failure.since))
    }
    for place in places {
      entries[place.path] = UnreadableEntry(
        kind: .unreadable, path: place.path, assetID: entries[place.path]?.assetID,
        reason: errorText(place.errorNumber), since: PhotoDate(place.since))
    }
    return entries.values.sorted { $0.path.lexicographicallyPrecedes($1.path) }
  }

  /// The files and folders that can't be read, as far as the library knows them without its catalog.
  package func unreadableState() -> UnreadableState {
    UnreadableState(
      places: problems.unreadable.entries,
      failing: reconciler.retries.failures)
  }
}

/// Paths that can't be read, as the library knows them without its catalog.
package struct UnreadableState: Sendable {
  let places: [UnreadablePaths.Entry]
  let failing: [(AssetID, ReadRetry.Failure)]
}
