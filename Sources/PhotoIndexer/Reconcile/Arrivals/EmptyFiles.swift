import PhotoCatalog
import PhotoModel
import WatchRecords

/// The names of files that were found while they were empty, and are no photos yet.
///
/// The kernel reports a write only for the name by which the program has opened the file. Its other names (hard links)
/// are looked at when one of them is a photo.
struct EmptyFiles {
  /// So many empty files are downloads that failed. Then all are forgotten, and the next scan finds those that are
  /// written.
  private static let limit = 4_096

  private var places: [UInt64: Set<Place>] = [:]
  private var count = 0

  mutating func note(_ place: Place, inode: UInt64) {
    if count >= Self.limit { self = EmptyFiles() }
    if places[inode, default: []].insert(place).inserted { count += 1 }
  }

  /// Removes the names of a file, and returns them.
  mutating func take(inode: UInt64) -> Set<Place> {
    guard count > 0, let taken = places.removeValue(forKey: inode) else { return [] }
    count -= taken.count
    return taken
  }
}

extension Reconciler {
  /// Looks at the other names of a file that has been written. They were found while it was empty.
  func decideEmptyNames(of row: FileRow, in batch: inout Batch) throws {
    for place in empty.take(inode: row.inode) where tree.contains(place.directoryID) {
      guard tree.row(place.directoryID).volumeID == tree.row(row.directoryID).volumeID,
        try batch.writer.file(place.directoryID, place.name) == nil,
        case .there(var stat) = files.look(path(of: place)), stat.identity.inode == row.inode
      else { continue }
      stat.identity.birthTime = FileTime(row.birthTime)
      try fileFound(place, stat, reading: nil, in: &batch)
    }
  }
}
