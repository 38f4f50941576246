import PhotoCatalog
import PhotoModel
import WatchRecords

// Removes the files and folders that a pattern of ignored names excludes. A person chose that, so they are removed at
// once, even if they are many. Photos that are missing for no known reason stay for the removal grace.
extension Reconciler {
  /// Removes a file or folder that exists, but whose name is excluded. An empty name stands for everything in the
  /// directory.
  func ignored(_ directory: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: directory) else { return }
    batch.context.evidence = .event
    guard name.isEmpty else {
      // Most ignored names of a listing are unknown.
      if listings.current?.directoryID != id || listings.current?.mayKnow(name) == true {
        try dismissFile(Place(directoryID: id, name: name), in: &batch)
      }
      if let child = tree.child(of: id, name) { try dismissFolder(child, in: &batch) }
      return
    }
    for row in try batch.writer.files(in: id) {
      try dismissFile(Place(directoryID: id, name: row.name), in: &batch)
    }
    for child in tree.children(of: id) { try dismissFolder(child, in: &batch) }
  }

  /// The scan under way of the root that a directory is in. A file or folder that was excluded may have got another name
  /// while no watcher saw it. The scan finds it there, perhaps later, so the library removes it only when the scan is
  /// decided.
  private func scanUnderWay(of directory: DirectoryID) -> UInt16? {
    scans.number(of: tree.rootID(of: directory))
  }

  /// Removes a file. Without a scan, the library removes it at the end of the batch, unless a record of the batch reports
  /// it elsewhere.
  private func dismissFile(_ place: Place, in batch: inout Batch) throws {
    guard let root = scanUnderWay(of: place.directoryID),
      let row = try batch.writer.file(place.directoryID, place.name)
    else { return try fileGone(place, in: &batch) }
    listings.forget(place)
    held.remove(place)
    remembered.noteLeft(row)
    forgetMissing(row.assetID)
    scans.update(root) { $0.excludedPlaces.insert(place) }
  }

  /// Removes a folder without a number. A folder with a number is elsewhere, or photod-watch reports that it is gone.
  private func dismissFolder(_ id: DirectoryID, in batch: inout Batch) throws {
    guard tree.number(of: id) == nil else { return }
    if let root = scanUnderWay(of: id) {
      scans.update(root) { $0.excluded.insert(id) }
    } else {
      try removeTree(id, in: &batch)
    }
  }

  /// Removes the files and folders that were excluded during the ended scans and that no scan has found elsewhere. The
  /// library removes them together, so that none of them gets the identity of another one.
  func removeExcluded(in batch: inout Batch) throws {
    let excluded = scans.ended.reduce(into: (places: Set<Place>(), folders: Set<DirectoryID>())) {
      $0.places.formUnion($1.excludedPlaces)
      $0.folders.formUnion($1.excluded)
    }
    guard !excluded.places.isEmpty || !excluded.folders.isEmpty else { return }
    scans.updateAll { ($0.excludedPlaces, $0.excluded) = ([], []) }
    batch.context.evidence = .scan
    for place in excluded.places where tree.contains(place.directoryID) {
      batch.departing[place] = try batch.writer.file(place.directoryID, place.name)
    }
    try removeDeparted(in: &batch)
    for id in excluded.folders.sorted() where tree.contains(id) && tree.number(of: id) == nil {
      // Another folder may have the name now, and the name is no longer excluded.
      if !tree.row(id).isParked { try removeTree(id, in: &batch) }
    }
  }

  /// Notes that a file in this place is wanted, because the rules have changed.
  func forgetExcluded(_ place: Place) {
    scans.updateAll { scan in
      if !scan.excludedPlaces.isEmpty { scan.excludedPlaces.remove(place) }
    }
  }
}
