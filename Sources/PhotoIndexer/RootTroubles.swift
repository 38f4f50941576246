import Glibc
import PhotoCatalog
import PhotoModel

/// Since when and why roots are offline or suspect, for the status: the catalog says only that they are.
struct RootTroubles {
  /// Of roots that are offline; of those that were when photod started, from the history.
  private var offlineDates: [Int64: PhotoDate]
  private var reasons: [Int64: String] = [:]
  /// By the start of the suspicion, nanoseconds of the clock that nobody sets: its date is told once, not again and again
  /// a little different.
  private var suspectDates: [Int64: (since: Int64, date: PhotoDate)] = [:]

  init(offlineDates: [Int64: Int64] = [:]) {
    self.offlineDates = offlineDates.mapValues { PhotoDate(microseconds: $0) }
  }

  mutating func note(_ changes: [CommitRecord.Availability], at microseconds: Int64) {
    for change in changes where change.directoryID == nil {
      offlineDates[change.rootID] = change.isAvailable ? nil : PhotoDate(microseconds: microseconds)
      if change.isAvailable { reasons[change.rootID] = nil }
    }
  }

  mutating func setReason(_ reason: String, ofOffline rootID: Int64) { reasons[rootID] = reason }

  func offline(_ rootID: Int64) -> (since: PhotoDate?, reason: String) {
    (
      offlineDates[rootID],
      reasons[rootID]
        ?? "It was offline when photod started. Its photos stay in the library; they are available again when it is."
    )
  }

  /// - Returns: also when the grace is over.
  mutating func suspect(
    _ rootID: Int64, _ suspect: Suspect, grace: Int64, clock: any LibraryClock
  ) -> (since: PhotoDate, until: PhotoDate) {
    if suspectDates[rootID]?.since != suspect.since {
      let date = PhotoDate(microseconds: (clock.wallTime - max(0, clock.bootTime - suspect.since)) / 1000)
      suspectDates[rootID] = (suspect.since, date)
    }
    let date = suspectDates[rootID]!.date
    return (date, PhotoDate(microseconds: date.microseconds + grace / 1000))
  }
}

extension Library {
  /// Why a root that can't be opened can't be.
  static func offlineReason(_ code: Int32) -> String {
    switch code {
    case ENOENT: "there is no such folder: its drive is not mounted, or it was renamed"
    case ENODEV: "its drive was unmounted"
    case ESTALE: "another folder stands in its place"
    case EEXIST: "the same folder is in the library already, under another root"
    default: errorText(code)
    }
  }

  func statusTrouble(_ rootID: Int64, _ state: LibraryStatus.Root.State) -> (since: PhotoDate?, reason: String?) {
    switch state {
    case .online, .scanning: return (nil, nil)
    case .offline:
      let (since, reason) = troubles.offline(rootID)
      return (since, reason)
    case .suspect:
      guard let suspect = reconciler.suspects[rootID] else { return (nil, nil) }
      let (since, until) = troubles.suspect(rootID, suspect, grace: reconciler.policy.grace, clock: clock)
      let path = FilePath.text(reconciler.tree.rootPaths[rootID] ?? [])
      return (
        since,
        "\(counted(suspect.missing, "photo is", "photos are")) missing at once; nothing was removed yet. After \(Self.minute(until)) photod scans again by itself and removes what is missing then; `photoctl rescan '\(path)' --confirm` does at once."
      )
    }
  }

  /// For a person: `2024-07-21 10:00 UTC`.
  static func minute(_ date: PhotoDate) -> String {
    String(date.description.prefix(16)).split(separator: "T").joined(separator: " ") + " UTC"
  }
}
