import FileContent
import Glibc
import PhotoCatalog
import PhotoExtract
import PhotoModel
import PhotoWatch
import Synchronization
import WatchRecords

/// The files of all roots. Files on drives are accessed directly, and files on a share through a process that may wait
/// for the share.
///
/// A share that does not answer costs the caller two seconds once. Until it answers again, calls end at once. No
/// decision is based on its silence: see `FileLookup.unknown`.
final class RoutedFiles: PhotoFiles {
  private let disk: DiskFiles
  private let access: @Sendable ([UInt8]) -> FileAccess
  private let extractor: Extractor
  private let background = LateReads()
  private let clock = SystemClock()
  private let reads = Atomic(0)
  /// Held while a folder of a share is listed: the process of a share lists one folder at a time.
  private let listings = Mutex(())

  init(extractor: Extractor, access: @escaping @Sendable ([UInt8]) -> FileAccess) {
    self.extractor = extractor
    self.access = access
    disk = DiskFiles(extractor: extractor, lateReads: background)
  }

  var lateReads: LateReads? { background }

  func fileSystem(of path: [UInt8], _ stat: FileStat?) -> MediaSource.FileSystem? {
    switch access(path) {
    case .direct: disk.fileSystem(of: path, stat)
    case .share(let share): .share(ObjectIdentifier(share))
    case .none: nil
    }
  }

  var readCount: Int { disk.readCount + reads.load(ordering: .relaxed) }

  func look(_ path: [UInt8]) -> FileLookup {
    switch answer(about: path) {
    case .direct: disk.look(path)
    case .answered(let answer) where answer.errorNumber == 0:
      answer.mode & S_IFMT == S_IFREG ? .there(answer.stat) : .absent
    case .answered(let answer): meansAbsent(answer.errorNumber) ? .absent : .unknown
    case .unknown: .unknown
    }
  }

  func stat(_ path: [UInt8]) -> FileStat? {
    if case .there(let stat) = look(path) { stat } else { nil }
  }

  func exists(_ path: [UInt8]) -> Bool {
    switch answer(about: path) {
    case .direct: disk.exists(path)
    case .answered(let answer): !meansAbsent(answer.errorNumber)
    // The share does not answer, so the known files stay.
    case .unknown: true
    }
  }

  func list(_ folder: [UInt8]) -> FolderLookup {
    switch access(folder) {
    case .direct: disk.list(folder)
    case .share(let share): listings.withLock { _ in list(folder, of: share) }
    case .none: .unknown
    }
  }

  private func list(_ folder: [UInt8], of share: ShareFileWorker) -> FolderLookup {
    var entries: [FolderEntry] = []
    while let answer = share.ask(.list(path: folder, position: UInt64(entries.count))) {
      guard answer.errorNumber == 0 else {
        return entries.isEmpty && meansAbsent(answer.errorNumber) ? .absent : .unknown
      }
      do {
        let more = try FolderEntry.all(in: answer.bytes)
        if more.isEmpty { return .entries(entries) }
        entries += more
      } catch {
        return .unknown
      }
    }
    return .unknown
  }

  func isFolder(_ path: [UInt8]) -> Bool { isOfKind(S_IFDIR, path) { disk.isFolder(path) } }

  func isLink(_ path: [UInt8]) -> Bool { isOfKind(S_IFLNK, path) { disk.isLink(path) } }

  func isMarker(_ path: [UInt8]) -> Bool {
    guard case .share(let share) = access(path) else { return isDirect(path) && disk.isMarker(path) }
    guard let answer = share.ask(.look(path: path)), answer.errorNumber == 0, answer.mode & S_IFMT != S_IFDIR else {
      return false
    }
    let signature = NameRules.cacheTagSignature
    guard path.suffix(NameRules.cacheTag.count).elementsEqual(NameRules.cacheTag) else { return true }
    return share.ask(.read(path: path, offset: 0, count: UInt32(signature.count)))?.bytes == signature
  }

  func folder(_ path: [UInt8], toward target: [UInt8]) -> any FolderOnPath {
    // A share may be mounted on the way, so it is the target that decides.
    isDirect(target) ? disk.folder(path, toward: target) : DistantFolder(path, files: self)
  }

  func answers(_ path: [UInt8]) -> Bool {
    switch access(path) {
    case .direct: true
    case .share(let share): share.answers
    case .none: false
    }
  }

  func mayWait(_ path: [UInt8]) -> Bool { !isDirect(path) }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    if isDirect(path) { return disk.volumeIdentity(device: device, path: path) }
    // The bare folder that a share was mounted on is on a drive.
    if let mounts = CurrentMounts.shared.table, !mounts.isOnShare(path) {
      return disk.volumeIdentity(device: device, path: path)
    }
    return VolumeIdentity.ofShare(device: device, mount: CurrentMounts.shared.table?.mount(of: path))
  }

  func isRemote(_ path: [UInt8]) -> Bool { disk.isRemote(path) }

  /// A file of a share is never sampled on the way: that would read more of it than its metadata.
  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    switch access(path) {
    case .direct: return disk.read(path, expecting: expected, isSampled: isSampled)
    case .share(let share): return read(path, of: share, expecting: expected)
    case .none: return .unreadable(Self.silence)
    }
  }

  func readWithoutWaiting(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    switch access(path) {
    case .direct: return disk.readWithoutWaiting(path, expecting: expected, isSampled: isSampled)
    case .share(let share):
      let key = LateReads.Key(expected, name: Self.name(path))
      if let known = background.take(key) { return known }
      background.begin(key, on: .share(ObjectIdentifier(share))) { self.read(path, of: share, expecting: expected) }
      return .late
    case .none: return .unreadable(Self.silence)
    }
  }

  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    switch access(path) {
    case .direct: return disk.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn)
    case .share(let share):
      let file = ShareFile(path: path, share: share)
      func isSame(_ stat: FileStat?) -> Bool {
        guard let stat else { return false }
        return stat.identity.inode == expected.identity.inode && stat.byteCount == expected.byteCount
          && stat.modificationTime == expected.modificationTime && stat.changeTime == expected.changeTime
      }
      guard isSame(file.open()),
        let marks = ContentReader.marks(
          .reader { file.read(into: $0, at: $1) }, byteCount: expected.byteCount, isWhole: isWhole, while: shouldGoOn)
      else { return nil }
      return isSame(stat(path)) ? marks : nil
    case .none: return nil
    }
  }

  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    if isDirect(directory) { return disk.read(files, in: directory) }
    return files.map { read(directory + $0.name, expecting: $0.stat, isSampled: $0.isSampled) }
  }

  // MARK: Shares

  static let silence = "its share does not answer"

  private enum Answer {
    case direct
    case answered(FileAnswer)
    case unknown
  }

  private func answer(about path: [UInt8]) -> Answer {
    switch access(path) {
    case .direct: .direct
    case .share(let share): share.ask(.look(path: path)).map { .answered($0) } ?? .unknown
    case .none: .unknown
    }
  }

  private func isDirect(_ path: [UInt8]) -> Bool {
    if case .direct = access(path) { true } else { false }
  }

  private func isOfKind(_ kind: UInt32, _ path: [UInt8], directly: () -> Bool) -> Bool {
    switch answer(about: path) {
    case .direct: directly()
    case .answered(let answer): answer.errorNumber == 0 && answer.mode & S_IFMT == kind
    case .unknown: false
    }
  }

  private func read(_ path: [UInt8], of share: ShareFileWorker, expecting expected: FileStat) -> ContentReading {
    let name = Self.name(path)
    let readTime = clock.wallTime
    let file = ShareFile(path: path, share: share)
    guard let before = file.open() else {
      switch file.errorNumber {
      case let code where code == ESTALE || meansAbsent(code): return .raced
      case ETIMEDOUT: return .unreadable(Self.silence)
      case let code: return unread(code, path, name: name, expected, readTime)
      }
    }
    guard before.identity.inode == expected.identity.inode else { return .raced }
    reads.add(1, ordering: .relaxed)
    let source = MediaSource(
      bytes: .fetched { file.fetch(count: $1, at: $0) }, fileSystem: .share(ObjectIdentifier(share)),
      byteCount: before.byteCount, name: name)
    let extraction = extractor.readToTheEnd(source)
    if file.errorNumber == ESTALE { return .raced }
    if file.errorNumber == ETIMEDOUT { return .unreadable(Self.silence) }
    var stat = before
    stat.identity = expected.identity
    switch extraction {
    case .facts(let facts):
      if let failure = facts.failure, facts.readError != nil { return .unreadable(failure) }
      return .content(AssetContent(facts), stat, readTime: readTime, marks: facts.marks)
    case .blamed(let reason):
      return .content(promisedContent(name: name, failure: reason), stat, readTime: readTime)
    case .unavailable(let reason): return .unreadable("can't be read: \(reason)")
    case .busy: return .raced
    case .unfinished: return .late
    }
  }

  private static func name(_ path: [UInt8]) -> [UInt8] {
    Array(path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...])
  }

  private func unread(
    _ code: Int32, _ path: [UInt8], name: [UInt8], _ expected: FileStat, _ readTime: WallTime
  ) -> ContentReading {
    let why = ForbiddenFile.text(code)
    // A forbidden file stays so until its permissions change, which changes its stat. A forbidden folder changes no file.
    guard ForbiddenFile.isError(code), case .there = look(path) else { return .unreadable(why) }
    return .content(promisedContent(name: name, failure: why), expected, readTime: readTime)
  }
}

/// A file of a share that is read piece by piece. All pieces are of one state of it, or reading fails with ESTALE.
///
/// One thread at a time uses it: the one that waits for the reader of the file.
private final class ShareFile: @unchecked Sendable {
  let path: [UInt8]
  let share: ShareFileWorker
  /// The errno of the first call that failed, or ETIMEDOUT if the share did not answer.
  private(set) var errorNumber: Int32 = 0
  private var stat: FileStat?
  private var head: [UInt8] = []

  init(path: [UInt8], share: ShareFileWorker) {
    self.path = path
    self.share = share
  }

  /// Reads the beginning of the file.
  ///
  /// - Returns: nil if it can't be read, or is no regular file.
  func open() -> FileStat? {
    guard let bytes = ask(offset: 0, count: 65_536) else { return nil }
    head = bytes
    return stat
  }

  /// The same as an answer to a reader in another process.
  func fetch(count: Int, at offset: UInt64) -> MediaSource.FetchedBytes {
    guard let offset = Int(exactly: offset) else { return .failed(errorNumber: EINVAL) }
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { read(into: $0, at: offset) }
    guard got >= 0 else { return .failed(errorNumber: errno) }
    return .bytes(Array(bytes[..<got]))
  }

  /// Reads like pread(2).
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    if offset < head.count {
      let count = min(buffer.count, head.count - offset)
      head.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
      return count
    }
    if let stat, Int64(offset) >= stat.byteCount { return 0 }
    guard let bytes = ask(offset: offset, count: buffer.count) else {
      errno = errorNumber
      return -1
    }
    bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
    return bytes.count
  }

  private func ask(offset: Int, count: Int) -> [UInt8]? {
    let wanted = min(count, FileAnswer.maximumBytes)
    guard let answer = share.ask(.read(path: path, offset: UInt64(offset), count: UInt32(wanted))) else {
      errorNumber = ETIMEDOUT
      return nil
    }
    guard answer.errorNumber == 0 else {
      errorNumber = answer.errorNumber
      return nil
    }
    let isSame = stat.map { known in
      known.identity.inode == answer.stat.identity.inode && known.byteCount == answer.stat.byteCount
        && known.modificationTime == answer.stat.modificationTime
    }
    guard answer.mode & S_IFMT == S_IFREG, isSame ?? true else {
      errorNumber = ESTALE
      return nil
    }
    stat = answer.stat
    return answer.bytes
  }
}
