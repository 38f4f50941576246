import Foundation
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import Varlink

/// A storm in which photod and photod-watch are killed, the kernel's queue overflows, and a drive is unmounted and
/// mounted. Meanwhile one client sets favorites and another one follows the library.
final class DisasterStorm {
  private enum Disaster: CaseIterable { case daemonKilled, watcherKilled, overflow, driveUnmounted }

  private let fixture: DaemonFixture
  private let space: MountSpace?
  private let seed: Int
  private let roots: [KnownPhotos.Root]
  private let known: KnownPhotos
  private let drive = Drive()
  /// The events of the storm, for the report of a failure.
  private var story: [String] = []

  /// The drive of the storm. Its lock is held while the drive's files are changed, so that no file is written while the
  /// drive is unmounted.
  private final class Drive: Sendable {
    let isMounted = Mutex(true)
  }

  /// - Parameter space: nil for a second root that is an ordinary folder.
  init(_ fixture: DaemonFixture, space: MountSpace?, seed: Int) throws {
    self.fixture = fixture
    self.space = space
    self.seed = seed
    let second = space?.drive ?? fixture.directory + "/second"
    mkdir(second, 0o755)
    roots = [
      .init(path: fixture.photos, reachedAt: fixture.photos),
      .init(path: second, reachedAt: space?.outside(second) ?? second),
    ]
    known = try KnownPhotos(roots)
    fixture.launcher = space?.launcher ?? []
  }

  private func start() async throws {
    try await fixture.start(roots: roots.map(\.path))
  }

  func run(for time: Duration) async throws {
    try await start()
    try await fixture.synchronize()
    try known.learnIDs(try await ids())
    let end = ContinuousClock.now + time
    let follower = ReplicaFollower(socket: fixture.socket)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await follower.run() }
      try await change(until: end)
      try await expectDiskState(follower)
      group.cancelAll()
    }
  }

  /// Returns when all changes have ended, so that the files stay the same during the comparison.
  private func change(until end: ContinuousClock.Instant) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (known, drive, roots, seed) = (known, drive, roots, seed)
      for (number, root) in roots.enumerated() {
        let storm = Storm(folder: root.reachedAt + "/wild", outside: root.reachedAt + "/.outside", seed: seed)
        mkdir(storm.folder, 0o755)
        group.addTask {
          await onThread {
            var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed &* 100 + number)))
            while ContinuousClock.now < end {
              // An unmounted drive is left alone.
              drive.isMounted.withLock { isMounted in
                guard number == 0 || isMounted else { return }
                for _ in 0..<20 { storm.step(&random) }
                known.step(inRoot: number, &random)
              }
              usleep(500)
            }
          }
        }
      }
      let socket = fixture.socket
      group.addTask { await Self.chooseFavorites(known, socket, seed, until: end) }
      var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
      var disasters: [Disaster] = []
      while ContinuousClock.now < end {
        if disasters.isEmpty {
          disasters = Disaster.allCases.filter { $0 != .driveUnmounted || space != nil }.shuffled(using: &random)
        }
        try await cause(disasters.removeLast(), &random)
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...1500, using: &random)))
      }
      try await group.waitForAll()
    }
  }

  // MARK: Disasters

  private func cause(_ disaster: Disaster, _ random: inout SeededGenerator) async throws {
    story.append("\(Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))) \(disaster)")
    func pause(_ milliseconds: ClosedRange<Int>) async throws {
      try await Task.sleep(for: .milliseconds(Int.random(in: milliseconds, using: &random)))
    }
    switch disaster {
    case .daemonKilled:
      fixture.kill(SIGKILL)
      try await pause(0...800)
      try await start()
    case .watcherKilled:
      // photod may be between two photod-watch processes.
      do { Glibc.kill(try fixture.watchProcessID(), SIGKILL) } catch is POSIXError {}
    case .overflow:
      do {
        let watch = try fixture.watchProcessID()
        Glibc.kill(watch, SIGSTOP)
        Storm(folder: fixture.path("wild"), outside: fixture.path(".outside"), seed: seed).burst()
        Glibc.kill(watch, SIGCONT)
      } catch is POSIXError {}
    case .driveUnmounted:
      guard let space else { return }
      try drive.isMounted.withLock { isMounted in
        try space.unmount()
        isMounted = false
      }
      try await pause(0...800)
      if Bool.random(using: &random) {
        story.append("and killed")
        fixture.kill(SIGKILL)
        try await pause(0...300)
        if Bool.random(using: &random) {
          try await start()
          try await pause(0...500)
        }
      }
      try drive.isMounted.withLock { isMounted in
        try space.mount()
        isMounted = true
      }
      if fixture.process?.isRunning != true { try await start() }
    }
  }

  private static func chooseFavorites(
    _ known: KnownPhotos, _ socket: String, _ seed: Int, until end: ContinuousClock.Instant
  ) async {
    let library = PhotoLibrary(socketPath: socket, clientName: "storm")
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed + 7)))
    while ContinuousClock.now < end, !Task.isCancelled {
      let choice = known.chooseFavorite(&random)
      do {
        let request = ChangeRequest(editAsset: .init(ids: [choice.id], isFavorite: choice.isFavorite))
        try await library.performChanges([request])
        known.note(choice, .done)
      } catch {
        known.note(choice, .init(of: error))
      }
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }

  // MARK: Checks after the storm

  private func ids() async throws -> [String: AssetID] {
    Dictionary(try await fixture.assets().map { ($0.resources[0].path, $0.id) }) { first, _ in first }
  }

  private func expectDiskState(_ follower: ReplicaFollower) async throws {
    try await fixture.synchronize()
    let assets = try await fixture.assets()
    var differences = differencesToDisk(assets)
    differences += known.differences(
      ids: Dictionary(assets.map { ($0.resources[0].path, $0.id) }) { first, _ in first },
      favorites: Set(assets.filter(\.isFavorite).map(\.id)))
    differences += try await differencesToFreshDaemon(assets)
    for (path, what) in differences.prefix(5) { Issue.record("\(path) \(what)\n\(try await fixture.events(of: path))") }
    if !differences.isEmpty {
      Issue.record(
        """
        \(differences.count) differences; to replay it: PHOTOD_STORM_SEED=\(seed) swift test --filter AfterDisasters
        \(story.joined(separator: "\n"))
        \(try fixture.logText().suffix(6000))
        """)
    }
    let fresh = try await fixture.ids().ids
    #expect(try await follower.list(equalTo: fresh) == fresh, "seed \(seed): the replica")
    let status = try await fixture.status()
    #expect(status.state == .live && status.roots.allSatisfy { $0.state == .online }, "seed \(seed): \(status)")
  }

  private func differencesToDisk(_ assets: [Asset]) -> [(path: String, what: String)] {
    var differences: [(String, String)] = []
    var library = Dictionary(grouping: assets, by: { $0.resources[0].path })
    for root in roots {
      let walk = FileManager.default.enumerator(atPath: root.reachedAt)
      while let name = walk?.nextObject() as? String {
        if name.hasPrefix(".") || name.contains("/.") || !name.hasSuffix(".jpg") { continue }
        var status = stat()
        guard lstat(root.reachedAt + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
          status.st_size > 0
        else { continue }
        let path = root.path + "/" + name
        guard let found = library.removeValue(forKey: path) else {
          differences.append((path, "is missing"))
          continue
        }
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
        if found.count > 1 { differences.append((path, "is there \(found.count) times")) }
        if found[0].resources[0].byteCount != Int64(status.st_size) { differences.append((path, "has another size")) }
        if found[0].modificationDate.microseconds != modified { differences.append((path, "has another date")) }
        if !found[0].available { differences.append((path, "is not available")) }
      }
    }
    return differences + library.keys.sorted().map { ($0, "is not on disk") }
  }

  /// A new daemon, which has seen nothing of the storm, must find the same photos with the same facts.
  private func differencesToFreshDaemon(_ assets: [Asset]) async throws -> [(path: String, what: String)] {
    var differences: [(String, String)] = []
    try await DaemonFixture.with { fresh in
      fresh.launcher = fixture.launcher
      try await fresh.start(roots: roots.map(\.path))
      try await fresh.synchronize()
      func facts(_ asset: Asset) -> Asset {
        var asset = asset
        asset.id = 0
        asset.addedDate = asset.modificationDate
        asset.isFavorite = false
        // It has a random part after each change that photod noticed.
        asset.revision = ""
        // Only the photod that saw the file knows its oldest time.
        if asset.creationDateSource == .file { asset.creationDate = asset.modificationDate }
        return asset
      }
      let expected = Dictionary(try await fresh.assets().map { ($0.resources[0].path, facts($0)) }) { first, _ in first
      }
      for asset in assets where expected[asset.resources[0].path] != facts(asset) {
        let other = expected[asset.resources[0].path].map { "\($0)" } ?? "nothing"
        differences.append((asset.resources[0].path, "says \(facts(asset)) instead of \(other)"))
      }
      fresh.kill(SIGTERM)
    }
    return differences
  }
}

/// Follows the whole library as a program does. If the daemon ends, it connects again and continues from its list.
final class ReplicaFollower: Sendable {
  private let library: PhotoLibrary
  private let replica = Mutex(FetchResultReplica())
  private let failure = Mutex<FetchResultReplica.OutOfStep?>(nil)

  init(socket: String) { library = PhotoLibrary(socketPath: socket) }

  func run() async {
    while !Task.isCancelled {
      do {
        for try await observation in library.observe(resuming: replica.withLock { $0 }) {
          _ = try replica.withLock { try $0.apply(observation) }
        }
      } catch let error as FetchResultReplica.OutOfStep {
        failure.withLock { $0 = error }
        return
      } catch {
        // The daemon has ended, and will start again.
      }
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }

  /// Returns the list when it equals this one. After a minute it returns the list in any case.
  func list(equalTo expected: [AssetID]) async throws -> [AssetID] {
    do {
      try await eventually("the list of the observer") {
        if let error = failure.withLock({ $0 }) { throw error }
        return replica.withLock { $0.ids } == expected
      }
    } catch is ConditionNotMet {
      // The caller compares the lists and reports the difference.
    }
    return replica.withLock { $0.ids }
  }
}

/// Runs blocking work on a separate thread.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}
