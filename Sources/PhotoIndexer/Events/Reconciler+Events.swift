import Glibc
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

// Events for `photoctl debug events`, and notes for the library. Each function is called before the record is applied.
extension Reconciler {
  func noteFound(_ directory: DirectoryNumber, _ name: [UInt8], _ stat: FileStat, in batch: inout Batch) {
    batch.notes.foundCount += 1
    batch.notes.changed.insert(directory)
    // A first scan consists of these records.
    guard listings.current == nil else {
      events.listing.found += 1
      return
    }
    if let place = place(directory, name) { events.ring.append(.fileSeen(place, byteCount: stat.byteCount)) }
  }

  func noteGone(_ directory: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) {
    batch.notes.changed.insert(directory)
    if let place = place(directory, name) { events.ring.append(.fileGone(place)) }
  }

  func noteMoved(
    _ from: DirectoryNumber, _ fromName: [UInt8], to: DirectoryNumber, _ toName: [UInt8], in batch: inout Batch
  ) {
    batch.notes.changed.formUnion([from, to])
    if let place = place(to, toName) { events.ring.append(.fileMoved(from: self.place(from, fromName), to: place)) }
  }

  func noteListingStarted(_ directory: DirectoryNumber, in batch: inout Batch) {
    batch.notes.reports.append(.listing(directory: directory))
    events.listing = LibraryEvent.ListingCounts()
  }

  func noteFound(_ number: DirectoryNumber, _ parent: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) {
    batch.notes.changed.insert(number)
    if parent != 0, !scans.areUnderWay, let place = place(parent, name) { events.ring.append(.folderSeen(place)) }
    events.cachedPath = nil
  }

  func noteMoved(_ number: DirectoryNumber, _ parent: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) {
    batch.notes.changed.insert(number)
    noteLeaving(number, in: &batch)
    if let from = place(number, []), let to = place(parent, name) {
      events.ring.append(.folderMoved(from: from, to: to))
    }
    events.cachedPath = nil
  }

  func noteGone(_ number: DirectoryNumber, _ evidence: Evidence, in batch: inout Batch) {
    batch.notes.hasChanges = true
    noteLeaving(number, in: &batch)
    if let place = place(number, []) { events.ring.append(.folderGone(place, evidence)) }
    events.cachedPath = nil
  }

  private func noteLeaving(_ number: DirectoryNumber, in batch: inout Batch) {
    if let id = tree.directory(number: number) { batch.notes.leftPaths.append(tree.path(of: id)) }
  }

  func noteScanStarted(_ root: UInt16, _ reason: ScanReason, in batch: inout Batch) {
    batch.notes.reports.append(.scanStarted(root: root, reason))
    if let path = rootPath(root) { events.ring.append(.scanStarted(root: path, reason)) }
  }

  func noteOffline(_ root: UInt16, _ errorNumber: Int32, in batch: inout Batch) {
    batch.notes.reports.append(.offline(root: root))
    if errorNumber == EREMOTE { batch.notes.remoteRoots.append(root) }
    if let path = rootPath(root) { events.ring.append(.rootOffline(root: path, errorNumber: errorNumber)) }
    events.cachedPath = nil
  }

  func noteUnreadable(_ directory: DirectoryNumber, _ name: [UInt8], _ errorNumber: Int32, in batch: inout Batch) {
    batch.notes.reports.append(.unreadable(directory: directory, name: name, errorNumber: errorNumber))
    if errorNumber == EREMOTE { batch.notes.leftOut.append((directory, name)) }
    if let place = place(directory, name) { events.ring.append(.unreadable(place, errorNumber: errorNumber)) }
  }

  func noteOverflow(in batch: inout Batch) {
    batch.notes.reports.append(.overflow)
    events.ring.append(.overflow)
  }

  func notePolling(
    _ root: UInt16, _ reason: PollingReason, _ count: UInt32, of total: UInt32, in batch: inout Batch
  ) {
    batch.notes.reports.append(.polling(root: root, reason, count: count, total: total))
    if let path = rootPath(root) {
      events.ring.append(.polling(root: path, reason, polled: Int(count), directories: Int(total)))
    }
  }

  func noteListing(_ directory: DirectoryNumber) {
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
