import GRDBSQLite
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The reconciler's work grows linearly with the number of files, not with the square.
@Suite struct WorkTests {
  /// A path through the reconciler. Each one takes in n files.
  enum Way: CaseIterable {
    case new, unchanged, renamed, renamedWhileDown, exchangedWhileDown, replacedWhileDown, edited, removed
    case copiesRemoved, copiesRemovedOneByOne, copiesRemovedByAScan, copiesReturned, copiesReturnedByAScan
    case exchanged, saved, savedByPhotos, movedToAnotherDisk, folderRemoved, folderMoved, folderOfFoldersMoved
    case restored, pagesRestored, pagesRestoredByAScan
    case returned, linked, linkedOneByOne, linksRenamed, linkEdited, linksRemoved
    case copiesScannedInCommits, copiesAddedInCommits, favoriteCopies
    case lostCatalog, lostCatalogOfPages
    case foldersRenamedWhileDown, foldersExchangedWhileDown, foldersRemovedWhileDown, foldersRestoredWhileDown
    case namesExcluded, renamedOnACard, renamedOnACardWithNewInodes
    case copiesRemovedFromACard, copiesWithOtherTimesRemovedFromACard
    case lateHashes, movedToAnotherDiskByAScan, missedAndFound, missedTwice
  }

  /// Steps of SQLite's virtual machine, in tens.
  private final class Steps: Sendable {
    let count = Atomic(0)
  }

  private static let count = 300
  /// Twice the files are twice the work, plus a little for the logarithm of a tree. A square would be four times the
  /// work.
  private static let limit = 2.7
  /// The same for four times the files. It also finds a square that is a small part of the work for few files.
  private static let limitOfFourTimes = 5.0

  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: Way.allCases) func workGrowsLinearlyWithTheFiles(
    way: Way
  ) throws {
    let (one, two) = (try work(of: way, Self.count), try work(of: way, 2 * Self.count))
    let four = try work(of: way, 4 * Self.count)
    #expect(Double(two) < Self.limit * Double(one), "\(way): \(one), \(two) and \(four)")
    #expect(Double(four) < Self.limitOfFourTimes * Double(one), "\(way): \(one), \(two) and \(four)")
  }

  /// Takes in n files and counts the work: reads, examined files, comparisons in memory, and steps of SQLite.
  private func work(of way: Way, _ count: Int) throws -> Int {
    let fixture = try ReconcilerFixture(grace: [.missedAndFound, .missedTwice].contains(way) ? .seconds(600) : .zero)
    let steps = Steps()
    let act = try prepare(way, count, fixture)
    try fixture.catalog.write { writer in
      let connection = try writer.database.sqliteConnection
      sqlite3_progress_handler(
        connection, 10,
        { steps in
          Unmanaged<Steps>.fromOpaque(steps!).takeUnretainedValue().count.add(1, ordering: .relaxed)
          return 0
        }, Unmanaged.passUnretained(steps).toOpaque())
    }
    let (stats, reads) = (fixture.disk.statCount, fixture.disk.readCount)
    let compared = fixture.reconciler.remembered.comparedCount
    try act()
    try fixture.catalog.write { sqlite3_progress_handler(try $0.database.sqliteConnection, 0, nil, nil) }
    return steps.count.load(ordering: .relaxed) + 10 * (fixture.disk.statCount - stats + fixture.disk.readCount - reads)
      + fixture.reconciler.remembered.comparedCount - compared
  }

  /// Prepares the library for a path.
  ///
  /// - Returns: a function that takes the path.
  private func prepare(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> () throws -> Void {
    let disk = fixture.disk
    let names = (0..<count).map { "\($0).jpg" }
    func found(_ name: String) -> WatchRecord { Fixture.file(name, disk.stat(Fixture.bytes("/p/" + name))!) }
    func all() -> [(String, FileStat)] { names.map { ($0, disk.stat(Fixture.bytes("/p/" + $0))!) } }
    let areCopies = [
      .copiesRemoved, .copiesRemovedOneByOne, .copiesRemovedByAScan, .copiesReturned, .copiesReturnedByAScan,
    ].contains(way)
    if let act = try prepareFolders(way, count, fixture) ?? prepareProofs(way, count, fixture)
      ?? prepareCopies(way, count, fixture) ?? prepareScans(way, count, fixture)
    {
      return act
    }
    let isLinked = [.linked, .linkedOneByOne, .linksRenamed, .linkEdited, .linksRemoved].contains(way)
    if isLinked {
      disk.write("/p/" + names[0])
      for name in names.dropFirst() { _ = disk.link("/p/" + names[0], "/p/" + name) }
    } else {
      for name in names { disk.write("/p/" + name, content: areCopies ? 1 : nil) }
    }
    if way == .new { return { try fixture.scan(all()) } }
    let isKnown = way != .linked && way != .linkedOneByOne
    try fixture.scan(isKnown ? all() : Array(all().prefix(1)))
    // Copies are removed within the hour in which they came.
    disk.pass(areCopies ? 600 : 7_200)
    switch way {
    case .new: return {}
    case .unchanged: return { try fixture.scan(all()) }
    case .renamed, .linksRenamed:
      let records = names.map { Fixture.moved($0, to: "n" + $0, disk.move("/p/" + $0, "/p/n" + $0)) }
      return { try fixture.apply(all: records) }
    case .renamedWhileDown:
      let moved = names.map { ("n" + $0, disk.move("/p/" + $0, "/p/n" + $0)) }
      try fixture.restart()
      return { try fixture.scan(moved) }
    case .exchangedWhileDown:
      for name in names { disk.move("/p/" + name, "/p/old" + name) }
      for (index, name) in names.enumerated() { disk.move("/p/old" + name, "/p/" + names[(index + 1) % count]) }
      try fixture.restart()
      return { try fixture.scan(all()) }
    case .replacedWhileDown:
      for name in names {
        disk.remove("/p/" + name)
        disk.write("/p/" + name)
      }
      try fixture.restart()
      return { try fixture.scan(all()) }
    case .edited:
      for name in names { disk.write("/p/" + name, bytes: 200) }
      return { try fixture.apply(all: names.map(found)) }
    case .removed, .linksRemoved:
      for name in names { disk.remove("/p/" + name) }
      return { try fixture.apply(all: names.map { Fixture.gone($0) }) }
    case .copiesRemoved, .copiesRemovedOneByOne, .copiesRemovedByAScan:
      for name in names { disk.remove("/p/" + name) }
      if way == .copiesRemovedByAScan { return { try fixture.scan([]) } }
      if way == .copiesRemovedOneByOne { return { for name in names { try fixture.apply(Fixture.gone(name)) } } }
      return { try fixture.apply(all: names.map { Fixture.gone($0) }) }
    case .copiesReturned, .copiesReturnedByAScan:
      for name in names { disk.remove("/p/" + name) }
      try fixture.apply(all: names.map { Fixture.gone($0) })
      for name in names { disk.write("/p/" + name, content: 1) }
      if way == .copiesReturnedByAScan { return { try fixture.scan(all()) } }
      return { try fixture.apply(all: names.map(found)) }
    case .exchanged:
      var records: [WatchRecord] = []
      for index in stride(from: 0, to: count, by: 2) {
        let (one, other) = (names[index], names[index + 1])
        disk.exchange("/p/" + one, "/p/" + other)
        records.append(Fixture.moved(one, to: other, disk.stat(Fixture.bytes("/p/" + other))))
        records.append(Fixture.moved(other, to: one, disk.stat(Fixture.bytes("/p/" + one))))
      }
      return { try fixture.apply(all: records) }
    case .saved, .savedByPhotos:
      // With `savedByPhotos`, each new file is a photo before it is renamed.
      let suffix = way == .saved ? ".tmp" : ".new.jpg"
      for name in names { disk.write("/p/" + name + suffix) }
      if way == .savedByPhotos { try fixture.apply(all: names.map { found($0 + suffix) }) }
      let records = names.map { Fixture.moved($0 + suffix, to: $0, disk.move("/p/" + $0 + suffix, "/p/" + $0)) }
      return { try fixture.apply(all: records) }
    case .movedToAnotherDisk:
      try fixture.addSecondRoot()
      let copies = names.map { Fixture.file($0, in: 60, disk.copy("/p/" + $0, "/q/" + $0, device: 2)) }
      for name in names { disk.remove("/p/" + name) }
      return {
        try fixture.apply(all: copies)
        try fixture.apply(all: names.map { Fixture.gone($0) })
      }
    case .folderRemoved, .folderMoved, .folderOfFoldersMoved, .restored, .pagesRestored, .pagesRestoredByAScan,
      .copiesScannedInCommits, .copiesAddedInCommits, .favoriteCopies, .lostCatalog, .lostCatalogOfPages,
      .foldersRenamedWhileDown, .foldersExchangedWhileDown, .foldersRemovedWhileDown, .foldersRestoredWhileDown,
      .namesExcluded, .renamedOnACard, .renamedOnACardWithNewInodes, .copiesRemovedFromACard,
      .copiesWithOtherTimesRemovedFromACard, .lateHashes, .movedToAnotherDiskByAScan, .missedAndFound, .missedTwice:
      return {}
    case .returned:
      for name in names { disk.move("/p/" + name, "/trash/" + name) }
      try fixture.apply(all: names.map { Fixture.gone($0) })
      for name in names { disk.move("/trash/" + name, "/p/" + name) }
      return { try fixture.apply(all: names.map(found)) }
    case .linked: return { try fixture.apply(all: names.map(found)) }
    case .linkedOneByOne: return { for name in names { try fixture.apply(found(name)) } }
    case .linkEdited:
      let stat = disk.write("/p/" + names[0], bytes: 300)
      for name in names.dropFirst() { _ = disk.link("/p/" + names[0], "/p/" + name) }
      return { try fixture.apply(Fixture.file(names[0], stat)) }
    }
  }

  /// Shares are mounted in n folders while a scan misses n other files.
  ///
  /// - Returns: how many missing files were examined.
  private func workOfMounting(_ count: Int) throws -> Int {
    let fixture = try ReconcilerFixture()
    let numbers = (0..<DirectoryNumber(count)).map { 10 + $0 }
    let folders = numbers.map { Fixture.found($0, "\($0)", inode: UInt64(100 + $0)) }
    var records = [WatchRecord.scanStarted(root: 1, request: 0, reason: .start), Fixture.top] + folders
    for (index, number) in numbers.enumerated() {
      let stat = fixture.disk.write("/p/\(number)/a.jpg")
      records += [Fixture.file("a.jpg", in: number, stat)]
      records.append(Fixture.file("\(index).jpg", fixture.disk.write("/p/\(index).jpg")))
    }
    try fixture.apply(all: records + [.scanEnded(root: 1, request: 0, complete: true)])
    let before = try fixture.paths()
    #expect(before.count == 2 * count)
    fixture.disk.pass(7_200)
    records = [.scanStarted(root: 1, request: 0, reason: .overflow)]
    for number in [1] + numbers {
      records += [.listingStarted(number: number, evidence: .scan), .listingEnded(number: number, complete: true)]
    }
    records += numbers.map { .unreadable(directory: 1, name: Fixture.bytes("\($0)"), errorNumber: 66) }
    try fixture.apply(all: records)
    let examined = try #require(fixture.reconciler.scans.underWay[1]).missing.examinedCount
    try fixture.apply(.scanEnded(root: 1, request: 0, complete: true))
    // The files on the shares stay, and the others are gone.
    #expect(try Set(fixture.paths().keys) == Set(numbers.map { "/p/\($0)/a.jpg" }))
    return examined
  }

  @Test func sharesThatAreMountedDuringAScanCostNoMoreThanTheirFiles() throws {
    let (one, two) = (try workOfMounting(100), try workOfMounting(200))
    #expect(one == 100 && two == 200)
  }

  /// While a scan of a share holds files in n folders, a folder of a drive is listed n times.
  ///
  /// - Returns: how many folders with held files were looked at.
  private func workOfListingBesideAScan(_ count: Int) throws -> Int {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume("nfs4:host:/photos", of: 2)
    try fixture.apply(Fixture.top)
    try fixture.addSecondRoot()
    func listing(_ index: Int) -> [WatchRecord] {
      let stat = fixture.disk.write("/q/\(index)/a.jpg", device: 2)
      let number = DirectoryNumber(100 + index)
      return [
        .listingStarted(number: number, evidence: .scan), Fixture.file("a.jpg", in: number, stat),
        .listingEnded(number: number, complete: true),
      ]
    }
    for index in 0..<count {
      let identity = FileIdentity(device: 2, inode: UInt64(100 + index), birthTime: 1)
      try fixture.apply(
        .directoryFound(
          number: DirectoryNumber(100 + index), parent: 60, root: 2, name: Fixture.bytes("\(index)"),
          identity: identity))
      try fixture.apply(all: listing(index))
    }
    let before = try fixture.paths()
    #expect(before.count == count)
    fixture.disk.pass(7_200)
    for index in 0..<count { fixture.disk.remove("/q/\(index)/a.jpg") }
    try fixture.apply(all: [.scanStarted(root: 2, request: 0, reason: .overflow)] + (0..<count).flatMap(listing))
    for _ in 0..<count {
      try fixture.apply(.listingStarted(number: 1, evidence: .event), .listingEnded(number: 1, complete: true))
    }
    #expect(fixture.reconciler.held.directories.count { _ in true } == count)
    try fixture.apply(.scanEnded(root: 2, request: 0, complete: true))
    #expect(try fixture.reconciler.held.isEmpty && fixture.paths() == before)
    return fixture.reconciler.held.examinedCount
  }

  @Test func listingsBesideAScanOfAShareDoNotLookAtTheFilesThatItHolds() throws {
    let (one, two) = (try workOfListingBesideAScan(50), try workOfListingBesideAScan(100))
    #expect(one >= 50 && two <= 2 * one, "\(one), then \(two)")
  }

  /// Folders with n files, or n folders with one file each; nil for other paths.
  private func prepareFolders(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> (() throws -> Void)? {
    guard [.folderRemoved, .folderMoved, .folderOfFoldersMoved].contains(way) else { return nil }
    let disk = fixture.disk
    try fixture.apply(Fixture.top, Fixture.found(2, "d", inode: 20))
    var records: [WatchRecord] = []
    for index in 0..<count {
      if way == .folderOfFoldersMoved {
        let number = DirectoryNumber(100 + index)
        records.append(Fixture.found(number, "\(index)", in: 2, inode: number))
        records.append(Fixture.file("a.jpg", in: number, disk.write("/p/d/\(index)/a.jpg")))
      } else {
        records.append(Fixture.file("\(index).jpg", in: 2, disk.write("/p/d/\(index).jpg")))
      }
    }
    try fixture.apply(all: records)
    disk.pass(7_200)
    if way == .folderRemoved {
      for index in 0..<count { disk.remove("/p/d/\(index).jpg") }
      return { try fixture.apply(.directoryGone(number: 2, evidence: .event)) }
    }
    disk.moveFolder("/p/d", "/p/e")
    return { try fixture.apply(.directoryMoved(number: 2, parent: 1, name: Fixture.bytes("e"))) }
  }

  /// Deleted files that a backup brings back with their names and times, so that samples prove what they are. Pages share
  /// size and beginning, so each is a candidate for each. nil for other paths.
  private func prepareProofs(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> (() throws -> Void)? {
    guard [.restored, .pagesRestored, .pagesRestoredByAScan].contains(way) else { return nil }
    let disk = fixture.disk
    let names = (0..<count).map { "\($0).tif" }
    try fixture.apply(Fixture.top)
    // An event makes a sample of each, and a scan would not.
    for name in names { disk.write("/p/" + name, bytes: 5_000_000, beginning: way == .restored ? nil : 7) }
    try fixture.apply(all: names.map { Fixture.file($0, disk.stat(Fixture.bytes("/p/" + $0))!) })
    let ids = try fixture.paths()
    disk.pass(7_200)
    for name in names {
      disk.copy("/p/" + name, "/backup/" + name)
      disk.remove("/p/" + name)
    }
    try fixture.apply(all: names.map { Fixture.gone($0) })
    disk.pass(86_400)
    let restored = names.map { ($0, disk.copy("/backup/" + $0, "/p/" + $0)) }
    return {
      if way == .pagesRestoredByAScan {
        try fixture.scan(restored)
      } else {
        try fixture.apply(all: restored.map { Fixture.file($0, $1) })
      }
      #expect(try fixture.paths() == ids)
    }
  }

  /// Equal files that came in several commits, and so were not added at one time. nil for other paths.
  ///
  /// - `copiesScannedInCommits`: they were on the disk before. They are removed one by one.
  /// - `copiesAddedInCommits`: each was made after the one before had come. All are gone from the disk before that is
  ///   reported, in many batches.
  /// - `favoriteCopies`: the same, but they are removed one by one. Each is a photo of its own, because it has user data.
  private func prepareCopies(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> (() throws -> Void)? {
    guard [.copiesScannedInCommits, .copiesAddedInCommits, .favoriteCopies].contains(way) else { return nil }
    let disk = fixture.disk
    let names = (0..<count).map { "\($0).jpg" }
    if way == .copiesScannedInCommits {
      let files = names.map { Fixture.file($0, disk.write("/p/" + $0, content: 1)) }
      disk.pass(60)
      try fixture.apply(
        .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan))
      for start in stride(from: 0, to: count, by: Self.batch) {
        try fixture.apply(all: Array(files[start..<min(start + Self.batch, count)]))
        disk.pass(1)
      }
      try fixture.apply(.listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    } else {
      try fixture.apply(Fixture.top)
      for name in names {
        try fixture.apply(Fixture.file(name, disk.write("/p/" + name, content: 1)))
        disk.pass(1)
      }
    }
    if way == .favoriteCopies {
      let ids = try fixture.paths().values.sorted()
      _ = try fixture.catalog.write { try $0.perform([.editAssets(ids, AssetEdit(isFavorite: true))]) }
    }
    disk.pass(600)
    if way == .copiesAddedInCommits {
      for name in names { disk.remove("/p/" + name) }
      return {
        for start in stride(from: 0, to: count, by: Self.batch) {
          try fixture.apply(all: names[start..<min(start + Self.batch, count)].map { Fixture.gone($0) })
        }
        #expect(try fixture.paths().isEmpty)
      }
    }
    return {
      for name in names {
        disk.remove("/p/" + name)
        try fixture.apply(Fixture.gone(name))
      }
      #expect(try fixture.paths().isEmpty)
    }
  }

  /// The number of records in a batch, for paths that need many batches.
  private static let batch = 10

  /// This proves that the limit can fail: a removed name is found among many.
  @Test func oneRemovedNameAmongManyIsTheSourceOfTheMove() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/0.jpg")
    let names = (0..<40).map { "\($0).jpg" }
    for name in names.dropFirst() { _ = fixture.disk.link("/p/0.jpg", "/p/" + name) }
    try fixture.scan(names.map { ($0, stat) })
    let ids = try fixture.paths()
    #expect(ids.count == 40)
    fixture.disk.pass(100)
    // All names are examined for the first new name.
    try fixture.apply(Fixture.file("x.jpg", fixture.disk.link("/p/0.jpg", "/p/x.jpg")))
    let moved = fixture.disk.move("/p/7.jpg", "/p/y.jpg")
    try fixture.apply(Fixture.gone("7.jpg"), Fixture.file("y.jpg", moved))
    #expect(try fixture.paths()["/p/y.jpg"] == ids["/p/7.jpg"])
    fixture.disk.pass(3)
    try fixture.apply(Fixture.file("z.jpg", fixture.disk.move("/p/8.jpg", "/p/z.jpg")))
    #expect(try fixture.paths()["/p/z.jpg"] == ids["/p/8.jpg"])
  }
}
