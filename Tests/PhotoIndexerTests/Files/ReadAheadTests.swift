import Glibc
import PhotoModel
import PhotoTestSupport
import PhotoWatch
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

@Suite struct ReadAheadTests {
  /// Counts the reads at one time. Each waits for the disk, or for a share.
  private final class SlowFiles: PhotoFiles {
    let isShare: Bool
    private let reading = Atomic(0)
    private let most = Atomic(0)
    private let reads = Atomic(0)

    init(isShare: Bool) { self.isShare = isShare }

    var mostAtOnce: Int { most.load(ordering: .acquiring) }
    var readCount: Int { reads.load(ordering: .acquiring) }

    func mayWait(_ path: [UInt8]) -> Bool { isShare }
    func stat(_ path: [UInt8]) -> FileStat? { nil }
    func exists(_ path: [UInt8]) -> Bool { false }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { "uuid:1" }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      reads.add(1, ordering: .releasing)
      most.max(reading.add(1, ordering: .acquiringAndReleasing).newValue, ordering: .acquiringAndReleasing)
      usleep(2000)
      reading.subtract(1, ordering: .acquiringAndReleasing)
      return .unreadable("it is slow")
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
  }

  /// A share that is slow must not take the threads on which other lanes read.
  @Test(arguments: [true, false]) func filesOfAShareAreReadOneAfterAnother(isShare: Bool) async throws {
    let catalog = try TestCatalog("ahead").catalog
    let files = SlowFiles(isShare: isShare)
    let ahead = ReadAhead(catalog: catalog, files: files, knownInodes: try KnownInodes(catalog: catalog))
    let top = FileIdentity(device: 1, inode: 1, birthTime: 1)
    let found = (0..<160).map { number in
      WatchRecord.fileFound(
        directory: 1, name: Array("\(number).jpg".utf8),
        stat: FileStat(
          identity: FileIdentity(device: 1, inode: UInt64(100 + number), birthTime: 1), byteCount: 5,
          modificationTime: 1, changeTime: 1))
    }
    let input = await ahead.read(
      .batch([.directoryFound(number: 1, parent: 0, root: 1, name: Array("/p".utf8), identity: top)] + found))
    #expect(input.contents.count == 160 && files.readCount == 160)
    #expect(isShare ? files.mostAtOnce == 1 : files.mostAtOnce > 1)
  }
}
