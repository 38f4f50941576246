import Dispatch
import Foundation
import Glibc
import Logging
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import WatchRecords

@testable import PhotoImages
@testable import PhotoServer
@testable import PhotoWatch

/// The process of a share with one file. It answers each call at once.
private final class ScriptedShare: Sendable {
  struct Script {
    var bytes: [UInt8]
    /// The errors of the next calls that read.
    var readErrors: [Int32] = []
    var modified = FileTime(nanoseconds: 1_700_000_000_000_000_000)
    /// The counts of the calls that read.
    var counts: [UInt32] = []
    /// It is called before each answer.
    var onCall: (@Sendable () -> Void)?
  }

  let script: Mutex<Script>
  private let connection: Connection

  /// The worker, and the calls that it has made.
  private final class Connection: Sendable {
    let worker = Mutex<ShareFileWorker?>(nil)
    let calls = Mutex(FrameAssembler())
  }

  var worker: ShareFileWorker { connection.worker.withLock { $0! } }
  var counts: [UInt32] { script.withLock { $0.counts } }

  init(_ bytes: [UInt8]) {
    script = Mutex(Script(bytes: bytes))
    connection = Connection()
    connection.calls.withLock { $0.append(WatchStream.greeting) }
    let worker = ShareFileWorker(
      root: Array("/share".utf8), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      onCall: { [weak self] in self?.answerCalls() })
    _ = WatchStream.greeting.withUnsafeBytes { worker.receive($0) }
    connection.worker.withLock { $0 = worker }
  }

  /// The file as the catalog knows it.
  var file: ImageFile {
    script.withLock {
      ImageFile(
        index: 0, path: Array("/share/a.jpg".utf8), contentType: "image/jpeg", byteCount: Int64($0.bytes.count),
        modified: $0.modified, kind: .photo)
    }
  }

  private func answerCalls() {
    let bytes = worker.takeOutgoing()
    let calls = connection.calls.withLock { frames in
      frames.append(bytes)
      var calls: [FileCall] = []
      while let payload = try? frames.next(), let call = try? FileCall(payload) { calls.append(call) }
      return calls
    }
    for call in calls {
      script.withLock { $0.onCall }?()
      let answer = script.withLock { Self.answer(call, &$0) }
      let problem = WatchStream.frame(answer).withUnsafeBytes { worker.receive($0) }
      #expect(problem == nil)
    }
  }

  private static func answer(_ call: FileCall, _ script: inout Script) -> FileAnswer {
    let stat = FileStat(
      identity: FileIdentity(device: 1, inode: 2, birthTime: .unknown), byteCount: Int64(script.bytes.count),
      modificationTime: script.modified, changeTime: script.modified)
    guard case .read(_, let offset, let count) = call else {
      return FileAnswer(errorNumber: 0, mode: S_IFREG | 0o644, stat: stat)
    }
    script.counts.append(count)
    if !script.readErrors.isEmpty { return FileAnswer(errorNumber: script.readErrors.removeFirst()) }
    let bytes = script.bytes.dropFirst(Int(offset)).prefix(Int(count))
    return FileAnswer(errorNumber: 0, mode: S_IFREG | 0o644, stat: stat, bytes: Array(bytes))
  }
}

/// Files of shares that are copied for pictures, and that clients read.
struct ShareFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("copies") }

  private func names() throws -> [String] {
    let path = folder.path + "/temporary"
    return FileManager.default.fileExists(atPath: path) ? try FileManager.default.contentsOfDirectory(atPath: path) : []
  }

  private func copies(
    space: CopySpace = CopySpace(), now: @escaping @Sendable () -> DispatchTime = { .now() }
  ) -> ShareFileCopies { ShareFileCopies(folder: folder.path + "/temporary", space: space, now: now) }

  @Test func aCopyHasTheBytesAndNoName() throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let share = ScriptedShare(bytes)
    let copies = copies()
    do {
      let copy = try copies.make(try ShareFileReader(share.file, share.worker)) { true }
      #expect(copy.copiedBytes == 300_000 && copies.space.used == (1, 300_000))
      #expect(try FileHandle(fileDescriptor: copy.descriptor).readToEnd() == Data(bytes))
      #expect(try names().isEmpty)
    }
    #expect(copies.space.used == (0, 0))
  }

  /// EIO is a failing disk of the server, ESTALE a server that was started again, and ETIMEDOUT a soft mount.
  @Test(arguments: [EIO, ESTALE, ETIMEDOUT, EREMOTEIO]) func failedReadsSayNothingOfTheFile(number: Int32) throws {
    let share = ScriptedShare(Array(repeating: 1, count: 300_000))
    let copies = copies()
    let reader = try ShareFileReader(share.file, share.worker)
    share.script.withLock { $0.readErrors = [number] }
    #expect(throws: ImageFileError.readFailed(number)) { try copies.make(reader) { true } }
    #expect(copies.space.used == (0, 0))
    #expect(try copies.make(reader) { true }.copiedBytes == 300_000)
  }

  /// The process answers ESTALE too if the file was written while it read a piece.
  @Test func aFileThatWasReplacedIsChanged() throws {
    let share = ScriptedShare(Array(repeating: 1, count: 300_000))
    let reader = try ShareFileReader(share.file, share.worker)
    share.script.withLock { script in
      script.readErrors = [ESTALE]
      script.modified = FileTime(nanoseconds: 1)
    }
    #expect(throws: ImageFileError.changed) { try copies().make(reader) { true } }
  }

  /// Each piece takes a second.
  @Test func aCopyEndsAfterAMinute() throws {
    let share = ScriptedShare(Array(repeating: 1, count: 10 << 20))
    let seconds = Counter()
    share.script.withLock { $0.onCall = { seconds.value.withLock { $0 += 1 } } }
    let copies = copies { DispatchTime(uptimeNanoseconds: UInt64(1 + seconds.value.withLock { $0 }) * 1_000_000_000) }
    let reader = try ShareFileReader(share.file, share.worker)
    #expect(throws: ImageFileError.tooSlow) { try copies.make(reader) { true } }
    #expect(share.counts.count == 60 && share.counts.allSatisfy { $0 <= 64 << 10 })
  }

  private final class Counter: Sendable {
    let value = Mutex(0)
  }

  @Test func aCopyEndsAfterThePieceWhenItIsNotWanted() throws {
    let share = ScriptedShare(Array(repeating: 1, count: 10 << 20))
    let copies = copies()
    let reader = try ShareFileReader(share.file, share.worker)
    #expect(throws: ImageFileError.unwanted) { try copies.make(reader) { share.counts.count < 3 } }
    #expect(share.counts.count == 3 && copies.space.used == (0, 0))
  }

  @Test func nothingIsReadForAClientThatHasGone() throws {
    let fixture = try ImageFixture()
    let text = String(repeating: "x", count: 300_000)
    let id = try fixture.add("a.jpg", text, modified: timespec(tv_sec: 1_700_000_000, tv_nsec: 0))
    let share = ScriptedShare(Array(text.utf8))
    let worker = share.worker
    let assets = CatalogImageAssets(catalog: fixture.server.catalog, copies: folder.path) { _ in .share(worker) }
    let file = try ResourceFile(try RequestedResource(.init(assetID: id, resource: 0), assets), assets)
    let budget = WorkBudget(.seconds(20))
    share.script.withLock { script in
      script.onCall = { [weak share] in if share?.counts.count == 2 { budget.cancel() } }
    }
    #expect(throws: WorkBudget.Spent.cancelled) {
      try WorkBudget.$current.withValue(budget) { _ = try file.read(at: 0, upTo: 300_000) }
    }
    #expect(share.counts.count == 3)
  }

  @Test(arguments: [CopySpace(maximumCount: 1), CopySpace(maximumBytes: 300_001)])
  func aCopyWaitsForRoom(space: CopySpace) async throws {
    let share = ScriptedShare(Array(repeating: 1, count: 300_000))
    let (reader, copies) = (try ShareFileReader(share.file, share.worker), copies(space: space))
    var first: OpenImageFile? = try copies.make(reader) { true }
    let isWanted = Atomic(true)
    let end = DispatchSemaphore(value: 0)
    let results = Results()
    func begin() {
      Thread.detachNewThread {
        results.add(Result { try copies.make(reader) { isWanted.load(ordering: .relaxed) } })
        end.signal()
      }
    }
    begin()
    try await eventually("it waits") { space.waitingCount == 1 }
    #expect(first != nil && space.used.count == 1)
    first = nil
    try await eventually("it is made") { results.count == 1 }
    #expect(space.used.count == 1, "\(results.errors)")
    begin()
    try await eventually("another one waits") { space.waitingCount == 1 }
    isWanted.store(false, ordering: .relaxed)
    try await eventually("it ends without room") { results.errors == [.unwanted] }
  }

  private final class Results: Sendable {
    private let results = Mutex<[Result<OpenImageFile, any Error>]>([])

    var count: Int { results.withLock { $0.count } }

    var errors: [ImageFileError] {
      results.withLock { $0.compactMap { if case .failure(let error) = $0 { error as? ImageFileError } else { nil } } }
    }

    func add(_ result: Result<OpenImageFile, any Error>) { results.withLock { $0.append(result) } }
  }

  /// The roots may change at any time, and the mount table may be read for each question.
  @Test func theFileSystemIsAskedOnlyOnceForACopy() throws {
    let fixture = try ImageFixture()
    let share = ScriptedShare(Array("photo".utf8))
    let count = Counter()
    let worker = share.worker
    let assets = CatalogImageAssets(catalog: fixture.server.catalog, copies: folder.path) { _ in
      count.value.withLock { $0 += 1 }
      return .share(worker)
    }
    let copy = try assets.open(share.file) { true }
    #expect(assets.state(of: share.file, copy) == .unchanged)
    #expect(count.value.withLock { $0 } == 1)
  }
}
