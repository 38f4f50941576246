import PhotoCatalog
import PhotoModel
import WatchRecords

/// The names of files that were found while they were empty, and are no photos yet.
///
/// The kernel reports a write only for the name by which the program has opened the file. Its other names (hard links)
/// are looked at when one of them is a photo.
struct EmptyFiles {
  struct Key: Hashable {
    let volumeID: VolumeID
    let inode: UInt64
  }

  /// The most names that are kept. So many empty files are failed downloads. Then all names are removed, and the next scan
  /// finds the files that have been written.
  private static let limit = 4_096

  private var places: [Key: Set<Place>] = [:]
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func note(_ place: Place, of file: Key) {
    if count >= Self.limit { self = EmptyFiles() }
    if places[file, default: []].insert(place).inserted { count += 1 }
  }

  /// Removes the names of a file, and returns them.
  mutating func take(_ file: Key) -> Set<Place> {
    guard let taken = places.removeValue(forKey: file) else { return [] }
    count -= taken.count
    return taken
  }
}

extension Reconciler {
  func noteEmpty(_ place: Place, _ stat: FileStat) {
    emptyFiles.note(place, of: .init(volumeID: tree.volumeID(of: place.directoryID), inode: stat.identity.inode))
  }

  /// Looks at the other names of a file that has been written. They were found while it was empty.
  func decideEmptyNames(of row: FileRow, in batch: inout Batch) throws {
    if emptyFiles.isEmpty { return }
    let context = batch.context
    defer { batch.context = context }
    let names = emptyFiles.take(.init(volumeID: tree.volumeID(of: row.directoryID), inode: row.inode))
    for place in names where tree.contains(place.directoryID) {
      guard try batch.writer.file(place.directoryID, place.name) == nil,
        case .there(var stat) = files.look(path(of: place)), stat.identity.inode == row.inode
      else { continue }
      stat.identity.birthTime = FileTime(row.birthTime)
      try fileFound(place, stat, reading: nil, in: &batch)
    }
  }
}
