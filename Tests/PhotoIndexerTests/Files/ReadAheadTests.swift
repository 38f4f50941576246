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
    let batch = WatchInput.batch(
      [.directoryFound(number: 1, parent: 0, root: 1, name: Array("/p".utf8), identity: top)] + found)
    #expect(await ahead.read(batch).contents.count == 160 && files.readCount == 160)
    if isShare {
      #expect(files.mostAtOnce == 1)
    } else {
      // Other tests may use all threads of libdispatch for a while.
      try await eventually("two files are read at once") {
        _ = await ahead.read(batch)
        return files.mostAtOnce > 1
      }
    }
  }

  private static func found(_ name: String, in directory: DirectoryNumber, inode: UInt64) -> WatchRecord {
    .fileFound(
      directory: directory, name: Array(name.utf8),
      stat: FileStat(
        identity: FileIdentity(device: 1, inode: inode, birthTime: 1), byteCount: 5, modificationTime: 1,
        changeTime: 1))
  }

  /// The library has a directory that was reported long ago.
  @Test func unknownDirectoryIsAskedForOnce() async throws {
    let catalog = try TestCatalog("ahead").catalog
    let files = SlowFiles(isShare: true)
    let ahead = ReadAhead(catalog: catalog, files: files, knownInodes: try KnownInodes(catalog: catalog))
    let asked = Mutex<[[DirectoryNumber]]>([])
    let known: ReadAhead.KnownPlaces = { numbers in
      asked.withLock { $0.append(numbers) }
      return numbers.contains(7)
        ? [
          DirectoryPlace(number: 7, parent: 1, name: Array("a".utf8)),
          .init(number: 1, parent: 0, name: Array("/p".utf8)),
        ]
        : []
    }
    for round in 0..<3 as Range<UInt64> {
      let records = (0..<4).map { Self.found("\($0).jpg", in: 7, inode: 100 + 10 * round + UInt64($0)) }
      let input = await ahead.read(.batch(records), asking: known)
      #expect(input.contents.count == 4)
    }
    #expect(asked.withLock { $0 } == [[7]])
    // This directory is unknown, so its files are read when the batch is applied.
    let input = await ahead.read(.batch([Self.found("b.jpg", in: 9, inode: 200)]), asking: known)
    #expect(input.contents.isEmpty && asked.withLock { $0 } == [[7], [9]])
  }

  /// A directory that the same batch reports is not asked for, but its parent is.
  @Test func parentOfANewDirectoryIsAskedFor() async throws {
    let catalog = try TestCatalog("ahead").catalog
    let files = SlowFiles(isShare: true)
    let ahead = ReadAhead(catalog: catalog, files: files, knownInodes: try KnownInodes(catalog: catalog))
    let asked = Mutex<[[DirectoryNumber]]>([])
    let input = await ahead.read(
      .batch([
        .directoryFound(
          number: 8, parent: 7, root: 1, name: Array("b".utf8),
          identity: FileIdentity(device: 1, inode: 8, birthTime: 1)),
        Self.found("a.jpg", in: 8, inode: 100),
      ])
    ) { numbers in
      asked.withLock { $0.append(numbers) }
      return [.init(number: 7, parent: 0, name: Array("/p".utf8))]
    }
    #expect(input.contents.count == 1 && asked.withLock { $0 } == [[7]])
  }

  /// Reading ahead begins anew, as after a long time in which other directories were reported.
  @Test func libraryKnowsThePlacesOfDirectories() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    let identity = FileIdentity(device: 1, inode: 70, birthTime: 1)
    try fixture.apply(
      .directoryFound(number: 7, parent: 1, root: 1, name: Array("x".utf8), identity: identity),
      .listingStarted(number: 7, evidence: .event), .listingEnded(number: 7, complete: true))
    let tree = fixture.reconciler.tree
    #expect(
      tree.places(above: 7) == [
        DirectoryPlace(number: 7, parent: 1, name: Array("x".utf8)),
        .init(number: 1, parent: 0, name: Array("/p".utf8)),
      ])
    #expect(tree.places(above: 99).isEmpty)
    fixture.reconciler.beginSession()
    #expect(fixture.reconciler.tree.places(above: 7).isEmpty)
  }

  /// Notes the names in the order in which they are read.
  private final class NotedFiles: PhotoFiles {
    private let names = Mutex<[String]>([])

    var read: [String] { names.withLock { $0 } }
    var readCount: Int { read.count }

    func mayWait(_ path: [UInt8]) -> Bool { true }
    func stat(_ path: [UInt8]) -> FileStat? { nil }
    func exists(_ path: [UInt8]) -> Bool { false }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { "uuid:1" }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      let name = String(decoding: path, as: UTF8.self)
      names.withLock { $0.append(name) }
      return .unreadable(name)
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
  }

  /// Names and inodes are in opposite orders. The order of the disk matters only for files that are not in the cache.
  @Test(arguments: [true, false]) func filesOfAScanAreReadInTheOrderOfTheirInodes(isScan: Bool) async throws {
    let catalog = try TestCatalog("ahead").catalog
    let files = NotedFiles()
    let ahead = ReadAhead(catalog: catalog, files: files, knownInodes: try KnownInodes(catalog: catalog))
    func found(_ directory: DirectoryNumber, _ number: Int) -> WatchRecord {
      let identity = FileIdentity(device: 1, inode: UInt64(1000 - number), birthTime: 1)
      return .fileFound(
        directory: directory, name: Array("\(number).jpg".utf8),
        stat: FileStat(identity: identity, byteCount: 5, modificationTime: 1, changeTime: 1))
    }
    var records: [WatchRecord] = []
    for directory: DirectoryNumber in [1, 2] {
      records.append(
        .directoryFound(
          number: directory, parent: directory - 1, root: 1, name: Array((directory == 1 ? "/p" : "q").utf8),
          identity: FileIdentity(device: 1, inode: directory, birthTime: 1)))
      if isScan { records.append(.listingStarted(number: directory, evidence: .scan)) }
      let first = Int(directory) * 100
      records += (first..<first + 40).map { found(directory, $0) }
      if isScan { records.append(.listingEnded(number: directory, complete: true)) }
    }
    let input = await ahead.read(.batch(records))
    let expected = [(1, "/p/"), (2, "/p/q/")].flatMap { directory, path in
      let numbers = Array(directory * 100..<directory * 100 + 40)
      return (isScan ? numbers.reversed() : numbers).map { "\(path)\($0).jpg" }
    }
    #expect(files.read == expected)
    // Each content belongs to its own record, whatever the order.
    for (index, record) in records.enumerated() {
      guard case .fileFound(_, let name, _, _) = record else { continue }
      guard case .unreadable(let path)? = input.contents[index] else {
        #expect(Bool(false), "record \(index) has no content")
        continue
      }
      #expect(path.hasSuffix("/" + String(decoding: name, as: UTF8.self)))
    }
  }
}
