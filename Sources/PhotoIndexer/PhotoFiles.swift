import Glibc
import PhotoCatalog
import PhotoMetadata
import PhotoModel
import Synchronization
import WatchRecords

/// What became of reading a file.
enum ContentReading: Sendable {
  /// Its content, and the stat that belongs to it: of the descriptor that was read, the same before and after.
  ///
  /// Some hundred bytes, handed on from thread to thread: in a box.
  indirect case content(AssetContent, FileStat, readTime: Int64, fingerprint: UInt64? = nil)
  /// It was not there, was another file, or changed meanwhile: something is still to be said of it.
  case raced
  /// The disk, or a lack of memory or descriptors, kept it from being read: that may pass. Why, for a person.
  case unreadable(String)
}

/// The file system as the library asks it directly, beside what photod-watch says. Tests put their own in its place.
protocol PhotoFiles: Sendable {
  /// The stat of a regular file, without following a link; nil where there is none.
  func stat(_ path: [UInt8]) -> FileStat?
  /// What the file system of a directory on this device is known by, across boots and mounts.
  func volumeIdentity(device: UInt64, path: [UInt8]) -> String
  /// Whether anything has this name.
  func exists(_ path: [UInt8]) -> Bool
  /// Whether a directory has this name, and no link to one.
  func isFolder(_ path: [UInt8]) -> Bool
  /// Whether a symbolic link has this name.
  func isLink(_ path: [UInt8]) -> Bool
  /// Whether it is a file whose presence keeps media programs out of its folder.
  func isMarker(_ path: [UInt8]) -> Bool
  /// Reads a file's content if it is still the file that `expected` describes.
  func read(_ path: [UInt8], expecting expected: FileStat) -> ContentReading
  /// The same for several files of one directory, whose path ends with a slash.
  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading]
  /// How many files' content was read so far.
  var readCount: Int { get }
}

/// A file of a directory, as photod-watch saw it.
struct NamedStat: Sendable {
  let name: [UInt8]
  let stat: FileStat
}

extension PhotoFiles {
  func isFolder(_ path: [UInt8]) -> Bool { false }

  func isLink(_ path: [UInt8]) -> Bool { false }

  func isMarker(_ path: [UInt8]) -> Bool { exists(path) }

  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    files.map { read(directory + $0.name, expecting: $0.stat) }
  }
}

/// What the name alone promises, for a file whose content is not known yet.
func promisedContent(name: [UInt8], failure: String? = nil) -> AssetContent {
  let promise = MediaFormat.promised(byName: name)
  return AssetContent(
    mediaType: promise?.mediaType ?? .unknown, mediaSubtypes: promise?.isRAW == true ? .raw : [],
    contentType: promise?.contentType ?? "application/octet-stream", failure: failure)
}

extension AssetContent {
  init(_ facts: MediaFacts) {
    self.init(
      mediaType: facts.mediaType, mediaSubtypes: MediaSubtypes(names: facts.mediaSubtypes),
      contentType: facts.contentType, creationDate: facts.creationDate, pixelWidth: facts.pixelWidth,
      pixelHeight: facts.pixelHeight, orientation: facts.orientation, location: facts.location, camera: facts.camera,
      title: facts.title, caption: facts.caption, keywords: facts.keywords, rating: facts.rating, failure: facts.failure
    )
  }
}

/// The disk.
final class DiskFiles: PhotoFiles {
  private let readers = ReaderStock()
  /// The one that the kernel dates files by.
  private let clock = SystemClock()
  private let reads = Atomic(0)

  var readCount: Int { reads.load(ordering: .relaxed) }

  func stat(_ path: [UInt8]) -> FileStat? {
    LongPath.status(path).flatMap { FileStat($0) }
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String { VolumeIdentity.of(device: device, path: path) }

  func exists(_ path: [UInt8]) -> Bool { LongPath.status(path) != nil }

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

  func read(_ path: [UInt8], expecting expected: FileStat) -> ContentReading {
    let name = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    return read(path, from: AT_FDCWD, name: name, expecting: expected)
  }

  /// The path is walked once for all of them: a sixth of what opening and closing a file six folders deep costs.
  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    let descriptor = LongPath.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return files.map { read(directory + $0.name, expecting: $0.stat) } }
    defer { close(descriptor) }
    return files.map { read($0.name, from: descriptor, name: $0.name[...], expecting: $0.stat) }
  }

  private func read(
    _ path: [UInt8], from directory: Int32, name: ArraySlice<UInt8>, expecting expected: FileStat
  ) -> ContentReading {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor =
      directory == AT_FDCWD ? LongPath.open(path, flags) : withCPath(path) { openat(directory, $0, flags) }
    guard descriptor >= 0 else {
      let code = errno
      if code == ENOENT || code == ENOTDIR || code == ELOOP { return .raced }
      return failed("can't be opened", code, name, expected)
    }
    defer { close(descriptor) }
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { return failed("can't be looked at", errno, name, expected) }
    guard let before = FileStat(status), before.identity.inode == expected.identity.inode else { return .raced }
    let readTime = clock.wallTime
    reads.add(1, ordering: .relaxed)
    let facts = readers.withReader { $0.facts(descriptor: descriptor, byteCount: before.byteCount, name: name) }
    if let failure = facts.failure, facts.readError != nil { return .unreadable(failure) }
    guard let after = FileStat(descriptor: descriptor), after.byteCount == before.byteCount,
      after.modificationTime == before.modificationTime
    else { return .raced }
    var stat = before
    stat.identity = expected.identity
    return .content(AssetContent(facts), stat, readTime: readTime, fingerprint: facts.fingerprint)
  }

  private func failed(
    _ what: String, _ code: Int32, _ name: ArraySlice<UInt8>, _ expected: FileStat
  ) -> ContentReading {
    let why = "\(what): \(String(cString: strerror(code)))"
    // What is forbidden stays so until its permissions change, which changes its stat.
    guard code == EACCES || code == EPERM else { return .unreadable(why) }
    return .content(promisedContent(name: Array(name), failure: why), expected, readTime: clock.wallTime)
  }
}

/// How long ago `time` was at `moment`; a time that is far off by a wrong clock is as far as there is.
func age(of time: Int64, at moment: Int64) -> Int64 {
  let (age, overflows) = moment.subtractingReportingOverflow(time)
  return overflows ? (time < 0 ? .max : .min) : age
}

/// Of a file's time; beyond 64 bits (before 1677, after 2262) the nearest that there is, as photod-watch says it.
private func nanoseconds(_ time: timespec) -> Int64 {
  let (product, overflows) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
  let (sum, overflowsToo) = product.addingReportingOverflow(Int64(time.tv_nsec))
  return overflows || overflowsToo ? (time.tv_sec < 0 ? .min : .max) : sum
}

func withCPath<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
  (path + [0]).withUnsafeBufferPointer { bytes in
    bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
  }
}

extension FileStat {
  /// Without birth time, which stat(2) does not tell.
  init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(
      identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), birthTime: 0),
      byteCount: Int64(status.st_size),
      modificationTime: nanoseconds(status.st_mtim), changeTime: nanoseconds(status.st_ctim))
  }

  /// Of a name in an open directory; a link is not followed.
  init?(name: [UInt8], in directory: Int32) {
    var status = Glibc.stat()
    guard withCPath(name, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
    self.init(status)
  }

  init?(descriptor: Int32) {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}
