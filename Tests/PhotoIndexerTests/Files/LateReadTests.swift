import Dispatch
import Glibc
import Logging
import PhotoExtract
import PhotoTestSupport
import TestTools
import Testing
import WatchRecords

@testable import PhotoIndexer

/// Files that take longer to read than the library waits.
@Suite(.enabled(if: ScriptedExtractor.hasPython, "/usr/bin/python3 is not installed")) struct LateReadTests {
  private let folder: TemporaryFolder
  private let files: DiskFiles

  init() throws {
    folder = try TemporaryFolder("late")
    let extractor = Extractor(
      executable: try ScriptedExtractor.install(in: folder.path), readerCount: 2, logger: Logger(label: "test"))
    files = DiskFiles(extractor: extractor, lateReads: LateReads())
  }

  private func write(_ name: String) throws -> NamedStat {
    let path = Array((folder.path + "/" + name).utf8)
    let descriptor = open(folder.path + "/" + name, O_WRONLY | O_CREAT, 0o644)
    try #require(descriptor >= 0 && Glibc.write(descriptor, "x", 1) == 1)
    close(descriptor)
    return NamedStat(name: Array(name.utf8), stat: try #require(files.stat(path)))
  }

  private func isRead(_ reading: ContentReading) -> Bool {
    if case .content(let content, _, _, _) = reading { content.title == "read" } else { false }
  }

  /// More slow files than there are processes and threads: those that wait for a process must not keep those that have
  /// one from being finished.
  @Test func manySlowFilesAreReadInTheBackground() async throws {
    let all = try (0..<24).map { try write("slow-\($0).jpg") }
    let late = files.background
    for reading in files.read(all[...], in: Array((folder.path + "/").utf8)) {
      if case .late = reading { continue }
      #expect(isRead(reading))
    }
    // Files are asked for again while others are under way, as the library does.
    var unread = all
    try await eventually("\(unread.count) files are not read") {
      unread.removeAll { file in
        isRead(
          files.readWithoutWaiting(
            Array((folder.path + "/").utf8) + file.name, expecting: file.stat, isSampled: false))
      }
      return unread.isEmpty
    }
    try await eventually("nothing is under way") { late.isEmpty }
  }

  /// Each process that has begun a file goes on, whether the file is read in the background or by the caller.
  @Test func callerWaitsIfTooManyFilesAreUnderWay() throws {
    let extractor = Extractor(
      executable: try ScriptedExtractor.install(in: folder.path), readerCount: 2, logger: Logger(label: "test"))
    let files = DiskFiles(extractor: extractor, lateReads: LateReads(mostOfFileSystem: 2))
    let all = try (0..<6).map { try write("slow-\($0).jpg") }
    let late = files.read(all[...], in: Array((folder.path + "/").utf8)).filter {
      if case .late = $0 { true } else { false }
    }
    // While the caller waits for the third file, the first two may end and make room.
    #expect(late.count < all.count)
    #expect(extractor.restartCount == 0)
  }

  @Test func fileIsNotOpenedWhileTooManyFilesAreUnderWay() throws {
    let extractor = Extractor(
      executable: try ScriptedExtractor.install(in: folder.path), readerCount: 2, logger: Logger(label: "test"))
    let files = DiskFiles(extractor: extractor, lateReads: LateReads(mostOfFileSystem: 1))
    let (first, second) = (try write("slow-1.jpg"), try write("slow-2.jpg"))
    func read(_ file: NamedStat) -> ContentReading {
      files.readWithoutWaiting(Array((folder.path + "/").utf8) + file.name, expecting: file.stat, isSampled: false)
    }
    guard case .late = read(first), case .late = read(second), case .late = read(second) else {
      Issue.record("the caller waited")
      return
    }
    #expect(!files.background.hasRoom(on: .drive(second.stat.identity.device)))
    guard case .notBegun = files.background.progress(of: LateReads.Key(second.stat, name: second.name)) else {
      Issue.record("the second file is under way")
      return
    }
    #expect(files.readCount == 1)
  }

  @Test func lateResultIsTakenOnceAndAnnounced() async throws {
    let file = try write("slow.jpg")
    let path = Array((folder.path + "/slow.jpg").utf8)
    guard case .late = files.readWithoutWaiting(path, expecting: file.stat, isSampled: false) else {
      #expect(Bool(false), "the caller waited")
      return
    }
    #expect(files.background.isBusy)
    _ = await files.background.ended.next(after: 0)
    #expect(files.background.takeEnded() == [file.stat.identity.inode] && !files.background.isBusy)
    #expect(isRead(files.readWithoutWaiting(path, expecting: file.stat, isSampled: false)))
    #expect(files.background.isEmpty)
  }

  /// However many files of a slow share are under way, a file of a drive may begin.
  @Test func filesOfOneFileSystemLeaveRoomForOthers() async throws {
    final class Share: Sendable {}
    let (late, share, end) = (LateReads(), Share(), DispatchSemaphore(value: 0))
    func key(_ inode: UInt64) -> LateReads.Key {
      let identity = FileIdentity(device: 1, inode: inode, birthTime: 0)
      return LateReads.Key(
        FileStat(identity: identity, byteCount: 1, modificationTime: 1, changeTime: 1), name: [UInt8]())
    }
    let begun = (0..<1_000).count {
      late.begin(key(UInt64($0)), on: .share(ObjectIdentifier(share))) {
        end.wait()
        return .raced
      }
    }
    #expect(begun < 1_000, "each file under way takes memory")
    defer { for _ in 0..<begun { end.signal() } }
    try #require(late.begin(key(1_000), on: .drive(2)) { .unreadable("it is read") })
    try await eventually("the drive is read") { late.takeEnded() == [1_000] }
  }

  /// The files of shares that never answer, and of a drive that hangs, leave threads for another drive.
  @Test func filesThatNeverEndLeaveThreadsForOtherFileSystems() async throws {
    final class Share: Sendable {}
    let (late, shares, end) = (LateReads(), (0..<6).map { _ in Share() }, DispatchSemaphore(value: 0))
    func key(_ inode: UInt64) -> LateReads.Key {
      let identity = FileIdentity(device: 1, inode: inode, birthTime: 0)
      return LateReads.Key(
        FileStat(identity: identity, byteCount: 1, modificationTime: 1, changeTime: 1), name: [UInt8]())
    }
    var hanging = [MediaSource.FileSystem](repeating: .drive(1), count: 10)
    for share in shares { hanging += [MediaSource.FileSystem](repeating: .share(ObjectIdentifier(share)), count: 3) }
    for (number, fileSystem) in hanging.enumerated() {
      late.begin(key(UInt64(number)), on: fileSystem) {
        end.wait()
        return .raced
      }
    }
    late.begin(key(100), on: .drive(2)) { .unreadable("it is read") }
    try await eventually("the other drive is read") { late.takeEnded() == [100] }
    for _ in hanging { end.signal() }
    try await eventually("all have ended") { !late.isBusy }
  }
}
