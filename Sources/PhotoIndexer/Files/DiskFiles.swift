import FileContent
import Glibc
import PhotoExtract
import PhotoModel
import PhotoWatch
import Synchronization
import WatchRecords

/// The files of the disk.
final class DiskFiles: PhotoFiles {
  let extractor: Extractor
  /// Shared with the files of shares.
  let background: LateReads
  /// The clock by which the kernel dates files.
  let clock = SystemClock()
  let reads = Atomic(0)

  init(extractor: Extractor, lateReads: LateReads) {
    self.extractor = extractor
    background = lateReads
  }

  var lateReads: LateReads? { background }

  var readCount: Int { reads.load(ordering: .relaxed) }

  func look(_ path: [UInt8]) -> FileLookup {
    guard let status = LongPath.status(path) else { return meansAbsent(errno) ? .absent : .unknown }
    return FileStat(status).map { .there($0) } ?? .absent
  }

  func stat(_ path: [UInt8]) -> FileStat? {
    LongPath.status(path).flatMap { FileStat($0) }
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String { VolumeIdentity.of(device: device, path: path) }

  func isRemote(_ path: [UInt8]) -> Bool { CurrentMounts.shared.table?.isRemote(path) ?? true }

  func exists(_ path: [UInt8]) -> Bool { LongPath.status(path) != nil || !meansAbsent(errno) }

  func list(_ folder: [UInt8]) -> FolderLookup {
    guard let directory = LongPath.openDirectory(folder) else { return meansAbsent(errno) ? .absent : .unknown }
    defer { closedir(directory) }
    var entries: [FolderEntry] = []
    while true {
      // At the end of the directory readdir(3) leaves errno alone.
      errno = 0
      guard let entry = readdir(directory) else { return errno == 0 ? .entries(entries) : .unknown }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      entries.append(FolderEntry(name: name, type: entry.pointee.d_type))
    }
  }

  func isFolder(_ path: [UInt8]) -> Bool { LongPath.status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }

  func isLink(_ path: [UInt8]) -> Bool { LongPath.status(path).map { $0.st_mode & S_IFMT == S_IFLNK } ?? false }

  func isMarker(_ path: [UInt8]) -> Bool {
    let isTag = path.suffix(NameRules.cacheTag.count).elementsEqual(NameRules.cacheTag)
    return LongPath.with(path) { OpenFolder.isMarker($1, in: $0, isTag: isTag) } ?? false
  }

  func folder(_ path: [UInt8], toward target: [UInt8]) -> any FolderOnPath { OpenFolder(path) }

  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    let descriptor = LongPath.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    func isSame() -> Bool {
      guard let now = FileStat(descriptor: descriptor) else { return false }
      return now.identity.inode == expected.identity.inode && now.byteCount == expected.byteCount
        && now.modificationTime == expected.modificationTime && now.changeTime == expected.changeTime
    }
    guard isSame(),
      let marks = ContentReader.marks(
        .descriptor(descriptor), byteCount: expected.byteCount, isWhole: isWhole, while: shouldGoOn)
    else { return nil }
    return isSame() ? marks : nil
  }
}
