import Dispatch
import Foundation
import Glibc
import Logging
import PhotoTestSupport
import Synchronization
import TestTools
import Testing
import WorkerProcess

@testable import PhotoExtract

/// A slow share, or a drive that hangs, leaves readers to the files of others.
@Suite struct ExtractorPermitsTests {
  private final class Share: Sendable {}

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  private static let soon = Duration.milliseconds(1)

  private func take(_ permits: ExtractorPermits, _ fileSystem: MediaSource.FileSystem) -> Bool {
    permits.take(fileSystem, until: .now())
  }

  @Test func oneShareHasOneReaderAndAllSharesHaveTwo() {
    let (first, second, third) = (Share(), Share(), Share())
    let shares = [first, second, third].map { MediaSource.FileSystem.share(ObjectIdentifier($0)) }
    let permits = ExtractorPermits(readerCount: 2)
    #expect(take(permits, shares[0]) && !take(permits, shares[0]))
    #expect(take(permits, shares[1]) && !take(permits, shares[2]))
    permits.putBack(shares[0])
    #expect(take(permits, shares[2]), "a share that got no permit has not used up its own")
    #expect(take(permits, .drive(1)) && take(permits, .drive(1)))
  }

  @Test func oneDriveHasAsManyReadersAsFilesAreReadAtATime() {
    let permits = ExtractorPermits(readerCount: 2)
    #expect(take(permits, .drive(1)) && take(permits, .drive(1)) && !take(permits, .drive(1)))
    #expect(take(permits, .drive(2)))
    permits.putBack(.drive(1))
    #expect(take(permits, .drive(1)))
  }

  /// The most that one drive and all shares can hold leaves a process.
  @Test func oneProcessIsLeftBesideAHangingDriveAndSlowShares() throws {
    let (first, second) = (Share(), Share())
    let pool = ExtractorPool(
      executable: BuiltPrograms.path("photod-extract"), readerCount: 2, logger: Logger(label: "test"))
    var taken: [ExtractWorker] = []
    defer { for worker in taken { pool.discard(worker, isKilled: true) } }
    let held: [MediaSource.FileSystem] = [
      .drive(1), .drive(1), .share(ObjectIdentifier(first)), .share(ObjectIdentifier(second)),
    ]
    for fileSystem in held {
      guard case .worker(let worker) = pool.take(for: fileSystem, within: Self.soon) else {
        #expect(Bool(false), "\(fileSystem) has no process")
        return
      }
      taken.append(worker)
    }
    guard case .busy = pool.take(for: .drive(1), within: Self.soon) else {
      #expect(Bool(false), "a drive has more processes than its share")
      return
    }
    guard case .worker(let worker) = pool.take(for: .drive(2), within: Self.soon) else {
      #expect(Bool(false), "another drive has no process")
      return
    }
    taken.append(worker)
  }

  /// A process in an uninterruptible wait can't be killed. It counts for its own drive.
  @Test func driveWithTwoHangingProcessesIsNotReadAndOthersAre() throws {
    let slots = ProcessSlots()
    let pool = ExtractorPool(
      executable: BuiltPrograms.path("photod-extract"), readerCount: 1, logger: Logger(label: "test"), slots: slots)
    for _ in 0..<2 { #expect(slots.take(ExtractorPool.hangingPlace(.drive(1)), maximum: .max)) }
    guard case .unavailable(let reason) = pool.take(for: .drive(1), within: Self.soon) else {
      #expect(Bool(false), "a third process would hang")
      return
    }
    #expect(reason == "its disk does not answer")
    guard case .worker(let worker) = pool.take(for: .drive(2), within: Self.soon) else {
      #expect(Bool(false), "another drive has no process")
      return
    }
    pool.putBack(worker)
    slots.release(ExtractorPool.hangingPlace(.drive(1)))
    guard case .worker(let again) = pool.take(for: .drive(1), within: Self.soon) else {
      #expect(Bool(false), "the drive answers again")
      return
    }
    pool.putBack(again)
  }

  /// The bytes of the share's files do not come until the end of the test.
  @Test func slowShareDelaysNoFileOfADrive() async throws {
    let extractor = TestExtractor.make(readerCount: 1, deadline: .seconds(2))
    let share = Share()
    let answers = DispatchSemaphore(value: 0)
    let slow = MediaSource(
      bytes: .fetched { _, _ in
        answers.wait()
        return .failed(errorNumber: EIO)
      }, fileSystem: .share(ObjectIdentifier(share)), byteCount: 9, name: Array("a.jpg".utf8))
    let begun = Counter()
    // Each call waits on a thread of its own.
    let threads = DispatchQueue(label: "shares", attributes: .concurrent)
    for _ in 0..<6 {
      threads.async {
        begun.value.add(1, ordering: .releasing)
        _ = extractor.readToTheEnd(slow)
      }
    }
    try await eventually("the share is read") {
      begun.value.load(ordering: .acquiring) == 6 && extractor.processCount > 0
    }
    let folder = try TemporaryFolder("permits")
    let path = folder.path + "/b.gif"
    try "GIF89a".write(toFile: path, atomically: false, encoding: .utf8)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    for _ in 0..<20 {
      let result = extractor.readToTheEnd(
        MediaSource(bytes: .descriptor(descriptor), fileSystem: .drive(1), byteCount: 6, name: Array("b.gif".utf8)))
      guard case .facts = result else {
        #expect(Bool(false), "\(result)")
        break
      }
    }
    #expect(extractor.processCount == 2, "the share has one process, and the drive another")
    for _ in 0..<64 { answers.signal() }
    // The calls that wait for the process of the share end after the deadline.
    await withCheckedContinuation { continuation in threads.async(flags: .barrier) { continuation.resume() } }
    extractor.end()
  }
}
