import FileContent
import Glibc
import PhotoCatalog
import PhotoModel
import PhotoWatch
import Synchronization
import WatchRecords

/// The files of the disk.
final class DiskFiles: PhotoFiles {
  private let readers = ReaderPool()
  /// The clock by which the kernel dates files.
  private let clock = SystemClock()
  private let reads = Atomic(0)

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
    guard let status = LongPath.status(path), status.st_mode & S_IFMT != S_IFDIR else { return false }
    guard path.suffix(NameRules.cacheTag.count).elementsEqual(NameRules.cacheTag) else { return true }
    let descriptor = LongPath.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var start = [UInt8](repeating: 0, count: NameRules.cacheTagSignature.count)
    return Glibc.read(descriptor, &start, start.count) == start.count && start == NameRules.cacheTagSignature
  }

  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    let name = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    return read(path, from: AT_FDCWD, name: name, expecting: expected, isSampled: isSampled)
  }

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

  /// The path is walked once for all of them. The walk is a sixth of the cost of opening and closing a file six folders
  /// deep.
  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    let descriptor = files.count > 1 ? LongPath.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
    guard descriptor >= 0 else {
      return files.map { read(directory + $0.name, expecting: $0.stat, isSampled: $0.isSampled) }
    }
    defer { close(descriptor) }
    return files.map {
      read($0.name, from: descriptor, name: $0.name[...], expecting: $0.stat, isSampled: $0.isSampled)
    }
  }

  private func read(
    _ path: [UInt8], from directory: Int32, name: ArraySlice<UInt8>, expecting expected: FileStat, isSampled: Bool
  ) -> ContentReading {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor =
      directory == AT_FDCWD ? LongPath.open(path, flags) : withCPath(path) { openat(directory, $0, flags) }
    guard descriptor >= 0 else {
      let code = errno
      if meansAbsent(code) { return .raced }
      // A file without permission stays unreadable until its permissions change, which changes its stat. If its folder is
      // the one without permission, the file itself does not change.
      let isSeen = directory == AT_FDCWD ? LongPath.status(path) != nil : FileStat(name: path, in: directory) != nil
      guard ForbiddenFile.isError(code), isSeen else { return .unreadable(ForbiddenFile.text(code)) }
      let content = promisedContent(name: Array(name), failure: ForbiddenFile.text(code))
      return .content(content, expected, readTime: clock.wallTime)
    }
    defer { close(descriptor) }
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { return .unreadable("can't be examined: \(errorText(errno))") }
    guard let before = FileStat(status), before.identity.inode == expected.identity.inode else { return .raced }
    let readTime = clock.wallTime
    reads.add(1, ordering: .relaxed)
    let facts = readers.withReader { $0.facts(descriptor: descriptor, byteCount: before.byteCount, name: name) }
    if let failure = facts.failure, facts.readError != nil { return .unreadable(failure) }
    var marks = facts.marks
    if isSampled, marks.sample == nil, marks.fingerprint != nil,
      let made = ContentReader.sample(.descriptor(descriptor), byteCount: before.byteCount)
    {
      (marks.sample, marks.hash) = made
    }
    guard let after = FileStat(descriptor: descriptor), after.byteCount == before.byteCount,
      after.modificationTime == before.modificationTime
    else { return .raced }
    var stat = before
    stat.identity = expected.identity
    if after.changeTime != before.changeTime { marks = marks.voided }
    return .content(AssetContent(facts), stat, readTime: readTime, marks: marks)
  }
}
