import PhotoCatalog
import PhotoModel
import WatchRecords

// Files and folders that a person excludes. No others leave because of that, so no brake is needed.
extension CatalogListing {
  /// Whether the catalog may hold a file of this name here.
  fileprivate func mayKnow(_ name: [UInt8]) -> Bool { unnamed[name] != nil || told.contains(name) }
}

extension Reconciler {
  /// Handles a name in a directory that is there and excluded. An empty name means everything in the directory.
  func ignored(_ directory: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: directory) else { return }
    batch.evidence = .event
    guard name.isEmpty else {
      // It leaves at the end of the batch, unless it turns up elsewhere until then. Most ignored names of a listing are unknown.
      if listing?.directoryID != id || listing?.mayKnow(name) == true {
        try fileGone(Place(directoryID: id, name: name), in: &batch)
      }
      if let child = tree.child(of: id, name) { try dismissFolder(child, in: &batch) }
      return
    }
    for row in try batch.writer.files(in: id) {
      try fileGone(Place(directoryID: id, name: row.name), in: &batch)
    }
    for child in tree.children(of: id) { try dismissFolder(child, in: &batch) }
  }

  /// Removes a folder without a number. A folder with a number is elsewhere, or photod-watch reports that it is gone.
  ///
  /// The folder may have got another name while no watcher saw it. A scan that is under way finds it there, perhaps later.
  private func dismissFolder(_ id: DirectoryID, in batch: inout Batch) throws {
    guard tree.number(of: id) == nil else { return }
    let rootID = tree.rootID(of: id)
    if let root = scans.first(where: { $0.value.rootID == rootID })?.key {
      scans[root]!.excluded.insert(id)
    } else {
      try removeTree(id, in: &batch)
    }
  }

  /// Removes the folders that were excluded during a scan and that no scan has found elsewhere.
  func removeExcluded(by scan: CatalogScan, in batch: inout Batch) throws {
    for id in scan.excluded.sorted() where tree.contains(id) && tree.number(of: id) == nil {
      // Another folder may have the name now, and the name is no longer excluded.
      if !ParkedName.isParked(tree.row(id).name) { try removeTree(id, in: &batch) }
    }
  }
}
