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

  /// The root and the volume of a directory. They decide whether a scan may find a known file of the directory elsewhere.
  struct Group: Hashable {
    let rootID: RootID
    let volumeID: VolumeID
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

  /// The groups are separate, so that a decision about one of them does not look at the files of another that is still
  /// scanned.
  private var files: [Group: [DirectoryID: [[UInt8]: File]]] = [:]
  /// The group of each directory, as it was when a file of the directory was held last.
  private var groups: [DirectoryID: Group] = [:]
  private var count = 0
  /// The number of groups and directories that were looked at to take files.
  private(set) var examinedCount = 0

  var isEmpty: Bool { count == 0 }

  /// Whether a file in this place can be held. A file that is held already takes no more room with its new stat.
  func hasRoom(for place: Place) -> Bool { count < limit || contains(place) }

  /// The directories that have held files.
  var directories: some Sequence<DirectoryID> { groups.keys }

  func contains(_ place: Place) -> Bool {
    groups[place.directoryID].flatMap { files[$0]?[place.directoryID]?[place.name] } != nil
  }

  /// - Parameter group: the present group of the place's directory.
  mutating func hold(_ place: Place, in group: Group, _ stat: FileStat, _ reading: ContentReading?) {
    remove(place)
    move(place.directoryID, to: group)
    count += 1
    files[group, default: [:]][place.directoryID, default: [:]][place.name] = File(stat: stat, reading: reading)
  }

  @discardableResult
  mutating func remove(_ place: Place) -> File? {
    guard let group = groups[place.directoryID],
      let file = files[group]?[place.directoryID]?.removeValue(forKey: place.name)
    else { return nil }
    count -= 1
    if files[group]?[place.directoryID]?.isEmpty == true { take(directory: place.directoryID) }
    return file
  }

  mutating func remove(directory id: DirectoryID) { count -= take(directory: id).count }

  private mutating func move(_ id: DirectoryID, to group: Group) {
    if groups[id] == group { return }
    let files = take(directory: id)
    groups[id] = group
    if !files.isEmpty { self.files[group, default: [:]][id] = files }
  }

  /// Takes the files of a directory, which still count.
  @discardableResult
  private mutating func take(directory id: DirectoryID) -> [[UInt8]: File] {
    guard let group = groups.removeValue(forKey: id) else { return [:] }
    let taken = files[group]?.removeValue(forKey: id)
    if files[group]?.isEmpty == true { files[group] = nil }
    return taken ?? [:]
  }

  /// Removes the files of a directory that its listing did not name.
  mutating func remove(directory id: DirectoryID, where isUnnamed: ([UInt8]) -> Bool) {
    guard let group = groups[id] else { return }
    for name in files[group]?[id]?.keys.filter(isUnnamed) ?? [] {
      remove(Place(directoryID: id, name: name))
    }
  }

  /// Removes the files of some groups and returns them by directory and name.
  ///
  /// - Parameters:
  ///   - isTaken: whether the files of a group are removed.
  ///   - present: the present group of a directory. The directory may have moved to another root, or got another volume.
  /// - Complexity: O(n log n) in the files that are removed, and O(n) in the groups. A directory whose group is no longer
  ///   its own costs one look more.
  mutating func take(
    where isTaken: (Group) -> Bool, present: (DirectoryID) -> Group
  ) -> [(place: Place, file: File)] {
    examinedCount += files.count
    var taken: [DirectoryID: [[UInt8]: File]] = [:]
    for group in Array(files.keys) where isTaken(group) {
      for id in files[group].map({ Array($0.keys) }) ?? [] {
        examinedCount += 1
        let now = present(id)
        if now == group || isTaken(now) {
          taken[id] = take(directory: id)
          count -= taken[id]?.count ?? 0
        } else {
          move(id, to: now)
        }
      }
    }
    return taken.sorted { $0.key < $1.key }.flatMap { directory, files in
      files.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
        (Place(directoryID: directory, name: $0.key), $0.value)
      }
    }
  }
}
