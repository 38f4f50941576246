import PhotoCatalog
import WatchRecords

// What a person says is not wanted. Nothing else leaves by that word, so that no brake need hold it.
extension Listing {
  /// Whether the catalog may hold a file of this name here.
  fileprivate func mayKnow(_ name: [UInt8]) -> Bool { unnamed[name] != nil || told.contains(name) }
}

extension Reconciler {
  /// A name in a directory, or with an empty one all that is in it, is there and kept out.
  func ignored(_ directory: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: directory) else { return }
    batch.evidence = .event
    guard name.isEmpty else {
      // It leaves at the end of the batch, unless it turns up elsewhere until then. In a listing what is not known is many.
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

  /// One with a number is elsewhere, or photod-watch says itself that it is gone.
  private func dismissFolder(_ id: Int64, in batch: inout Batch) throws {
    if tree.number(of: id) == nil { try removeTree(id, in: &batch) }
  }
}
