import GRDBSQLite
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
    case copiesRemoved, copiesRemovedOneByOne, copiesRemovedByAScan, copiesReturned
    case returned, linked, linkedOneByOne, linksRenamed, linkEdited, linksRemoved
  }

  /// Steps of SQLite's virtual machine, in tens.
  private final class Steps: Sendable {
    let count = Atomic(0)
  }

  private static let count = 300
  /// Twice the files are twice the work, plus a little for the logarithm of a tree. A square would be four times the
  /// work.
  private static let limit = 2.7

  @Test(arguments: Way.allCases) func twiceTheFilesAreTwiceTheWork(way: Way) throws {
    let (one, two) = (try work(of: way, Self.count), try work(of: way, 2 * Self.count))
    #expect(Double(two) < Self.limit * Double(one), "\(way): \(one) and \(two)")
  }

  /// Takes in n files and counts the work: reads, examined files, and steps of SQLite.
  private func work(of way: Way, _ count: Int) throws -> Int {
    let fixture = try ReconcilerFixture()
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
    try act()
    try fixture.catalog.write { sqlite3_progress_handler(try $0.database.sqliteConnection, 0, nil, nil) }
    return steps.count.load(ordering: .relaxed) + 10 * (fixture.disk.statCount - stats + fixture.disk.readCount - reads)
  }

  /// Prepares the library for a path.
  ///
  /// - Returns: a function that takes the path.
  private func prepare(_ way: Way, _ count: Int, _ fixture: ReconcilerFixture) throws -> () throws -> Void {
    let disk = fixture.disk
    let names = (0..<count).map { "\($0).jpg" }
    func found(_ name: String) -> WatchRecord { Fixture.file(name, disk.stat(Fixture.bytes("/p/" + name))!) }
    func all() -> [(String, FileStat)] { names.map { ($0, disk.stat(Fixture.bytes("/p/" + $0))!) } }
    let areCopies = [.copiesRemoved, .copiesRemovedOneByOne, .copiesRemovedByAScan, .copiesReturned].contains(way)
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
    case .copiesReturned:
      for name in names { disk.remove("/p/" + name) }
      try fixture.apply(all: names.map { Fixture.gone($0) })
      for name in names { disk.write("/p/" + name, content: 1) }
      return { try fixture.apply(all: names.map(found)) }
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

  /// This proves that the limit can fail: a removed name is found among many.
  @Test func oneOfManyNamesThatHasGoneIsTheOneThatMoved() throws {
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
