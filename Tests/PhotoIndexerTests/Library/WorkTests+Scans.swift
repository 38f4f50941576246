import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

// The paths that need a scan, another volume, or a catalog that was lost.
extension WorkTests {
  /// - Returns: a function that takes the path, or nil for other paths.
  func prepareScans(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> (() throws -> Void)? {
    let (disk, names) = (fixture.disk, (0..<count).map { "\($0).jpg" })
    func all(_ folder: String = "/p/") -> [(String, FileStat)] {
      names.map { ($0, disk.stat(Fixture.bytes(folder + $0))!) }
    }
    switch way {
    case .lostCatalog, .lostCatalogOfPages:
      let isPage = way == .lostCatalogOfPages
      for name in names { disk.write("/p/" + name, bytes: isPage ? 5_000_000 : 100, beginning: isPage ? 7 : nil) }
      try fixture.scan(all())
      let ids = try fixture.paths()
      try fixture.catalog.write(durable: true) { writer in
        _ = try writer.perform([.editAssets(ids.values.sorted(), AssetEdit(isFavorite: true))])
        try writer.append(origin: "client:test", date: disk.wallTime)
      }
      disk.pass(7_200)
      try fixture.loseCatalog()
      return {
        try fixture.scan(all())
        #expect(try fixture.paths() == ids)
      }
    case .foldersRenamedWhileDown, .foldersExchangedWhileDown, .foldersRemovedWhileDown, .foldersRestoredWhileDown:
      return try prepareFoldersWhileDown(way, count, fixture)
    case .namesExcluded:
      for name in names { disk.write("/p/" + name) }
      try fixture.scan(all())
      disk.pass(7_200)
      try fixture.restart()
      let records =
        [.scanStarted(root: 1, request: 0, reason: .rules), Fixture.top, .listingStarted(number: 1, evidence: .scan)]
        + names.map { .ignored(directory: 1, name: Fixture.bytes($0)) }
        + [.listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true)]
      return {
        try fixture.apply(all: records)
        #expect(try fixture.paths().isEmpty)
      }
    case .renamedOnACard, .renamedOnACardWithNewInodes:
      disk.setVolume("uuid:1A2B-3C4D", of: 1)
      for name in names { disk.write("/p/" + name) }
      try fixture.scan(all())
      let ids = try fixture.paths().values.sorted()
      disk.pass(7_200)
      if way == .renamedOnACardWithNewInodes { disk.permute(names.map { "/p/" + $0 }) }
      let moved = names.map { ("n" + $0, disk.move("/p/" + $0, "/p/n" + $0)) }
      try fixture.restart()
      return {
        try fixture.scan(moved)
        #expect(try fixture.paths().values.sorted() == ids)
      }
    case .copiesRemovedFromACard, .copiesWithOtherTimesRemovedFromACard:
      disk.setVolume("uuid:1A2B-3C4D", of: 1)
      for name in names { disk.write("/p/" + name, content: 1) }
      disk.pass(60)
      if way == .copiesRemovedFromACard { disk.setTimes(1_600_000_000_000_000_000, of: names.map { "/p/" + $0 }) }
      try fixture.apply(Fixture.top)
      for (name, stat) in all() {
        try fixture.apply(Fixture.file(name, stat))
        disk.pass(1)
      }
      disk.pass(600)
      return {
        for name in names {
          disk.remove("/p/" + name)
          try fixture.apply(Fixture.gone(name))
        }
        #expect(try fixture.paths().isEmpty)
      }
    case .lateHashes: return try prepareLateHashes(count, fixture)
    case .movedToAnotherDiskByAScan:
      for name in names { disk.write("/p/" + name) }
      try fixture.scan(all())
      let ids = try fixture.paths().values.sorted()
      disk.pass(7_200)
      try fixture.addSecondRoot()
      for name in names {
        disk.copy("/p/" + name, "/q/" + name, device: 2)
        disk.remove("/p/" + name)
      }
      let records: [WatchRecord] =
        [.scanStarted(root: 2, request: 0, reason: .overflow), .listingStarted(number: 60, evidence: .scan)]
        + all("/q/").map { Fixture.file($0, in: 60, $1) }
        + [.listingEnded(number: 60, complete: true), .scanEnded(root: 2, request: 0, complete: true)]
      return {
        try fixture.apply(all: records)
        try fixture.scan([])
        #expect(try fixture.paths().values.sorted() == ids)
      }
    case .missedAndFound, .missedTwice:
      for name in names { disk.write("/p/" + name) }
      try fixture.scan(all())
      let ids = try fixture.paths()
      disk.pass(7_200)
      try fixture.scan([])
      #expect(fixture.reconciler.roots.hasSuspects)
      disk.pass(601)
      if way == .missedTwice {
        return {
          try fixture.scan([])
          #expect(try fixture.paths().isEmpty)
        }
      }
      return {
        for (name, stat) in all() { try fixture.apply(Fixture.file(name, stat)) }
        try fixture.scan(all())
        #expect(try fixture.paths() == ids && !fixture.reconciler.roots.hasSuspects)
      }
    default: return nil
    }
  }

  /// n folders with one file each, of which all are renamed, exchanged, removed, or restored from a backup while photod is
  /// down.
  private func prepareFoldersWhileDown(
    _ way: Way, _ count: Int, _ fixture: ReconcilerFixture
  ) throws -> () throws -> Void {
    let disk = fixture.disk
    func scan(_ names: [String], inode: UInt64) -> [WatchRecord] {
      let numbers = names.indices.map { DirectoryNumber(100 + $0) }
      var records: [WatchRecord] = [
        .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      ]
      for (index, number) in numbers.enumerated() {
        records.append(Fixture.found(number, names[index], inode: inode + UInt64(index)))
      }
      records.append(.listingEnded(number: 1, complete: true))
      for (index, number) in numbers.enumerated() {
        let stat = disk.stat(Fixture.bytes("/p/\(names[index])/a.jpg"))!
        records += [
          .listingStarted(number: number, evidence: .scan), Fixture.file("a.jpg", in: number, stat),
          .listingEnded(number: number, complete: true),
        ]
      }
      return records + [.scanEnded(root: 1, request: 0, complete: true)]
    }
    let names = (0..<count).map { "\($0)" }
    for name in names { disk.write("/p/\(name)/a.jpg") }
    try fixture.apply(all: scan(names, inode: 5_000))
    let ids = try fixture.paths()
    disk.pass(7_200)
    disk.moveFolder("/p", "/old")
    let now =
      switch way {
      case .foldersRenamedWhileDown: names.map { "n" + $0 }
      case .foldersExchangedWhileDown: Array(names[1...] + names[..<1])
      case .foldersRestoredWhileDown: names
      default: [String]()
      }
    for (name, new) in zip(names, now) {
      if way == .foldersRestoredWhileDown {
        disk.copy("/old/\(name)/a.jpg", "/p/\(new)/a.jpg")
      } else {
        _ = disk.link("/old/\(name)/a.jpg", "/p/\(new)/a.jpg")
      }
    }
    try fixture.restart()
    let records = scan(now, inode: way == .foldersRestoredWhileDown ? 50_000 : 5_000)
    return {
      try fixture.apply(all: records)
      let expected = zip(names, now).map { ("/p/\($1)/a.jpg", ids["/p/\($0)/a.jpg"]!) }
      #expect(try fixture.paths() == Dictionary(uniqueKeysWithValues: expected))
    }
  }

  /// Deleted pages that came back with other names and times, so that only their hashes prove what they are. All pages share
  /// size and beginning.
  private func prepareLateHashes(_ count: Int, _ fixture: ReconcilerFixture) throws -> () throws -> Void {
    let disk = fixture.disk
    func write(_ path: String, _ index: Int) -> FileStat {
      disk.write(path, bytes: 5_000_000, content: UInt64(100_000 + index), beginning: 7)
    }
    func keepHashes(of paths: [String]) throws {
      let ids = try fixture.paths()
      try fixture.catalog.write { writer in
        var batch = Batch(writer: writer, time: disk.wallTime, uptime: disk.bootTime)
        for path in paths {
          let id = try #require(ids[path])
          let row = try #require(try writer.file(ofAsset: id))
          let bytes = Fixture.bytes(path)
          let proof = MadeProof(
            request: ProofRequest(row: row, path: bytes, isWhole: true),
            marks: disk.marks(bytes, expecting: row.stat, isWhole: true, while: { true }))
          try fixture.reconciler.keep(proof, in: &batch)
        }
        try writer.append(origin: "rescan", date: disk.wallTime)
      }
    }
    let names = (0..<count).map { "\($0).tif" }
    try fixture.apply(Fixture.top)
    try fixture.apply(all: names.enumerated().map { Fixture.file($1, write("/p/" + $1, $0)) })
    let ids = try fixture.paths()
    disk.pass(7_200)
    try keepHashes(of: names.map { "/p/" + $0 })
    for name in names { disk.remove("/p/" + name) }
    try fixture.apply(all: names.map { Fixture.gone($0) })
    disk.pass(86_400)
    try fixture.apply(all: names.enumerated().map { Fixture.file("n" + $1, write("/p/n" + $1, $0)) })
    #expect(try fixture.paths().count == count)
    disk.pass(7_200)
    return {
      try keepHashes(of: names.map { "/p/n" + $0 })
      let expected = names.map { ("/p/n" + $0, ids["/p/" + $0]!) }
      #expect(try fixture.paths() == Dictionary(uniqueKeysWithValues: expected))
    }
  }
}
