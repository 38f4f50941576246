import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Clients keep pictures by id and revision. So a revision never stands for two contents, and stays while the content
/// is proven to be the same.
@Suite struct RevisionTests {
  static let largeFile: Int64 = 10_000_000

  /// /p/a.jpg: a settled favorite. Only a part of the file is read, so there is no hash of it. 100 seconds pass.
  private func favorite(bytes: Int64 = Self.largeFile) throws -> (ReconcilerFixture, id: AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: bytes, beginning: 7)))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(100)
    return (fixture, id)
  }

  private func found(_ name: String, _ stat: FileStat, isWritten: Bool = false) -> WatchRecord {
    .fileFound(directory: 1, name: Fixture.bytes(name), stat: stat, event: FileEvent(time: 0, isWritten: isWritten))
  }

  /// A program edits /p/a.jpg, and keeps its size, its time and all bytes that photod reads.
  private func editQuietly(_ fixture: ReconcilerFixture) throws {
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(found("a.jpg", stat, isWritten: true))
    fixture.disk.pass(100)
  }

  /// Gives a file the size and the modification time of another one.
  private func setTime(_ path: String, as other: FileStat, on disk: MemoryDisk) throws -> FileStat {
    var stat = try #require(disk.stat(Fixture.bytes(path)))
    (stat.byteCount, stat.modificationTime) = (other.byteCount, other.modificationTime)
    disk.setStat(stat, of: path)
    return stat
  }

  // MARK: Files that can't be read at once

  @Test(arguments: [true, false]) func quietEditThatIsReadLaterIsAChange(isAcrossARestart: Bool) throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(all: [found("a.jpg", stat, isWritten: true)], contents: [0: .late])
    #expect(try fixture.revision(id) == before, "no client learns of this change yet")
    if isAcrossARestart {
      try fixture.restart()
      #expect(try fixture.scan([("a.jpg", stat)]).updatedAssets == [id: .content])
    } else {
      #expect(try fixture.apply(.synced(number: 1)).updatedAssets == [id: .content])
    }
    let after = try fixture.revision(id)
    #expect(after != before)
    fixture.disk.pass(100)
    #expect(try fixture.scan([("a.jpg", stat)]).isEmpty)
    #expect(try fixture.revision(id) == after)
  }

  /// A share is read in the background, and for a scan without a sample.
  @Test func quietEditThatAScanFindsAndThatIsReadLaterIsAChange() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg")
    try fixture.restart()
    let records = Fixture.scan([("a.jpg", stat)])
    let index = try #require(records.firstIndex { if case .fileFound = $0 { true } else { false } })
    try fixture.apply(all: records, contents: [index: .late])
    #expect(try fixture.revision(id) == before)
    let reading = fixture.disk.read(Fixture.bytes("/p/a.jpg"), expecting: stat, isSampled: false)
    let record = try fixture.catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: id))
      var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.refresh(row, stat, reading: reading, in: &batch)
      return batch.record
    }
    #expect(record.updatedAssets == [id: .content])
    #expect(try fixture.revision(id) != before)
  }

  @Test func writeThatChangesNothingAndIsReadLaterIsNoChange() throws {
    // The hash of a small file is known at once.
    let (fixture, id) = try favorite(bytes: 100)
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(all: [found("a.jpg", stat, isWritten: true)], contents: [0: .late])
    #expect(try fixture.apply(.synced(number: 1)).isEmpty)
    #expect(try fixture.revision(id) == before)
  }

  @Test func newPermissionsThatAreReadLaterAreNoChange() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(all: [found("a.jpg", stat)], contents: [0: .late])
    #expect(try fixture.apply(.synced(number: 1)).isEmpty)
    #expect(try fixture.revision(id) == before)
  }

  /// photod-watch reports the file before its time is set back, and it is read afterwards.
  @Test func editWhoseTimeIsSetBackBeforeItIsReadIsAChange() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let old = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    var written = fixture.disk.edit("/p/a.jpg", editsContent: false)
    written.modificationTime = written.changeTime
    try fixture.apply(all: [found("a.jpg", written, isWritten: true)], contents: [0: .late])
    fixture.disk.pass(1)
    fixture.disk.edit("/p/a.jpg", editsContent: false)
    #expect(fixture.disk.stat(Fixture.bytes("/p/a.jpg"))?.modificationTime == old.modificationTime)
    #expect(try fixture.apply(.synced(number: 1)).updatedAssets == [id: .content])
    #expect(try fixture.revision(id) != before)
  }

  @Test func fileThatWasEmptyForAMomentHasNewContent() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    var empty = fixture.disk.edit("/p/a.jpg", editsContent: false)
    empty.byteCount = 0
    try fixture.apply(found("a.jpg", empty, isWritten: true))
    fixture.disk.pass(1)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    #expect(try fixture.scan([("a.jpg", stat)]).updatedAssets == [id: .content])
    #expect(try fixture.revision(id) != before)
  }

  /// The background work makes samples and hashes. Samples and hashes of the new content would hide that it differs.
  @Test func marksOfAFileThatCouldNotBeReadAreNotKept() throws {
    let (fixture, id) = try favorite()
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(all: [found("a.jpg", stat, isWritten: true)], contents: [0: .late])
    try fixture.catalog.write { writer in
      var row = try #require(try writer.file(ofAsset: id))
      row.marks.hash = ContentDigest(high: 1, low: 2)
      try writer.keepMarks(of: row)
      #expect(try writer.file(ofAsset: id)?.marks.hash == nil)
    }
  }

  /// The next reading is compared with the marks of the last one, even if the change time differs (see ``IdentityProof``).
  @Test(arguments: [true, false]) func marksOfTheLastReadingStayUntilTheNext(isWritten: Bool) throws {
    let (fixture, id) = try favorite()
    func marks() throws -> ContentMarks {
      try fixture.catalog.read { try #require(try $0.file(ofAsset: id)).marks }
    }
    let before = try marks()
    #expect(before.sample != nil)
    // Only a write changes the modification time.
    let stat = isWritten ? fixture.disk.write("/p/a.jpg") : fixture.disk.edit("/p/a.jpg")
    try fixture.apply(all: [found("a.jpg", stat, isWritten: true)], contents: [0: .late])
    #expect(try marks() == (isWritten ? before.voided : before))
  }

  // MARK: Copies

  @Test(arguments: [true, false]) func copyInThePlaceOfThePhotoIsNoChange(isScanned: Bool) throws {
    let (fixture, id) = try favorite()
    try editQuietly(fixture)
    let before = try fixture.revision(id)
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    let stat = fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")
    if isScanned {
      try fixture.restart()
      #expect(try fixture.scan([("a.jpg", stat)]).isEmpty)
    } else {
      #expect(try fixture.apply(found("a.jpg", stat, isWritten: true)).isEmpty)
    }
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.revision(id) == before)
  }

  @Test(arguments: [true, false]) func otherFileInThePlaceOfThePhotoIsAChange(isScanned: Bool) throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let old = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.write("/p/a.jpg", bytes: Self.largeFile, beginning: 7)
    let stat = try setTime("/p/a.jpg", as: old, on: fixture.disk)
    if isScanned {
      try fixture.restart()
      try fixture.scan([("a.jpg", stat)])
    } else {
      try fixture.apply(found("a.jpg", stat, isWritten: true))
    }
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.revision(id) != before)
  }

  @Test func assetThatTakesTheFileOfACopyGetsAnotherRevisionOnlyWithOtherBytes() throws {
    for hasNewBytes in [true, false] {
      let (fixture, id) = try favorite()
      let before = try fixture.revision(id)
      try fixture.catalog.write { writer in
        let row = try #require(try writer.file(ofAsset: id))
        var copy = row
        copy.name = Fixture.bytes("b.jpg")
        try writer.moveFile(
          row, toCopy: copy, try #require(try writer.content(of: id)), hasNewBytes: hasNewBytes,
          changesAvailability: false)
        try writer.append(origin: "test", date: fixture.disk.wallTime)
      }
      #expect(try (fixture.revision(id) != before) == hasNewBytes)
    }
  }

  /// A scan found both names, so neither has a sample.
  @Test func secondNameHasTheBytesOfItsFile() throws {
    let (fixture, id) = try favorite()
    var row = try #require(try fixture.catalog.read { try $0.file(ofAsset: id) })
    row.marks = row.marks.voided
    var second = row
    second.name = Fixture.bytes("b.jpg")
    #expect(!fixture.reconciler.hasNewBytes(row, asOf: second))
    var other = second
    other.inode += 1
    #expect(fixture.reconciler.hasNewBytes(row, asOf: other))
    other = second
    other.byteCount += 1
    #expect(fixture.reconciler.hasNewBytes(row, asOf: other))
    row.isInDoubt = true
    #expect(fixture.reconciler.hasNewBytes(row, asOf: second))
  }

  /// In between, the file may have had another content, of which a picture was made.
  @Test func photoInDoubtThatTakesTheFileOfItsCopyHasAnotherRevision() throws {
    let (fixture, id) = try favorite()
    var row = try #require(try fixture.catalog.read { try $0.file(ofAsset: id) })
    var copy = row
    (copy.name, copy.inode) = (Fixture.bytes("b.jpg"), copy.inode + 1)
    #expect(!fixture.reconciler.hasNewBytes(row, asOf: copy))
    row.isInDoubt = true
    #expect(fixture.reconciler.hasNewBytes(row, asOf: copy))
  }

  /// The photo continues as its copy. If a program saves the copy, the photo counts as deleted.
  @Test(arguments: [false, true]) func photoInDoubtThatEndsWithItsCopyHasAnotherRevision(isInDoubt: Bool) throws {
    let (fixture, id) = try favorite()
    let former = try fixture.catalog.write { writer in
      var row = try #require(try writer.file(ofAsset: id))
      row.isInDoubt = isInDoubt
      try writer.updateStat(row)
      var copy = row
      (copy.name, copy.inode) = (Fixture.bytes("b.jpg"), copy.inode + 1)
      let batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.noteCopy(copy, of: row, in: batch)
      return try #require(fixture.reconciler.remembered.arrival(of: copy)?.former)
    }
    #expect((former.contentVersion != 0) == isInDoubt)
  }

  // MARK: Deletion and return

  /// A photo that was seen empty is exchanged with another one. The first rename ends one of them for a moment.
  @Test(arguments: [false, true]) func photoInDoubtThatIsExchangedIsReportedIfItsRevisionChanges(isFirst: Bool) throws {
    let (fixture, id) = try favorite()
    try fixture.apply(found("b.jpg", fixture.disk.write("/p/b.jpg", bytes: Self.largeFile, beginning: 8)))
    let other = try #require(try fixture.paths()["/p/b.jpg"])
    fixture.disk.pass(100)
    var empty = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    empty.byteCount = 0
    try fixture.apply(found("a.jpg", empty, isWritten: true))
    let before = try [id, other].map { try fixture.revision($0) }
    fixture.disk.exchange("/p/a.jpg", "/p/b.jpg")
    let moves = [("a.jpg", "b.jpg"), ("b.jpg", "a.jpg")].map { from, to in
      Fixture.moved(from, to: to, fixture.disk.stat(Fixture.bytes("/p/" + to)))
    }
    let record = try fixture.apply(all: isFirst ? moves : moves.reversed())
    #expect(try fixture.paths() == ["/p/b.jpg": id, "/p/a.jpg": other])
    for (asset, old) in zip([id, other], before) {
      let isReported = record.updatedAssets[asset]?.contains(.content) ?? false
      #expect(try (fixture.revision(asset) != old) == isReported, "\(record.updatedAssets)")
    }
  }

  enum Edits: CaseIterable { case none, quiet, usual }

  @Test(arguments: Edits.allCases) func photoThatReturnsHasItsRevision(_ edits: Edits) throws {
    let (fixture, id) = try favorite()
    let first = try fixture.revision(id)
    switch edits {
    case .none: break
    case .quiet: try editQuietly(fixture)
    case .usual:
      try fixture.apply(found("a.jpg", fixture.disk.write("/p/a.jpg", bytes: Self.largeFile), isWritten: true))
      fixture.disk.pass(100)
    }
    let before = try fixture.revision(id)
    #expect((before == first) == (edits == .none))
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    #expect(try fixture.apply(Fixture.gone("a.jpg")).deletedAssets == [id])
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/b.jpg")))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
    #expect(try fixture.revision(id) == before)
  }

  @Test func copyOfADeletedPhotoHasItsRevision() throws {
    let (fixture, id) = try favorite()
    try editQuietly(fixture)
    let before = try fixture.revision(id)
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.revision(id) == before)
  }

  @Test func photoThatWasEditedQuietlyWhileItWasAwayHasAnotherRevision() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(100)
    fixture.disk.edit("/elsewhere/a.jpg")
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.revision(id) != before)
  }

  /// The edit was reported, but the file left before it could be read.
  @Test func photoThatLeftBeforeItsEditWasReadHasAnotherRevision() throws {
    let (fixture, id) = try favorite()
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    try fixture.apply(all: [found("a.jpg", stat, isWritten: true)], contents: [0: .late])
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.revision(id) != before)
  }

  // MARK: A new catalog

  /// A client has pictures of all contents that the photos ever had, by id and revision. The journal brings the id of
  /// the favorite back, and not the versions of its contents.
  @Test func newCatalogRepeatsNoRevisionWithAnotherContent() throws {
    let (fixture, id) = try favorite()
    try fixture.catalog.write(durable: true) { writer in
      var edit = AssetEdit()
      edit.title = "in the journal"
      _ = try writer.perform([.editAssets([id], edit)])
      try writer.append(origin: "client:test", date: fixture.disk.wallTime)
    }
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", bytes: Self.largeFile, beginning: 8)))
    fixture.disk.pass(100)
    /// The number of the content for each id and revision. All contents have the same size, time and beginning.
    var known: [String: Int] = [:]
    var content = 0
    func note() throws {
      for id in try fixture.paths().values {
        let key = "\(id)-\(try fixture.revision(id))"
        #expect(known[key] == nil || known[key] == content, "\(key)")
        known[key] = content
      }
    }
    func edit() throws {
      content += 1
      for name in ["a.jpg", "b.jpg"] {
        let stat = fixture.disk.edit("/p/\(name)", editsContent: false)
        try fixture.apply(found(name, stat, isWritten: true))
      }
      fixture.disk.pass(100)
    }
    try note()
    for _ in 0..<3 {
      try edit()
      try note()
      try fixture.loseCatalog()
      // A program edits the files before the next photod reads them.
      content += 1
      let stats = ["a.jpg", "b.jpg"].map { ($0, fixture.disk.edit("/p/\($0)", editsContent: false)) }
      try fixture.scan(stats)
      #expect(try fixture.paths()["/p/a.jpg"] == id)
      fixture.disk.pass(100)
      try note()
    }
    // Each content of each photo has a revision of its own: the first one, and two in each round.
    #expect(known.count == 2 * 7)
  }
}
