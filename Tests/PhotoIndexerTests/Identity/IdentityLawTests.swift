import PhotoModel
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Whatever a person does with files, one photo has one identifier.
@Suite struct IdentityLawTests {
  /// Files as a person regards them. Each photo has its own number as long as there is a copy of it.
  private struct Person {
    private(set) var fixture: ReconcilerFixture
    private var random: SeededGenerator
    /// Photos in the library's two roots, and those in the trash, by path.
    private(set) var shown: [String: Int] = [:]
    private var trash: [String: Int] = [:]
    private var nextNumber = 0
    private var session: DirectoryNumber = 60
    /// The records of all changes since the last delivery.
    private var records: [WatchRecord] = []
    /// Photos whose content photod can't know yet.
    private var unread: Set<Int> = []
    /// Copied photos. photod can't know which file continues them.
    private var copied: Set<Int> = []
    /// New photos. A rename of a new file over another one is how programs save.
    private var young: Set<Int> = []
    /// Names that another file had before. A new file with such a name also looks like a save.
    private var freed: Set<String> = []
    private(set) var diary: [String] = []

    init(seed: UInt64) throws {
      fixture = try ReconcilerFixture()
      random = SeededGenerator(seed: seed)
      try fixture.apply(Fixture.top)
      try fixture.addSecondRoot()
    }

    private mutating func pick(_ paths: some Collection<String>) -> String? {
      paths.sorted().randomElement(using: &random)
    }

    private func place(_ path: String) -> (directory: DirectoryNumber, name: [UInt8]) {
      (path.hasPrefix("/p/") ? 1 : session, Array(path.utf8.dropFirst(3)))
    }

    private mutating func freePath(_ folder: String) -> String {
      while true {
        let path = "\(folder)/\(UInt8.random(in: 0..<60, using: &random)).jpg"
        if shown[path] == nil && !freed.contains(path) { return path }
      }
    }

    private func found(_ path: String) -> WatchRecord {
      let (directory, name) = place(path)
      return .fileFound(directory: directory, name: name, stat: fixture.disk.stat(Array(path.utf8))!)
    }

    private func gone(_ path: String) -> WatchRecord {
      let (directory, name) = place(path)
      return .fileGone(directory: directory, name: name)
    }

    private func moved(_ from: String, _ to: String) -> WatchRecord {
      let (old, new) = (place(from), place(to))
      return .fileMoved(
        from: old.directory, fromName: old.name, to: new.directory, toName: new.name,
        stat: fixture.disk.stat(Array(to.utf8)))
    }

    private static func device(_ path: String) -> UInt64 { path.hasPrefix("/q/") ? 2 : 1 }

    /// Makes one change as a person does. If `isWatched`, photod receives a record of each change. Otherwise a scan
    /// must find it.
    mutating func change(isWatched: Bool) {
      let folder = ["/p", "/q"].randomElement(using: &random)!
      // If photod receives no record, it can't recognise a new file in the place of an old one.
      var choice = Int.random(in: 0..<9, using: &random)
      if !isWatched && choice < 2 { choice = 2 }
      switch choice {
      case 0, 1:
        let path = freePath(folder)
        fixture.disk.write(path, device: Self.device(path))
        shown[path] = nextNumber
        unread.insert(nextNumber)
        young.insert(nextNumber)
        nextNumber += 1
        note("new \(path)", [found(path)])
      case 2:
        // A copy that differs from its original is a photo of its own.
        let known = shown.filter { !copied.contains($0.value) }
        guard let path = pick(known.keys) else { return }
        fixture.disk.write(path, bytes: Int64.random(in: 100...200, using: &random))
        if let number = shown[path] { unread.insert(number) }
        note("edit \(path)", [found(path)])
      case 3:
        guard let path = pick(shown.keys) else { return }
        let bin = "/trash\(Self.device(path))/\(nextNumber)-\(path.split(separator: "/").last!)"
        nextNumber += 1
        fixture.disk.move(path, bin)
        freed.insert(path)
        trash[bin] = shown.removeValue(forKey: path)
        note("trash \(path)", [gone(path)])
      case 4:
        guard let bin = pick(trash.keys) else { return }
        let path = freePath(bin.hasPrefix("/trash2") ? "/q" : "/p")
        fixture.disk.move(bin, path)
        shown[path] = trash.removeValue(forKey: bin)
        // The photo may have been removed before photod received a record of it.
        if let number = shown[path], unread.contains(number) || copied.contains(number) { young.insert(number) }
        note("restore \(path)", [found(path)])
      case 5, 6:
        guard let from = pick(shown.keys) else { return }
        let to = freePath(String(from.prefix(2)))
        fixture.disk.move(from, to)
        freed.insert(from)
        shown[to] = shown.removeValue(forKey: from)
        note("rename \(from) \(to)", Bool.random(using: &random) ? [moved(from, to)] : [gone(from), found(to)])
      case 7:
        let old = shown.filter { !young.contains($0.value) && !copied.contains($0.value) }
        guard let a = pick(old.keys), let b = pick(old.keys.filter { $0 != a && $0.prefix(2) == a.prefix(2) }) else {
          return
        }
        fixture.disk.exchange(a, b)
        (shown[a], shown[b]) = (shown[b], shown[a])
        note("exchange \(a) \(b)", [moved(a, b), moved(b, a)])
      default:
        // A move to the other disk: a copy and, minutes later, the removal of the original. If the original was never
        // read, nothing proves that the copy is the same photo.
        let read = shown.filter { !unread.contains($0.value) }
        guard let from = pick(read.keys) else { return }
        let to = freePath(from.hasPrefix("/p/") ? "/q" : "/p")
        fixture.disk.copy(from, to, device: Self.device(to))
        let arrival = found(to)
        fixture.disk.pass(Int64.random(in: 1...1_000, using: &random))
        fixture.disk.remove(from)
        freed.insert(from)
        shown[to] = shown.removeValue(forKey: from)
        if let number = shown[to] { copied.insert(number) }
        note("move \(from) \(to)", Bool.random(using: &random) ? [arrival, gone(from)] : [gone(from), arrival])
      }
      fixture.disk.pass(10)
    }

    private mutating func note(_ text: String, _ said: [WatchRecord]) {
      diary.append(text)
      records += said
    }

    /// Sends the records of all changes, in one batch or in several.
    mutating func sendRecords() throws {
      while !records.isEmpty {
        let count = Int.random(in: 1...records.count, using: &random)
        try apply(Array(records.prefix(count)))
        records.removeFirst(count)
      }
      forget()
    }

    /// photod has now read all visible files. It can't read those in the trash.
    private mutating func forget() {
      young = []
      freed = []
      unread.formIntersection(trash.values)
      copied.formIntersection(trash.values)
    }

    /// photod starts, and scans both roots in any order.
    mutating func restart() throws {
      records = []
      diary.append("restart")
      try fixture.restart()
      session += 1
      var listings: [[WatchRecord]] = []
      for (root, folder) in [(UInt16(1), "/p"), (2, "/q")] {
        let number: DirectoryNumber = root == 1 ? 1 : session
        let top: WatchRecord =
          root == 1
          ? Fixture.top
          : .directoryFound(
            number: number, parent: 0, root: 2, name: Fixture.bytes("/q"),
            identity: FileIdentity(device: 2, inode: 1, birthTime: 1))
        let files = shown.keys.filter { $0.hasPrefix(folder + "/") }.sorted().shuffled(using: &random)
        listings.append(
          [top, .listingStarted(number: number, evidence: .scan)] + files.map(found)
            + [.listingEnded(number: number, complete: true), .scanEnded(root: root, request: 0, complete: true)])
      }
      var said: [WatchRecord] = [1, 2].map { .scanStarted(root: $0, request: 0, reason: .start) }
      for listing in listings.shuffled(using: &random) { said += listing }
      while !said.isEmpty {
        let count = Int.random(in: 1...said.count, using: &random)
        try apply(Array(said.prefix(count)))
        said.removeFirst(count)
      }
      forget()
    }

    private func apply(_ records: [WatchRecord]) throws {
      try fixture.catalog.write { writer in
        let batch = try fixture.reconciler.apply(
          records, contents: [:], with: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
        try writer.append(origin: batch.origin, date: fixture.disk.wallTime)
      }
    }
  }

  @Test(arguments: TestTier.seeds(40)) func onePhotoHasOneIdentifier(seed: UInt64) throws {
    var person = try Person(seed: seed &* 0x9E37_79B9_7F4A_7C15)
    var known: [Int: AssetID] = [:]
    for _ in 0..<25 {
      let isWatched = !person.shown.isEmpty && seed % 3 != 0 ? true : person.shown.isEmpty
      for _ in 0..<4 { person.change(isWatched: isWatched) }
      if isWatched { try person.sendRecords() } else { try person.restart() }
      let paths = try person.fixture.paths()
      #expect(Set(paths.keys) == Set(person.shown.keys), "\(person.diary.suffix(8))")
      for (path, number) in person.shown {
        guard let id = paths[path] else { continue }
        if let before = known[number] {
          #expect(id == before, "\(path) after \(person.diary.suffix(8))")
          guard id == before else { return }
        } else {
          known[number] = id
          try person.fixture.give(id)
        }
      }
      #expect(Set(known.values).count == known.count)
      let favorites = try person.fixture.catalog.read {
        try $0.ids($0.plan(FetchOptions(collection: "smart:favorites")))
      }
      #expect(Set(favorites) == Set(paths.values))
      guard Set(paths.keys) == Set(person.shown.keys) else { return }
    }
  }
}
