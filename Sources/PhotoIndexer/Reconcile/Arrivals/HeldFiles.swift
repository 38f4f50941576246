import PhotoModel
import WatchRecords

/// Files that a scan has found in the places of others, until the scan has ended.
///
/// A file in the place of another is one of two things. A program saved it there, or it is another photo, because the
/// known file was renamed while no watcher saw it. Only the end of the scan decides, since the known file may turn up
/// in any folder. A scan lists folders and files in any order, so an earlier decision would depend on that order.
struct HeldFiles {
  struct File {
    let stat: FileStat
    let reading: ContentReading?
  }

  /// Beyond this a file is not held, but decided at once: so many replaced files are a restored folder. Their content, which
  /// was read ahead, takes some hundred bytes each.
  ///
  /// A file in the place of a known one is then that photo with new content, even if the scan finds the known file elsewhere
  /// later. A new file is a deleted photo if its content proves that. There must be no unknown file of its size in that
  /// photo's own place, because that may be the photo. After the catalog was lost, the path suffices, unless the
  /// content is another one.
  private let limit: Int

  /// - Parameter limit: the most files that are held.
  init(limit: Int = 20_000) { self.limit = limit }

  private var files: [DirectoryID: [[UInt8]: File]] = [:]
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// Whether a file in this place can be held. A file that is held already takes no more room with its new stat.
  func hasRoom(for place: Place) -> Bool { count < limit || contains(place) }

  /// The directories that have held files.
  var directories: some Sequence<DirectoryID> { files.keys }

  func contains(_ place: Place) -> Bool { files[place.directoryID]?[place.name] != nil }

  mutating func hold(_ place: Place, _ stat: FileStat, _ reading: ContentReading?) {
    remove(place)
    count += 1
    files[place.directoryID, default: [:]][place.name] = File(stat: stat, reading: reading)
  }

  @discardableResult
  mutating func remove(_ place: Place) -> File? {
    guard count > 0, let file = files[place.directoryID]?.removeValue(forKey: place.name) else { return nil }
    count -= 1
    if files[place.directoryID]?.isEmpty == true { files[place.directoryID] = nil }
    return file
  }

  mutating func remove(directory id: DirectoryID) { count -= files.removeValue(forKey: id)?.count ?? 0 }

  /// Removes the files of a directory that its listing did not name.
  mutating func remove(directory id: DirectoryID, except named: Set<[UInt8]>) {
    for name in files[id]?.keys.filter({ !named.contains($0) }) ?? [] {
      remove(Place(directoryID: id, name: name))
    }
  }

  /// Removes the files of some directories and returns them by directory and name.
  mutating func take(where isTaken: (DirectoryID) -> Bool) -> [(place: Place, file: File)] {
    let taken = files.filter { isTaken($0.key) }
    for directory in taken.keys { remove(directory: directory) }
    return taken.sorted { $0.key < $1.key }.flatMap { directory, files in
      files.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
        (Place(directoryID: directory, name: $0.key), $0.value)
      }
    }
  }
}
