import FileContent
import PhotoCatalog
import PhotoModel
import Synchronization
import WatchRecords

@testable import PhotoIndexer

/// Files that exist only in memory. A test changes them and may report the changes in records.
final class MemoryDisk: PhotoFiles {
  struct File: Sendable {
    var stat: FileStat
    var camera: String
    var failure: String?
    var keywords: [String] = []
    /// The number of the content. Two files with the same number are copies.
    var content: UInt64
    /// The number of the first bytes, or nil if no other content begins alike.
    var beginning: UInt64?

    /// Makes the marks as ``ContentReader`` does. A small file gets all of them at once.
    fileprivate func marks(isSampled: Bool) -> ContentMarks {
      let isSmall = stat.byteCount <= 65_536
      let sample = ContentDigest(high: content, low: 1)
      let hash = ContentDigest(high: content, low: 2)
      return ContentMarks(
        fingerprint: beginning ?? content, sample: isSmall || isSampled ? sample : nil,
        hash: isSmall || (isSampled && stat.byteCount <= ContentReader.wholeBytes) ? hash : nil)
    }
  }

  private struct State {
    var files: [[UInt8]: File] = [:]
    var nextInode: UInt64 = 1000
    var nextContent: UInt64 = 1
    var reused: UInt64?
    var volumes: [UInt64: String] = [:]
    /// The time of the disk, in nanoseconds.
    var clock: Int64 = 1_700_000_000_000_000_000
    var readCount = 0
    var statCount = 0
    var sampledBytes: Int64 = 0
    var hashedBytes: Int64 = 0
    var failedReadCount = 0
    var failure: String?
    var isRemote = false
    var failing: Set<[UInt8]> = []
  }

  private let state = Mutex(State())
  private let reading = Mutex<(@Sendable () -> Void)?>(nil)

  private let readingOfPiece = Mutex<(@Sendable () -> Void)?>(nil)

  /// Sets what happens whenever a piece of a file of more than a gigabyte is hashed. Smaller files are hashed at once.
  func setReadingOfPiece(_ body: (@Sendable () -> Void)?) { readingOfPiece.withLock { $0 = body } }

  /// Sets what happens whenever a file is read for its sample or hash.
  func setReading(_ body: (@Sendable () -> Void)?) { reading.withLock { $0 = body } }

  /// Moves the clock forward.
  func pass(_ seconds: Int64) { pass(milliseconds: 1_000 * seconds) }

  func pass(milliseconds: Int64) { state.withLock { $0.clock += milliseconds * 1_000_000 } }

  /// Nanoseconds since 1970, by which the disk dates files and photod-watch dates events.
  var time: Int64 { state.withLock { $0.clock } }
  var wallTime: WallTime { WallTime(nanoseconds: time) }
  var bootTime: MonotonicTime { MonotonicTime(nanoseconds: time) }
  /// If it is set, no file can be read, for this reason.
  var failure: String? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// Sets the files that the disk fails to read, beside those that ``failure`` concerns.
  func setFailing(_ paths: [String]) { state.withLock { $0.failing = Set(paths.map { Array($0.utf8) }) } }

  var readCount: Int { state.withLock { $0.readCount } }
  var statCount: Int { state.withLock { $0.statCount } }
  /// The number of reads in which the disk failed.
  var failedReadCount: Int { state.withLock { $0.failedReadCount } }

  /// Writes a file with its own inode. If the name exists, only the content is new.
  /// - Parameters:
  ///   - content: the number of content that was written once; nil for content that is new.
  ///   - beginning: the number of the first bytes, which the files of one scanner share; nil for a beginning that is
  /// new.
  ///   - keepsBirth: false for a file system without birth times.
  @discardableResult
  func write(
    _ path: String, camera: String = "X100", bytes: Int64 = 100, failure: String? = nil, content: UInt64? = nil,
    beginning: UInt64? = nil, device: UInt64 = 1, keepsBirth: Bool = true
  ) -> FileStat {
    state.withLock { state in
      let key = Array(path.utf8)
      var identity = state.files[key]?.stat.identity
      if identity == nil {
        state.nextInode += 1
        identity = FileIdentity(
          device: device, inode: state.reused.take() ?? state.nextInode, birthTime: keepsBirth ? state.clock : 0)
      }
      state.clock += 1_000_000
      let stat = FileStat(
        identity: identity!, byteCount: bytes, modificationTime: state.clock, changeTime: state.clock)
      state.nextContent += 1
      state.files[key] = File(
        stat: stat, camera: camera, failure: failure, content: content ?? state.nextContent, beginning: beginning)
      return stat
    }
  }

  /// Changes the status of a file, and its content if `editsContent`. Size and modification time stay.
  @discardableResult
  func edit(_ path: String, editsContent: Bool = true) -> FileStat {
    state.withLock { state in
      let key = Array(path.utf8)
      state.clock += 1_000_000
      state.files[key]!.stat.changeTime = FileTime(nanoseconds: state.clock)
      if editsContent {
        state.nextContent += 1
        state.files[key]!.content = state.nextContent
      }
      return state.files[key]!.stat
    }
  }

  /// Copies a file with its modification time, as `cp -p` does.
  @discardableResult
  func copy(_ from: String, _ to: String, device: UInt64 = 1) -> FileStat {
    state.withLock { state in
      var file = state.files[Array(from.utf8)]!
      state.nextInode += 1
      state.clock += 1_000_000
      file.stat.identity = FileIdentity(device: device, inode: state.nextInode, birthTime: state.clock)
      file.stat.changeTime = FileTime(nanoseconds: state.clock)
      state.files[Array(to.utf8)] = file
      return file.stat
    }
  }

  /// Exchanges the names of two files.
  func exchange(_ a: String, _ b: String) {
    move(a, a + ".exchanged")
    move(b, a)
    move(a + ".exchanged", b)
  }

  /// Sets the identity by which a device is known from now on.
  func setVolume(_ identity: String, of device: UInt64) { state.withLock { $0.volumes[device] = identity } }

  /// Gives files each other's inodes, in a circle, as FAT does at a mount.
  func permute(_ paths: [String]) {
    state.withLock { state in
      let keys = paths.map { Array($0.utf8) }
      let inodes = keys.map { state.files[$0]!.stat.identity.inode }
      for (index, key) in keys.enumerated() {
        state.files[key]!.stat.identity.inode = inodes[(index + 1) % inodes.count]
      }
    }
  }

  /// Makes the files differ only in content and name, as a burst on a card whose clock has a resolution of two seconds.
  func setTimes(_ time: Int64, of paths: [String]) {
    state.withLock { state in
      for path in paths {
        let key = Array(path.utf8)
        state.files[key]!.stat.modificationTime = FileTime(nanoseconds: time)
        state.files[key]!.stat.changeTime = FileTime(nanoseconds: time)
        if state.files[key]!.stat.identity.birthTime != .unknown {
          state.files[key]!.stat.identity.birthTime = FileTime(nanoseconds: time)
        }
      }
    }
  }

  /// The next file gets this inode, which is free.
  func reuse(inode: UInt64) { state.withLock { $0.reused = inode } }

  func setBirth(_ time: Int64, of path: String) {
    state.withLock { $0.files[Array(path.utf8)]?.stat.identity.birthTime = FileTime(nanoseconds: time) }
  }

  func setStat(_ stat: FileStat, of path: String) { state.withLock { $0.files[Array(path.utf8)]?.stat = stat } }

  func setIdentity(_ identity: FileIdentity, of path: String) {
    state.withLock { $0.files[Array(path.utf8)]?.stat.identity = identity }
  }

  func content(of path: String) -> UInt64? { state.withLock { $0.files[Array(path.utf8)]?.content } }

  @discardableResult
  func move(_ from: String, _ to: String) -> FileStat {
    state.withLock { state in
      var file = state.files.removeValue(forKey: Array(from.utf8))!
      state.clock += 1_000_000
      file.stat.changeTime = FileTime(nanoseconds: state.clock)
      state.files[Array(to.utf8)] = file
      return file.stat
    }
  }

  func link(_ from: String, _ to: String) -> FileStat {
    state.withLock { state in
      let file = state.files[Array(from.utf8)]!
      state.files[Array(to.utf8)] = file
      return file.stat
    }
  }

  func moveFolder(_ from: String, _ to: String) {
    state.withLock { state in
      for (path, file) in state.files where path.starts(with: Array((from + "/").utf8)) {
        state.files[path] = nil
        state.files[Array(to.utf8) + path.dropFirst(from.utf8.count)] = file
      }
    }
  }

  /// Sets keywords as if the file always had them: its stat stays. photod reads them when it reads the file again.
  func setKeywords(_ keywords: [String], of path: String) {
    state.withLock { $0.files[Array(path.utf8)]?.keywords = keywords }
  }

  /// The files directly in a folder, by name.
  func files(in folder: String) -> [(name: String, stat: FileStat)] {
    let prefix = Array((folder + "/").utf8)
    return state.withLock { state in
      state.files.filter { $0.key.starts(with: prefix) && !$0.key.dropFirst(prefix.count).contains(UInt8(ascii: "/")) }
        .map { (String(decoding: $0.key.dropFirst(prefix.count), as: UTF8.self), $0.value.stat) }
        .sorted { $0.0 < $1.0 }
    }
  }

  func remove(_ path: String) { state.withLock { $0.files[Array(path.utf8)] = nil } }

  // MARK: PhotoFiles

  func stat(_ path: [UInt8]) -> FileStat? {
    state.withLock { state in
      state.statCount += 1
      return state.files[path]?.stat
    }
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    state.withLock { $0.volumes[device] } ?? "volume \(device)"
  }

  func isRemote(_ path: [UInt8]) -> Bool { state.withLock { $0.isRemote } }

  /// Puts all files on a share.
  func moveToShare() { state.withLock { $0.isRemote = true } }

  /// A folder exists as long as it holds a file.
  func exists(_ path: [UInt8]) -> Bool {
    state.withLock { state in
      state.files[path] != nil || state.files.keys.contains { $0.starts(with: path + [UInt8(ascii: "/")]) }
    }
  }

  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    state.withLock { state in
      guard let file = state.files[path], file.stat.identity.inode == expected.identity.inode else { return .raced }
      if let failure = state.failure
        ?? (state.failing.contains(path) ? "its content can't be read: Input/output error" : nil)
      {
        state.failedReadCount += 1
        return .unreadable(failure)
      }
      state.readCount += 1
      // A file is opened by its name and compared by its inode. Its birth time is not asked for.
      var stat = file.stat
      stat.identity = expected.identity
      return .content(
        AssetContent(
          mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", camera: Camera(model: file.camera),
          keywords: file.keywords, failure: file.failure),
        stat, readTime: WallTime(nanoseconds: state.clock), marks: file.marks(isSampled: isSampled))
    }
  }

  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    reading.withLock { $0 }?()
    if isWhole, expected.byteCount > 1 << 30 {
      let readPiece = readingOfPiece.withLock { $0 }
      for _ in 0..<expected.byteCount / 262_144 {
        guard shouldGoOn() else { return nil }
        readPiece?()
      }
    }
    return state.withLock { state in
      guard let file = state.files[path], file.stat.identity.inode == expected.identity.inode,
        file.stat.byteCount == expected.byteCount, file.stat.modificationTime == expected.modificationTime,
        file.stat.changeTime == expected.changeTime, state.failure == nil
      else { return nil }
      state.sampledBytes += min(file.stat.byteCount, ContentReader.wholeBytes)
      if isWhole, file.stat.byteCount > ContentReader.wholeBytes { state.hashedBytes += file.stat.byteCount }
      var marks = file.marks(isSampled: true)
      if isWhole { marks.hash = ContentDigest(high: file.content, low: 2) }
      return marks
    }
  }

  /// The bytes that were read for samples and for hashes, after the first reading.
  var proofBytes: (sampled: Int64, hashed: Int64) { state.withLock { ($0.sampledBytes, $0.hashedBytes) } }
}
