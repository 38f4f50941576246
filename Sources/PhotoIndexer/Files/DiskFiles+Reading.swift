import FileContent
import Glibc
import PhotoCatalog
import PhotoExtract
import PhotoModel
import SystemErrors
import WatchRecords

/// A file of a drive that is open for reading. Its descriptor is closed with this object.
private final class OpenFile: Sendable {
  let descriptor: Int32
  let name: [UInt8]
  let isSampled: Bool
  /// The identity that photod-watch saw, with the birth time.
  let identity: FileIdentity
  /// The stat before the file is read.
  let before: FileStat
  /// Whether `before` is the stat of the descriptor. If not, it is that of the record, and the stat after the reading must
  /// prove that it was right.
  let isExamined: Bool
  let readTime: WallTime

  init(
    descriptor: Int32, name: [UInt8], isSampled: Bool, identity: FileIdentity, before: FileStat,
    isExamined: Bool, readTime: WallTime
  ) {
    self.descriptor = descriptor
    self.name = name
    self.isSampled = isSampled
    self.identity = identity
    self.before = before
    self.isExamined = isExamined
    self.readTime = readTime
  }

  deinit { close(descriptor) }

  var fileSystem: MediaSource.FileSystem { .drive(before.identity.device) }

  var key: LateReads.Key { LateReads.Key(before, name: name) }

  var source: MediaSource {
    MediaSource(
      bytes: .descriptor(descriptor), fileSystem: fileSystem, byteCount: before.byteCount, name: name)
  }

  /// Makes the reading of an extraction that is not unfinished.
  ///
  /// - Returns: nil if the file must be examined and read again, because it is not as in its record.
  func reading(of extraction: Extraction) -> ContentReading? {
    let content: AssetContent
    var marks = ContentMarks()
    switch extraction {
    case .facts(let facts):
      if let failure = facts.failure, facts.readError != nil { return isUnchanged ? .unreadable(failure) : nil }
      (content, marks) = (AssetContent(facts), facts.marks)
    case .blamed(let reason): content = promisedContent(name: name, failure: reason)
    case .unavailable(let reason): return .unreadable("can't be read: \(reason)")
    case .busy: return .raced
    case .unfinished: return .late
    }
    if isSampled, marks.sample == nil, marks.fingerprint != nil,
      let made = ContentReader.sample(.descriptor(descriptor), byteCount: before.byteCount)
    {
      (marks.sample, marks.hash) = made
    }
    guard isExamined else {
      return isUnchanged ? .content(content, before, readTime: readTime, marks: marks) : nil
    }
    guard let after = FileStat(descriptor: descriptor), after.byteCount == before.byteCount,
      after.modificationTime == before.modificationTime
    else { return .raced }
    var stat = before
    stat.identity = identity
    if after.changeTime != before.changeTime { marks = marks.voided }
    return .content(content, stat, readTime: readTime, marks: marks)
  }

  /// Whether a file that was not examined before it was read is the one of its record.
  private var isUnchanged: Bool {
    if isExamined { return true }
    guard let after = FileStat(descriptor: descriptor) else { return false }
    return after.identity.inode == identity.inode && after.identity.device == identity.device
      && after.byteCount == before.byteCount && after.modificationTime == before.modificationTime
      && after.changeTime == before.changeTime
  }
}

// Reading: the files are opened here, and read by processes without rights.
extension DiskFiles {
  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    var queue = extractor.queue()
    let file = request([open(path, expecting: expected, isSampled: isSampled)], from: &queue)[0]
    let reading = reading(of: file, from: &queue) ?? .raced
    queue.end()
    return reading
  }

  func readWithoutWaiting(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    let expectedKey = LateReads.Key(expected, name: name(of: path))
    if let known = background.take(expectedKey) { return known }
    guard background.hasRoom(on: .drive(expected.identity.device)) else { return .late }
    switch open(path, expecting: expected, isSampled: isSampled) {
    case .decided(let reading): return reading
    case .opened(let file):
      let key = file.key
      if let known = background.take(key) { return known }
      let isUnderWay = background.begin(key, on: file.fileSystem) { [extractor] in
        file.reading(of: extractor.readToTheEnd(file.source)) ?? .raced
      }
      if isUnderWay { reads.add(1, ordering: .relaxed) }
      return .late
    }
  }

  private func name(of path: [UInt8]) -> ArraySlice<UInt8> {
    path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
  }

  /// The path is walked once for all of them. The walk is a sixth of the cost of opening and closing a file six folders
  /// deep. While the files of one part are read, those of the next are opened.
  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    let descriptor = files.count > 1 ? LongPath.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
    guard descriptor >= 0 else {
      return files.map { read(directory + $0.name, expecting: $0.stat, isSampled: $0.isSampled) }
    }
    defer { close(descriptor) }
    var queue = extractor.queue()
    var readings: [ContentReading?] = []
    readings.reserveCapacity(files.count)
    var rest = files
    var requested: [Opened] = []
    while !rest.isEmpty {
      let part = rest.prefix(Extractor.mostFiles)
      rest = rest.dropFirst(part.count)
      let opened = part.map {
        open(
          $0.name, from: descriptor, name: $0.name, expecting: $0.stat, isSampled: $0.isSampled, examines: false)
      }
      let next = request(opened, from: &queue)
      for file in requested { readings.append(reading(of: file, from: &queue)) }
      requested = next
    }
    for file in requested { readings.append(reading(of: file, from: &queue)) }
    queue.end()
    // A file that is not as in its record is examined and read again. That needs a process, so the queue has none then.
    return zip(files, readings).map { file, reading in
      reading ?? read(directory + file.name, expecting: file.stat, isSampled: file.isSampled)
    }
  }

  /// Requests the files that were opened and are not under way already.
  ///
  /// - Returns: the same files. ``reading(of:from:)`` must be called for each of them, in their order.
  private func request(_ opened: [Opened], from queue: inout ExtractionQueue) -> [Opened] {
    let files = background.isEmpty ? opened : opened.map(decidingKnown)
    let sources = files.compactMap { if case .opened(let file) = $0 { file.source } else { nil } }
    reads.add(sources.count, ordering: .relaxed)
    queue.add(sources)
    return files
  }

  /// A file may be under way already, because it was found before.
  private func decidingKnown(_ opened: Opened) -> Opened {
    guard case .opened(let file) = opened, let known = background.take(file.key) else { return opened }
    return .decided(known)
  }

  /// The reading of a file that was requested. The reading of a slow file goes on in the background. If too many of its
  /// drive are under way there, the caller waits: it reads ahead of the library, and must not run farther ahead than the
  /// reading.
  ///
  /// - Returns: nil if the file must be examined and read again, because it is not as in its record.
  private func reading(of opened: Opened, from queue: inout ExtractionQueue) -> ContentReading? {
    let file: OpenFile
    switch opened {
    case .decided(let reading): return reading
    case .opened(let opened): file = opened
    }
    let extraction = queue.next()
    guard case .unfinished(let unfinished) = extraction else { return file.reading(of: extraction) }
    // The library reads a file again that is not as in its record.
    let isUnderWay = background.begin(file.key, on: file.fileSystem, holdsProcess: unfinished.holdsProcess) {
      file.reading(of: unfinished.finish()) ?? .raced
    }
    return isUnderWay ? .late : file.reading(of: unfinished.finish()) ?? .raced
  }

  private enum Opened {
    case opened(OpenFile)
    case decided(ContentReading)
  }

  private func open(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> Opened {
    open(path, from: AT_FDCWD, name: Array(name(of: path)), expecting: expected, isSampled: isSampled)
  }

  /// - Parameter examines: whether the file is examined before it is read. If not, it is examined only after that, which
  ///   saves a system call for each file of a scan.
  private func open(
    _ path: [UInt8], from directory: Int32, name: [UInt8], expecting expected: FileStat, isSampled: Bool,
    examines: Bool = true
  ) -> Opened {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor =
      directory == AT_FDCWD ? LongPath.open(path, flags) : withCPath(path) { openat(directory, $0, flags) }
    guard descriptor >= 0 else {
      let code = errno
      if meansAbsent(code) { return .decided(.raced) }
      // A file without permission stays unreadable until its permissions change, which changes its stat. If its folder is
      // the one without permission, the file itself does not change.
      let isSeen = directory == AT_FDCWD ? LongPath.status(path) != nil : FileStat(name: path, in: directory) != nil
      guard ForbiddenFile.isError(code), isSeen else { return .decided(.unreadable(ForbiddenFile.text(code))) }
      let content = promisedContent(name: name, failure: ForbiddenFile.text(code))
      return .decided(.content(content, expected, readTime: clock.wallTime))
    }
    guard examines else {
      return .opened(
        OpenFile(
          descriptor: descriptor, name: name, isSampled: isSampled, identity: expected.identity, before: expected,
          isExamined: false, readTime: clock.wallTime))
    }
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      return .decided(.unreadable("can't be examined: \(errorText(code))"))
    }
    guard let before = FileStat(status), before.identity.inode == expected.identity.inode else {
      close(descriptor)
      return .decided(.raced)
    }
    return .opened(
      OpenFile(
        descriptor: descriptor, name: name, isSampled: isSampled, identity: expected.identity, before: before,
        isExamined: true, readTime: clock.wallTime))
  }
}
