import Glibc
import PhotoModel
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Files that the disk fails to read are tried again. The cost does not grow with their number.
@Suite struct FailingDiskTests {
  private static let count = 500

  /// - Returns: the ids of files that were all found just now and that the disk fails to read.
  private func found(_ fixture: ReconcilerFixture) throws -> [AssetID] {
    let names = (0..<Self.count).map { "\($0).jpg" }
    fixture.disk.setFailing(names.map { "/p/" + $0 })
    let records = [Fixture.top] + names.map { Fixture.file($0, fixture.disk.write("/p/" + $0)) }
    try fixture.apply(all: records)
    #expect(fixture.disk.failedReadCount == Self.count)
    return try fixture.paths().values.sorted()
  }

  /// One second passes, and the due retries are made, as in the library.
  private func turn(_ fixture: ReconcilerFixture) throws {
    fixture.disk.pass(1)
    try fixture.catalog.write { writer in
      var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.readAgainWhatIsDue(in: &batch)
    }
  }

  @Test func aTurnCostsOneFailedRead() throws {
    let fixture = try ReconcilerFixture()
    _ = try found(fixture)
    fixture.disk.pass(10)
    for _ in 0..<100 {
      let before = fixture.disk.failedReadCount
      try turn(fixture)
      #expect(fixture.disk.failedReadCount - before <= 1)
    }
  }

  /// The order of the retries changes, so that the file that always fails is not always the first.
  @Test func aFileThatKeepsFailingDoesNotHoldUpTheOthers() throws {
    let fixture = try ReconcilerFixture()
    let ids = try found(fixture)
    let broken = try #require(try fixture.paths()["/p/0.jpg"])
    #expect(broken == ids[0])
    fixture.disk.setFailing(["/p/0.jpg"])
    fixture.disk.pass(10)
    for _ in 0..<12 { try turn(fixture) }
    #expect(fixture.reconciler.retries.all.keys.sorted() == [broken])
    #expect(fixture.disk.readCount == Self.count - 1)
  }

  @Test func aSyncDoesNotReadThem() throws {
    let fixture = try ReconcilerFixture()
    _ = try found(fixture)
    fixture.disk.pass(10)
    for number in 1...3 { try fixture.apply(.synced(number: UInt64(number))) }
    #expect(fixture.disk.failedReadCount == Self.count)
  }

  /// Files in memory, and one on tmpfs.
  private final class MixedFiles: PhotoFiles {
    static let sparse = Fixture.bytes("/p/sparse.tif")
    let memory = MemoryDisk()
    let disk = DiskFiles()
    let path = Fixture.bytes("/dev/shm/photod-sparse-\(UInt64.random(in: .min ... .max)).tif")

    /// A BigTIFF of 70,000 bytes with an offset of the first directory just below 2^63, which pread(2) rejects with
    /// EINVAL.
    init() throws {
      let directory = withUnsafeBytes(of: UInt64(Int64.max - 8).littleEndian, Array.init)
      let header: [UInt8] = [0x49, 0x49, 43, 0, 8, 0, 0, 0] + directory
      let descriptor = withCPath(path) { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      try #require(ftruncate(descriptor, 70_000) == 0 && write(descriptor, header, header.count) == header.count)
    }

    deinit { _ = withCPath(path) { unlink($0) } }

    func stat(_ path: [UInt8]) -> FileStat? { path == Self.sparse ? disk.stat(self.path) : memory.stat(path) }
    func exists(_ path: [UInt8]) -> Bool { path == Self.sparse || memory.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      path == Self.sparse
        ? disk.read(self.path, expecting: expected, isSampled: isSampled)
        : memory.read(path, expecting: expected, isSampled: isSampled)
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? {
      memory.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn)
    }
    var readCount: Int { memory.readCount }
  }

  /// A damaged file does not mean that the disk fails. It is read once and does not cause retries of 5,000 other files.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aDamagedFileCausesNoRetryOfOtherFiles() throws {
    let files = try MixedFiles()
    let fixture = try ReconcilerFixture(files: files)
    let names = (0..<5_000).map { "\($0).jpg" }
    files.memory.setFailing(names.map { "/p/" + $0 })
    let damaged = try #require(files.stat(MixedFiles.sparse))
    try fixture.apply(
      all: [Fixture.top, Fixture.file("sparse.tif", damaged)]
        + names.map { Fixture.file($0, files.memory.write("/p/" + $0)) })
    #expect(files.memory.failedReadCount == 5_000 && files.disk.readCount == 1)
    let id = try #require(try fixture.paths()["/p/sparse.tif"])
    #expect(fixture.reconciler.retries[id] == nil && fixture.reconciler.retries.all.count == 5_000)
    #expect(fixture.reconciler.retries.all.values.allSatisfy { !$0.isPending })
    for _ in 0..<200 {
      let before = files.memory.failedReadCount
      files.memory.pass(1)
      try fixture.catalog.write { writer in
        var batch = Batch(writer: writer, time: files.memory.wallTime, uptime: files.memory.bootTime)
        try fixture.reconciler.readAgainWhatIsDue(in: &batch)
      }
      #expect(files.memory.failedReadCount - before <= 1)
    }
    #expect(files.memory.failedReadCount <= 5_000 + 200 && files.disk.readCount == 1)
  }

  @Test func failingFilesAreNotPending() async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    #expect(fixture.disk.write("/pics/a.jpg", isDone: true))
    fixture.disk.failsReading = true
    let stat = try #require(fixture.disk.stat(Array("/pics/a.jpg".utf8)))
    await fixture.take([.fileFound(directory: 1, name: Array("a.jpg".utf8), stat: stat)])
    let status = fixture.library.statusStore.status
    #expect(status.state == .live && status.assetCount == 1)
    #expect(status.pendingCount == 0)
    #expect(status.warnings.count == 1 && status.warnings[0].contains("/pics/a.jpg: its content can't be read"))
  }

  /// A lack of descriptors may have passed a moment later.
  @Test func aFailureThatPassesIsOverAfterASecond() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.setFailing(["/p/a.jpg"])
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    #expect(fixture.disk.readCount == 0 && fixture.disk.failedReadCount == 1)
    fixture.disk.setFailing([])
    try turn(fixture)
    #expect(fixture.disk.readCount == 1 && fixture.reconciler.retries.isEmpty)
  }
}
