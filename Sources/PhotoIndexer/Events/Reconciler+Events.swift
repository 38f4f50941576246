import PhotoCatalog
import PhotoModel
import WatchRecords

/// The reconciler's notes for the event ring, and the state that makes them cheap.
struct EventNotes {
  let ring: EventRing
  /// The outcomes of the files of the listing that is under way. They are only counted: a first scan has no time for
  /// more, and would push out all other events.
  fileprivate var listing = LibraryEvent.ListingCounts()
  /// The path of the directory of the last event: events come in runs of one directory.
  fileprivate var cachedPath: (directoryID: DirectoryID, path: [UInt8])?

  init(ring: EventRing) { self.ring = ring }
}

/// The outcome of one file.
enum FileOutcome { case same, inserted, updated, renamed, deferred, damaged }

// Events for `photoctl debug events`.
extension Reconciler {
  /// Called before a record is applied, while the files that it reports still have their former places.
  func note(_ record: WatchRecord) {
    // A first scan consists of these records, so their fields are not read here.
    if case .fileFound = record, listings.current != nil {
      events.listing.found += 1
      return
    }
    switch record {
    case .fileFound(let directory, let name, let stat, _):
      if let place = place(directory, name) { events.ring.append(.fileSeen(place, byteCount: stat.byteCount)) }
    case .fileGone(let directory, let name):
      if let place = place(directory, name) { events.ring.append(.fileGone(place)) }
    case .fileMoved(let from, let fromName, let to, let toName, _, _):
      if let place = place(to, toName) { events.ring.append(.fileMoved(from: self.place(from, fromName), to: place)) }
    case .listingStarted:
      events.listing = LibraryEvent.ListingCounts()
    case .listingEnded(let directory, _):
      noteListing(directory)
    case .directoryFound(_, let parent, _, let name, _):
      if parent != 0, !scans.areUnderWay, let place = place(parent, name) { events.ring.append(.folderSeen(place)) }
      events.cachedPath = nil
    case .directoryMoved(let number, let parent, let name):
      if let from = place(number, []), let to = place(parent, name) {
        events.ring.append(.folderMoved(from: from, to: to))
      }
      events.cachedPath = nil
    case .directoryGone(let number, let evidence):
      if let place = place(number, []) { events.ring.append(.folderGone(place, evidence)) }
      events.cachedPath = nil
    case .scanStarted(let root, _, let reason):
      if let path = rootPath(root) { events.ring.append(.scanStarted(root: path, reason)) }
    case .rootOffline(let root, let code):
      if let path = rootPath(root) { events.ring.append(.rootOffline(root: path, errorNumber: code)) }
      events.cachedPath = nil
    case .unreadable(let directory, let name, let code):
      if let place = place(directory, name) { events.ring.append(.unreadable(place, errorNumber: code)) }
    case .overflow:
      events.ring.append(.overflow)
    case .polling(let root, let reason, let polled, let directories):
      if let path = rootPath(root) {
        events.ring.append(.polling(root: path, reason, polled: Int(polled), directories: Int(directories)))
      }
    case .scanEnded, .synced, .watchBudget, .ignored, .alive, .checkpoint:
      break
    }
  }

  private func noteListing(_ directory: DirectoryNumber) {
    guard let listing = listings.current else { return }
    var counts = events.listing
    counts.missing = listing.unnamed.count
    // A scan that finds no difference is recorded once, at its end.
    guard listing.evidence == .event || !counts.isQuiet, let place = place(directory, []) else { return }
    events.ring.append(.listed(place, listing.evidence, counts))
  }

  /// Records the decision on one file by itself, or counts it if the file is one of a listing.
  func note(_ fact: @autoclosure () -> LibraryEvent.Fact, as outcome: FileOutcome) {
    guard listings.current != nil else { return events.ring.append(fact()) }
    switch outcome {
    case .same: break
    case .inserted: events.listing.inserted += 1
    case .updated: events.listing.updated += 1
    case .renamed: events.listing.renamed += 1
    case .deferred: events.listing.deferred += 1
    case .damaged: events.listing.damaged += 1
    }
  }

  func eventPlace(_ place: Place) -> EventPlace { eventPlace(place.directoryID, place.name) }

  func eventPlace(_ row: FileRow) -> EventPlace { eventPlace(row.directoryID, row.name) }

  func eventPlace(_ directoryID: DirectoryID, _ name: [UInt8]) -> EventPlace {
    if let cached = events.cachedPath, cached.directoryID == directoryID {
      return EventPlace(directory: cached.path, name: name)
    }
    let path = tree.path(of: directoryID)
    events.cachedPath = (directoryID, path)
    return EventPlace(directory: path, name: name)
  }

  private func place(_ directory: DirectoryNumber, _ name: [UInt8]) -> EventPlace? {
    tree.directory(number: directory).map { eventPlace($0, name) }
  }

  private func rootPath(_ root: UInt16) -> [UInt8]? { roots.id(ofNumber: root).flatMap { tree.rootPaths[$0] } }
}

extension Library {
  func noteScanEnd(_ ended: EndedScan) {
    guard let path = rootPath(ended.root) else { return }
    switch ended.verdict {
    case .decided(let removed, _): events.append(.scanDecided(root: path, removed: removed, isComplete: true))
    case .incomplete: events.append(.scanDecided(root: path, removed: 0, isComplete: false))
    case .suspect(let missing): events.append(.braked(root: path, missing: missing))
    }
  }
}

extension LibraryEvent.CommitCounts {
  init(_ record: CommitRecord) {
    self.init(
      inserted: record.insertedAssets.count, updated: record.shownUpdateCount,
      deleted: record.deletedAssets.count, folders: record.renamedDirectories.count,
      roots: record.rootAvailability.count)
  }
}
