import PhotoModel
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A turn of the library's queue reads slow files for a limited time.
@Suite struct TurnTests {
  /// Files in memory. Each file takes a second to read, or to sample.
  private final class SlowFiles: PhotoFiles {
    let memory = MemoryDisk()
    let isSlow = Atomic(false)
    /// Whether each look at a path takes a tenth of a second.
    let areLooksSlow = Atomic(false)

    private func wait() { if isSlow.load(ordering: .relaxed) { memory.pass(1) } }

    func mayWait(_ path: [UInt8]) -> Bool { areLooksSlow.load(ordering: .relaxed) }
    func stat(_ path: [UInt8]) -> FileStat? {
      if areLooksSlow.load(ordering: .relaxed) { memory.pass(milliseconds: 100) }
      return memory.stat(path)
    }
    func exists(_ path: [UInt8]) -> Bool { memory.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      wait()
      return memory.read(path, expecting: expected, isSampled: isSampled)
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? {
      wait()
      return memory.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn)
    }
    func isRemote(_ path: [UInt8]) -> Bool { memory.isRemote(path) }
    var readCount: Int { memory.readCount }
  }

  private static let count = 100
  private static let names = (0..<count).map { "\($0).jpg" }

  private let slow: SlowFiles
  private let files: TurnFiles
  private let fixture: ReconcilerFixture

  init() throws {
    let slow = SlowFiles()
    files = TurnFiles(slow) { slow.memory.bootTime }
    fixture = try ReconcilerFixture(disk: slow.memory, files: files)
    self.slow = slow
  }

  /// The longest turn: the limit, and the file with which it ends, which is read and sampled.
  private static func mostSeconds(isRemote: Bool) -> Int64 { isRemote ? 2 : 11 }

  /// The seconds that `body` takes in a turn.
  private func turn(_ body: () throws -> Void) rethrows -> Int64 {
    files.begin()
    let start = slow.memory.time
    try body()
    return (slow.memory.time - start) / 1_000_000_000
  }

  /// The library reads the rest in turns that come each second.
  private func readAll(isRemote: Bool) throws {
    var turns = 0
    while !fixture.reconciler.retries.isEmpty {
      turns += 1
      try #require(turns <= 3 * Self.count)
      slow.memory.pass(1)
      let seconds = try turn {
        try fixture.catalog.write { writer in
          var batch = Batch(writer: writer, time: slow.memory.wallTime, uptime: slow.memory.bootTime)
          try fixture.reconciler.readAgainWhatIsDue(in: &batch)
          if !batch.record.isEmpty { try writer.append(origin: batch.origin, date: slow.memory.wallTime) }
        }
      }
      #expect(seconds <= Self.mostSeconds(isRemote: isRemote))
    }
  }

  /// A restored folder: a scan finds another file in each place, and nothing was read ahead.
  @Test(arguments: [true, false]) func heldFilesAreReadInManyTurns(isRemote: Bool) throws {
    if isRemote { slow.memory.moveToShare() }
    try fixture.scan(Self.names.map { ($0, slow.memory.write("/p/" + $0, bytes: 200_000)) })
    let ids = try fixture.paths()
    slow.memory.pass(1_000)
    for name in Self.names {
      slow.memory.remove("/p/" + name)
      slow.memory.write("/p/" + name, camera: "X200", bytes: 200_000)
    }
    slow.isSlow.store(true, ordering: .relaxed)
    let found = try Self.names.map { ($0, try #require(slow.memory.stat(Fixture.bytes("/p/" + $0)))) }
    #expect(try turn { try fixture.scan(found) } <= Self.mostSeconds(isRemote: isRemote))
    #expect(fixture.reconciler.retries.all.count >= Self.count - 11)
    try readAll(isRemote: isRemote)
    #expect(try fixture.paths() == ids)
    for name in Self.names { #expect(try fixture.asset("/p/" + name).camera?.model == "X200") }
  }

  /// A deleted folder that is put back: each file needs a sample to be recognised.
  @Test(arguments: [true, false]) func deletedPhotosThatComeBackAreRecognisedInManyTurns(isRemote: Bool) throws {
    if isRemote { slow.memory.moveToShare() }
    // Nearly all of them are sampled when they are written.
    let written = Self.names.map { Fixture.file($0, slow.memory.write("/p/" + $0, bytes: 200_000)) }
    try fixture.apply(all: [Fixture.top] + written)
    let ids = try fixture.paths()
    for id in ids.values { try fixture.give(id) }
    slow.memory.pass(1_000)
    for name in Self.names { slow.memory.copy("/p/" + name, "/backup/" + name, device: 2) }
    for name in Self.names { slow.memory.remove("/p/" + name) }
    try fixture.apply(all: Self.names.map { Fixture.gone($0) })
    #expect(try fixture.paths().isEmpty)
    slow.memory.pass(1_000)
    for name in Self.names { slow.memory.copy("/backup/" + name, "/p/" + name) }
    slow.isSlow.store(true, ordering: .relaxed)
    let found = try Self.names.map { ($0, try #require(slow.memory.stat(Fixture.bytes("/p/" + $0)))) }
    #expect(try turn { try fixture.scan(found) } <= Self.mostSeconds(isRemote: isRemote))
    try readAll(isRemote: isRemote)
    #expect(try fixture.paths() == ids)
    for name in Self.names { #expect(try fixture.asset("/p/" + name).isFavorite) }
  }

  /// All permissions were changed while photod was down, and some files were edited and their times set back. Each file was
  /// read ahead, but not sampled.
  @Test(arguments: [true, false]) func filesWhoseChangeTimeDiffersAreSampledInManyTurns(isRemote: Bool) throws {
    if isRemote { slow.memory.moveToShare() }
    let written = Self.names.enumerated().map { number, name in
      Fixture.file(name, slow.memory.write("/p/" + name, bytes: 200_000, beginning: 1_000 + UInt64(number)))
    }
    try fixture.apply(all: [Fixture.top] + written)
    let ids = try fixture.paths()
    slow.memory.pass(1_000)
    let edited = Set(Self.names.filter { $0.hasSuffix("3.jpg") })
    let found = Self.names.map { ($0, slow.memory.edit("/p/" + $0, editsContent: edited.contains($0))) }
    try fixture.restart()
    let before = try fixture.catalog.read { try $0.sequence() }
    var contents: [Int: ContentReading] = [:]
    let records = Fixture.scan(found)
    for (index, record) in records.enumerated() {
      guard case .fileFound(_, let name, let stat, _) = record else { continue }
      contents[index] = slow.memory.read(Fixture.bytes("/p/") + name, expecting: stat, isSampled: false)
    }
    slow.isSlow.store(true, ordering: .relaxed)
    #expect(try turn { try fixture.apply(all: records, contents: contents) } <= Self.mostSeconds(isRemote: isRemote))
    #expect(fixture.reconciler.retries.all.count >= Self.count - 11)
    try readAll(isRemote: isRemote)
    let touched = try fixture.catalog.read { try $0.touched(after: before, through: .max) }
    let told = touched.fields.filter { $0.value.contains(.content) }.keys
    #expect(Set(told) == Set(edited.compactMap { ids["/p/" + $0] }))
  }

  /// A backup was put back while photod was down: each place has a copy of its file, with its times. The sample that
  /// shows that the content is the same must wait for a later turn.
  @Test(arguments: [true, false]) func copiesInThePlacesOfTheirOriginalsAreSampledInManyTurns(isRemote: Bool) throws {
    if isRemote { slow.memory.moveToShare() }
    let written = Self.names.map { Fixture.file($0, slow.memory.write("/p/" + $0, bytes: 200_000)) }
    try fixture.apply(all: [Fixture.top] + written)
    let ids = try fixture.paths()
    slow.memory.pass(1_000)
    for name in Self.names { slow.memory.copy("/p/" + name, "/backup/" + name) }
    for name in Self.names { slow.memory.remove("/p/" + name) }
    for name in Self.names { slow.memory.copy("/backup/" + name, "/p/" + name) }
    try fixture.restart()
    slow.isSlow.store(true, ordering: .relaxed)
    let found = try Self.names.map { ($0, try #require(slow.memory.stat(Fixture.bytes("/p/" + $0)))) }
    #expect(try turn { try fixture.scan(found) } <= Self.mostSeconds(isRemote: isRemote))
    try readAll(isRemote: isRemote)
    #expect(try fixture.paths() == ids)
    for (name, stat) in found {
      let row = try fixture.catalog.read { try $0.file(ofAsset: try #require(ids["/p/" + name])) }
      #expect(try #require(row).hasIdentity(of: stat))
    }
  }

  /// A sync waits for a file that stands in for a photo, also if its turn has no time left.
  @Test func fileThatStandsInForAPhotoIsReadInALaterTurnOfASync() throws {
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", slow.memory.write("/p/a.jpg")))
    slow.memory.pass(100)
    slow.memory.remove("/p/a.jpg")
    slow.memory.write("/p/a.jpg", camera: "C")
    let stat = slow.memory.move("/p/a.jpg", "/p/z.jpg")
    let pending = Self.names.map { Fixture.file($0, slow.memory.write("/p/" + $0)) }
    var late: [Int: ContentReading] = [:]
    for index in pending.indices { late[index] = .raced }
    files.begin()
    slow.isSlow.store(true, ordering: .relaxed)
    while !files.isTurnOver { _ = files.read(Fixture.bytes("/p/0.jpg"), expecting: stat, isSampled: true) }
    try fixture.apply(all: pending, contents: late)
    try fixture.apply(Fixture.moved("a.jpg", to: "z.jpg", stat))
    try fixture.apply(.synced(number: 1))
    var turns = 0
    while true {
      turns += 1
      try #require(turns <= Self.count)
      files.begin()
      let progress = try fixture.catalog.write { writer in
        var batch = Batch(writer: writer, time: slow.memory.wallTime, uptime: slow.memory.bootTime)
        defer { _ = try? writer.append(origin: "test", date: slow.memory.wallTime) }
        return try fixture.reconciler.readAgain(fixture.reconciler.retries.pending, in: &batch)
      }
      if progress == .complete { break }
    }
    #expect(try fixture.asset("/p/z.jpg").camera?.model == "C")
  }

  /// Another machine renames photos of a share. The library has no time to look for all of them in their former places.
  @Test func renamedPhotosOfASlowShareKeepTheirIds() throws {
    slow.memory.moveToShare()
    try fixture.scan(Self.names.map { ($0, slow.memory.write("/p/" + $0)) })
    let ids = try fixture.paths()
    for id in ids.values { try fixture.give(id) }
    slow.memory.pass(1_000)
    let moved = Self.names.map { ("n" + $0, slow.memory.move("/p/" + $0, "/p/n" + $0)) }
    slow.areLooksSlow.store(true, ordering: .relaxed)
    _ = try turn { try fixture.scan(moved) }
    #expect(try fixture.paths() == Dictionary(uniqueKeysWithValues: Self.names.map { ("/p/n" + $0, ids["/p/" + $0]!) }))
  }

  /// A scan finds a page that begins as a deleted page of the same scanner. The page was read ahead, but its sample must
  /// wait for a later turn. So its revision changes then, and clients must learn that.
  @Test func fingerprintThatComesInALaterTurnIsReported() throws {
    let memory = slow.memory
    try fixture.scan([("0.tif", memory.write("/p/0.tif", bytes: 5_000_000, beginning: 7))])
    memory.pass(1_000)
    memory.remove("/p/0.tif")
    try fixture.apply(Fixture.gone("0.tif"))
    let stat = memory.write("/p/1.tif", bytes: 5_000_000, beginning: 7)
    memory.pass(1_000)
    let records = Fixture.scan([("1.tif", stat)])
    let index = try #require(records.firstIndex { if case .fileFound = $0 { true } else { false } })
    memory.moveToShare()
    files.begin()
    slow.isSlow.store(true, ordering: .relaxed)
    let reading = files.read(Fixture.bytes("/p/1.tif"), expecting: stat, isSampled: false)
    slow.isSlow.store(false, ordering: .relaxed)
    #expect(files.isTurnOver)
    try fixture.apply(all: records, contents: [index: reading])
    let page = try fixture.asset("/p/1.tif")
    #expect(page.camera?.model == "X100")
    files.begin()
    let record = try fixture.catalog.write { writer in
      var batch = Batch(writer: writer, time: memory.wallTime, uptime: memory.bootTime + .seconds(1))
      try fixture.reconciler.readAgainWhatIsDue(in: &batch)
      return batch.record
    }
    #expect(fixture.reconciler.retries.isEmpty)
    #expect(record.updatedAssets == [page.id: .content])
    #expect(try fixture.revision(page.id) != page.revision)
  }
}
