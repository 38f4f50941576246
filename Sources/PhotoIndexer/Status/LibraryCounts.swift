import PhotoCatalog
import PhotoModel

/// The counts in the status: those of the library, and those since photod started.
struct LibraryCounts {
  private(set) var assets: Int
  private(set) var sinceStart = LibraryStatus.Counters()
  /// The files that the scans under way have found.
  private(set) var scannedFiles = 0
  /// Whether all scans had ended once. Later scans follow an interruption.
  private(set) var hasBeenLive = false

  init(assets: Int) { self.assets = assets }

  /// - Parameter filesRead: the number of files that were read since photod started.
  mutating func note(_ record: CommitRecord, filesRead: Int) {
    assets += record.insertedAssets.count - record.deletedAssets.count
    sinceStart.assetsInserted += record.insertedAssets.count
    sinceStart.assetsUpdated += record.shownUpdateCount
    sinceStart.assetsRemoved += record.deletedAssets.count
    sinceStart.filesRead = filesRead
  }

  mutating func note(filesRead: Int) { sinceStart.filesRead = filesRead }

  mutating func noteWatcherStart() { sinceStart.watcherStarts += 1 }

  mutating func noteOverflow() { sinceStart.overflows += 1 }

  mutating func noteScan() { sinceStart.scans += 1 }

  mutating func noteScannedFiles(_ count: Int) { scannedFiles += count }

  /// Notes that no scan is awaited.
  mutating func noteLive() { (hasBeenLive, scannedFiles) = (true, 0) }
}
