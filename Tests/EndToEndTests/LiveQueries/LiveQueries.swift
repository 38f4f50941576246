import Foundation
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import TestFetches
import Testing

@testable import PhotoCatalog

/// Random fetches of a running photod, all observed at once, while photos are changed at random. After every sync, each
/// client's list must be the same as that of a fetch.
final class LiveQueries {
  /// The disturbances of clients and the daemon.
  enum Fate { case undisturbed, clientsAndDaemonFail }

  private let fixture: DaemonFixture
  private let fate: Fate
  private let seed: Int
  private let roots: [String]
  private let library: PhotoLibrary
  private var storm: PhotoStorm
  private var random: SeededGenerator
  private var slots: [Slot] = []
  private var albums: [ObservedAlbums] = []
  private var fetches: RandomFetches<SeededGenerator>?
  private var seen: Set<FetchOptions> = []
  private var known: [AssetID] = []
  private var userAlbums: [CollectionID] = []
  private var isRootAway = false
  private var round = 0
  private(set) var tally = LiveQueryTally()

  /// One client, and its present state.
  private struct Slot {
    enum Life {
      case awake
      case asleep(until: Int)
      case dead(until: Int)
    }

    var fetch: ObservedFetch
    var life = Life.awake
    /// How it came back, until its first answer is known.
    var beginning: ObservedFetch.Beginning?
    /// Whether the daemon was started again after the client's last observation.
    var hasOutlivedDaemon = false

    var isAwake: Bool { if case .awake = life { true } else { false } }
  }

  init(_ fixture: DaemonFixture, fate: Fate, seed: Int) throws {
    self.fixture = fixture
    self.fate = fate
    self.seed = seed
    random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
    roots = [fixture.photos, fixture.directory + "/second"]
    library = PhotoLibrary(socketPath: fixture.socket, clientName: "storm")
    storm = try PhotoStorm(
      roots: roots, outside: fixture.directory + "/outside", fewest: effort("PHOTOD_LIVE_PHOTOS", 150),
      photos: FaultScenario.photosFolder, seed: seed)
  }

  // MARK: The whole run

  func run(fetches count: Int, operations: Int) async throws {
    try await prepare()
    for number in 0..<count {
      let slot = Slot(fetch: try nextFetch(number))
      slot.fetch.begin(.anew)
      slots.append(slot)
    }
    albums = [nil, [.folderAlbum], [.smartAlbum, .album]].map { ObservedAlbums($0, library: library) }
    for list in albums { list.begin() }
    try await check()
    if fate == .clientsAndDaemonFail { try await fillOneSocket() }
    while storm.count + tally.edits < operations {
      round += 1
      // Alternates between few and many changes before a check.
      try await change(Int.random(in: 1...(round % 2 == 0 ? 20 : min(600, operations / 5)), using: &random))
      if fate == .clientsAndDaemonFail {
        await disturbClients()
        try await change(Int.random(in: 1...40, using: &random))
        // In the large run this is rare, so that a sleeping client is sent more in the meantime than its socket holds.
        let period = max(5, operations / 1_000)
        if round % period == 2 { try await endDaemonAndStartIt(isKilled: round % (2 * period) == 2) }
      }
      try await moveRoot()
      try await fixture.synchronize()
      try await check()
      try await countSleepers()
    }
    for index in slots.indices { comeBack(index) }
    try await check()
    for slot in slots { await slot.fetch.die() }
    for list in albums { await list.die() }
    tally.operations = storm.count + tally.edits
    tally.messages = slots.reduce(0) { $0 + $1.fetch.state.messageCount }
    tally.albumDifferences = albums.reduce(0) { $0 + $1.differenceCount }
  }

  /// Makes a first scan, two albums of the user, and a few photos in the trash.
  private func prepare() async throws {
    try await fixture.start(roots: roots)
    try await fixture.synchronize()
    fixture.kill(SIGTERM)
    let ids = try editCatalog { writer in
      var ids: [AssetID] = []
      let select = try RawStatement(try writer.database, "SELECT id FROM asset ORDER BY id")
      try select.forEachRow { ids.append(select.assetID(0)) }
      return ids
    }
    let trashed = ids.shuffled(using: &random).prefix(10)
    try editCatalog { writer in
      let trash = try RawStatement(try writer.database, "UPDATE asset SET is_trashed = 1 WHERE id = ?")
      for id in trashed {
        trash.bind(1, id)
        try trash.run()
      }
    }
    try await fixture.start(roots: roots)
    try await fixture.synchronize()
    let result = try await library.performChanges(
      ["Album", "Trip"].map { title in
        let members = ids.shuffled(using: &random).prefix(ids.count / 3)
        return ChangeRequest(createAlbum: .init(title: title, assetIDs: Array(members)))
      })
    userAlbums = result.createdCollectionIDs
    let assets = try await fixture.assets(FetchOptions(includeHidden: true, includeTrashed: true))
    let folders = try await library.collections(kinds: [.folderAlbum]).map { "id:\($0.id)" }
    let own = userAlbums.map { "id:\($0)" }
    fetches = RandomFetches(photos: assets, collections: own + own + own + folders, seed: seed)
    known = assets.map(\.id)
  }

  /// Returns a fetch that no client has yet.
  private func nextFetch(_ number: Int) throws -> ObservedFetch {
    while true {
      guard let options = fetches?.next() else { throw POSIXError(.EINVAL) }
      guard seen.insert(options).inserted else { continue }
      // Some clients hold whole assets. The first of them holds all assets.
      return ObservedFetch(
        number == 0 ? FetchOptions(includeHidden: true, includeTrashed: true) : options,
        holdsObjects: number % 16 == 0, library: library)
    }
  }

  // MARK: Changes

  private func change(_ count: Int) async throws {
    for _ in 0..<count {
      if Int.random(in: 0..<100, using: &random) < 6 { try await edit() } else { storm.step() }
    }
  }

  /// Makes a change as an app does.
  private func edit() async throws {
    let ids = Array(known.shuffled(using: &random).prefix(.random(in: 1...4, using: &random)))
    let request =
      Int.random(in: 0..<3, using: &random) == 0
      ? ChangeRequest(editAlbum: try await albumEdit(ids)) : ChangeRequest(editAsset: assetEdit(ids))
    do {
      try await library.performChanges([request])
      tally.edits += 1
    } catch PhotoLibraryError.noSuchAsset(let ids) {
      known.removeAll { ids.contains($0) }
    }
  }

  private func assetEdit(_ ids: [AssetID]) -> ChangeRequest.EditAsset {
    let value = Bool.random(using: &random)
    var edit = ChangeRequest.EditAsset(ids: ids)
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: edit.isHidden = value
    case 2: edit.title = value ? "typed" : ""
    case 3: edit.rating = .random(in: 0...5, using: &random)
    case 4: edit.shiftCreationDate = value ? 86_400 : -3_600
    case 5: edit.clear = ["title", "rating", "creationDate"]
    default: edit.isFavorite = value
    }
    return edit
  }

  /// Places some photos before a member of an album or at its end, or removes them.
  private func albumEdit(_ ids: [AssetID]) async throws -> ChangeRequest.EditAlbum {
    var edit = ChangeRequest.EditAlbum(id: userAlbums.randomElement(using: &random) ?? 0)
    if Int.random(in: 0..<3, using: &random) == 0 {
      edit.removeAssetIDs = ids
    } else {
      edit.placeAssetIDs = ids
      let members = try await fixture.ids(FetchOptions(collection: "id:\(edit.id)")).ids
      edit.beforeAssetID = members.filter { !ids.contains($0) }.randomElement(using: &random)
    }
    return edit
  }

  /// Moves the second root away, or back.
  private func moveRoot() async throws {
    guard round % 13 == 2 || isRootAway && Int.random(in: 0..<3, using: &random) == 0 else { return }
    let away = fixture.directory + "/away"
    let second = roots[1]
    try #require(rename(isRootAway ? away : second, isRootAway ? second : away) == 0)
    isRootAway.toggle()
    let state: LibraryStatus.Root.State = isRootAway ? .offline : .online
    try await fixture.status { $0.roots.contains { $0.path == second && $0.state == state } }
    tally.rootMoves += 1
  }

  // MARK: Clients that sleep, die and come back

  private func disturbClients() async {
    for index in slots.indices {
      let chance = Int.random(in: 0..<100, using: &random)
      switch slots[index].life {
      case .awake:
        // Whole assets soon fill the buffers, so these clients sleep more often.
        if chance < (slots[index].fetch.holdsObjects ? 30 : 5) {
          slots[index].fetch.sleep()
          slots[index].life = .asleep(until: round + .random(in: 1...20, using: &random))
          tally.sleeps += 1
        } else if chance > 93 {
          await die(index)
        }
      case .asleep(let until): if chance < 2 { await die(index) } else if until <= round { comeBack(index) }
      case .dead(let until): if until <= round { comeBack(index) }
      }
    }
    for list in albums where Int.random(in: 0..<20, using: &random) == 0 {
      await list.die()
      list.begin()
    }
  }

  /// Lets the client of all photos with whole assets sleep, and changes all photos until its socket is full. In a small
  /// run, chance alone would not fill a socket.
  private func fillOneSocket() async throws {
    slots[0].fetch.sleep()
    slots[0].life = .asleep(until: round + 2)
    tally.sleeps += 1
    for number in 0..<100 where tally.behind == 0 {
      let edit = ChangeRequest.EditAsset(ids: known, isFavorite: number.isMultiple(of: 2))
      try await library.performChanges([ChangeRequest(editAsset: edit)])
      try await countSleepers()
    }
    try await library.performChanges([ChangeRequest(editAsset: .init(ids: known, isFavorite: false))])
  }

  private func die(_ index: Int) async {
    await slots[index].fetch.die()
    slots[index].life = .dead(until: round + .random(in: 0...6, using: &random))
    tally.deaths += 1
  }

  private func comeBack(_ index: Int) {
    switch slots[index].life {
    case .awake: return
    case .asleep: slots[index].fetch.wake()
    case .dead:
      let hasList = slots[index].fetch.state.replica.token != nil
      let beginning: ObservedFetch.Beginning = !hasList ? .anew : .random(using: &random) ? .byToken : .byList
      slots[index].fetch.begin(beginning)
      slots[index].beginning = beginning
    }
    slots[index].life = .awake
  }

  private func endDaemonAndStartIt(isKilled: Bool) async throws {
    fixture.kill(isKilled ? SIGKILL : SIGTERM)
    for index in slots.indices {
      if Bool.random(using: &random) { await slots[index].fetch.die() } else { await slots[index].fetch.readToEnd() }
      if case .dead = slots[index].life {} else { slots[index].life = .dead(until: round) }
      slots[index].hasOutlivedDaemon = true
    }
    for list in albums { await list.die() }
    for _ in 0..<Int.random(in: 0...60, using: &random) { storm.step() }
    try await fixture.start(roots: roots)
    for list in albums { list.begin() }
    for index in slots.indices where Int.random(in: 0..<4, using: &random) > 0 { comeBack(index) }
    tally.restarts[isKilled ? "SIGKILL" : "SIGTERM", default: 0] += 1
  }

  // MARK: The catalog of a daemon that doesn't run

  @discardableResult
  private func editCatalog<Value>(_ body: (CatalogWriter) throws -> Value) throws -> Value {
    let catalog = try Catalog(path: fixture.catalog)
    let value = try catalog.write { writer in
      let value = try body(writer)
      if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .now) }
      return value
    }
    try catalog.close()
    return value
  }

  // MARK: Checks

  private var story: String { "seed \(seed), round \(round), \(storm.count + tally.edits) operations" }

  /// Each client that is awake has the list of a fetch.
  private func check() async throws {
    tally.checks += 1
    let awake = slots.indices.filter { slots[$0].isAwake }
    let (clients, check) = (slots.map(\.fetch), LiveCheck(socket: fixture.socket, story: story))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in 0..<4 {
        group.addTask {
          for index in awake where index % 4 == part { try await check.expectInStep(clients[index]) }
        }
      }
      try await group.waitForAll()
    }
    tally.comparisons += awake.count
    for list in albums { try await check.expectInStep(list) }
    known = try await fixture.ids(FetchOptions(includeHidden: true, includeTrashed: true)).ids
    for index in awake { try note(index) }
  }

  /// Records the answer to a client that came back, after a check that this answer is allowed.
  private func note(_ index: Int) throws {
    let slot = slots[index]
    let answer = try #require(slot.fetch.state.answer)
    if let beginning = slot.beginning {
      try #require(
        LiveQueryTally.isAllowed(answer, to: beginning), "\(story): \(beginning) got \(answer), \(slot.fetch.options)")
      tally.note(answer, to: beginning, hasOutlivedDaemon: slot.hasOutlivedDaemon)
    }
    if slot.fetch.state.replica.ids.isEmpty { tally.emptyLists += 1 }
    slots[index].beginning = nil
    slots[index].hasOutlivedDaemon = false
    if answer == .noSuchCollection {
      // The collection no longer exists, so the client gets another fetch.
      slots[index].fetch = try nextFetch(index)
      slots[index].fetch.begin(.anew)
    }
  }

  /// Counts the clients whose sockets are full, so that the daemon has to wait for them.
  private func countSleepers() async throws {
    guard fate == .clientsAndDaemonFail else { return }
    let full = try await PhotoDaemonManagement(of: library).clients().clients.count { client in
      client.streams.contains { $0.behind && $0.bytesUnsent > 0 }
    }
    tally.behind = max(tally.behind, full)
  }
}
