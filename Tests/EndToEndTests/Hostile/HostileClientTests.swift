import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

/// A hostile client beside a normal one. The hostile client may not delay the normal one, fill the memory, end photod,
/// or keep it from noticing changes.
///
/// In `make test` the adversary does each action once. The normal client must be served meanwhile. Its times are not
/// judged, because the other tests and the adversary itself take the processors from photod.
///
/// PHOTOD_HOSTILE_SECONDS=720 runs the whole proof, for a machine with no other load. It also judges the times, against
/// those of the same client without an adversary. PHOTOD_HOSTILE_PHOTOS is the number of photos, and
/// PHOTOD_HOSTILE_SEED decides the order of the actions. PHOTOD_PRODUCTS names a folder of other programs, such as those
/// of a release build.
@Suite(.serialized, .timeLimit(.minutes(30))) struct HostileClientTests {
  private static let seconds = effort("PHOTOD_HOSTILE_SECONDS", 0)
  private static let isWhole = seconds >= 60
  /// A whole run has so many photos that a slow reader does not get all of them at once.
  private static let photos = effort("PHOTOD_HOSTILE_PHOTOS", isWhole ? 5_000 : 300)
  /// How many times slower the slowest of a hundred acts may be than without the adversary.
  private static let ratio = 3
  /// The memory of photod without clients, with a library of 5,000 photos.
  private static let memoryWithoutClients = 200_000_000

  @Test func hostileClientDelaysNoOtherAndHarmsNothing() async throws {
    try await DaemonFixture.with { fixture in
      try Self.writePhotos(fixture)
      try await fixture.start()
      try await fixture.synchronize(timeout: 600)
      let process = fixture.processID
      let file = fixture.directory + "/adversary"
      let photo = try #require(try await fixture.ids().ids.last)
      let normal = NormalClient(socket: fixture.socket, photos: fixture.photos, photo: photo)

      let alone = Self.isWhole ? try await Self.measureAlone(normal) : nil
      let memories = Task { try await Self.residentMemories(of: process) }
      let together = try await Self.attack(fixture, file, beside: normal)
      memories.cancel()
      if Self.seconds >= 600 { try Self.expectNoGrowth(await memories.value) }

      if let alone { Self.show(alone, "alone") }
      Self.show(together, "beside the adversary")
      if let alone { Self.expectLittleDelay(together, alone: alone) }
      let memory = try Self.peakMemory(of: process)
      print("photod took at most \(memory >> 20) MiB")
      #expect(try memory < Self.documentedMemory() + Self.memoryWithoutClients, "\(memory >> 20) MiB")
      let report = try JSONDecoder().decode(Adversary.Report.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
      try Self.expectAllWasTried(report, log: fixture.logText())
      try #require(fixture.process?.isRunning == true && fixture.processID == process)
      try await fixture.expectEqualToDisk("after the attack")
      fixture.kill(SIGTERM)
      #expect(fixture.process?.terminationReason == .exit)
      #expect(fixture.process?.terminationStatus == 0, "the stop was cut off, or photod failed")
    }
  }

  /// In a whole run, the paths are so long that a predicate with wildcards takes more than its budget.
  private static func writePhotos(_ fixture: DaemonFixture) throws {
    let end = isWhole ? String(repeating: "o", count: 200) : ""
    for index in 0..<photos { try fixture.write("d\(index / 200)\(end)/IMG_\(index).jpg", index) }
  }

  private static func measureAlone(_ normal: NormalClient) async throws -> NormalClient.Times {
    // photod creates some things only once. That must happen before the measurement.
    _ = try await normal.run(for: .seconds(1), round: 0)
    return try await normal.run(for: .seconds(60), round: 1)
  }

  /// The times of the normal client while the adversary attacks.
  private static func attack(
    _ fixture: DaemonFixture, _ file: String, beside normal: NormalClient
  ) async throws -> NormalClient.Times {
    let ids = try await fixture.ids(FetchOptions(includeHidden: true)).ids
    let isOver = Flag()
    async let times = normal.run(round: 2) { isOver.isSet }
    await attack(fixture.socket, fixture.photos, Array(ids.prefix(1_000)), file)
    isOver.set()
    return try await times
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }

  /// photod treats each process as a client, so the adversary needs a process of its own.
  private static func attack(_ socket: String, _ folder: String, _ ids: [AssetID], _ file: String) async {
    await #expect(processExitsWith: .success) { [socket, folder, ids, file, seconds = seconds as Int] in
      let adversary = try Adversary(socket: socket, folder: folder, ids: ids)
      try await adversary.run(for: .seconds(seconds), threads: 6, seed: effort("PHOTOD_HOSTILE_SEED", 1))
      try JSONEncoder().encode(adversary.report).write(to: URL(fileURLWithPath: file))
    }
  }

  private static func milliseconds(_ time: Duration) -> String { String(format: "%.1f ms", time / .milliseconds(1)) }

  private static func show(_ times: NormalClient.Times, _ name: String) {
    for act in NormalClient.Act.allCases {
      let count = times.samples[act]?.count ?? 0
      print(
        """
        \(act), \(name): p50 \(milliseconds(times.quantile(0.5, act))), p99 \(milliseconds(times.quantile(0.99, act))), \
        longest \(milliseconds(times.quantile(1, act))) of \(count)
        """)
      #expect(count > (isWhole ? 20 : 0), "\(act), \(name)")
    }
  }

  private static func expectLittleDelay(_ together: NormalClient.Times, alone: NormalClient.Times) {
    for act in NormalClient.Act.allCases {
      let (during, before) = (together.quantile(0.99, act), alone.quantile(0.99, act))
      print(
        "\(act): p99 \(String(format: "%.2f", during / max(before, .microseconds(1)))) times that of the client alone")
      #expect(during <= before * ratio, "\(act): \(milliseconds(before)), then \(milliseconds(during))")
    }
  }

  /// If photod kept the adversary from its actions, the test would prove nothing.
  private static func expectAllWasTried(_ report: Adversary.Report, log: String) throws {
    for counts in [report.actions, report.longest, report.methods, report.errors] {
      print(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }
    guard Adversary.chosen == Adversary.Action.allCases else { return }
    let actions = Set(Adversary.Action.allCases.map(\.rawValue))
    #expect(actions.subtracting(report.actions.keys) == [], "actions that were not done")
    #expect(report.allMethods.subtracting(report.methods.keys) == [], "methods that were not called")
    var errors: Set = [
      "InvalidParameter", "InvalidPredicate", "InvalidText", "UnknownSortKey", "NoSuchAsset", "NoSuchCollection",
      "ExpectedMore", "MethodNotFound", "InterfaceNotFound", "NotInLibrary", "NotABackup", "CannotWrite",
      "ChangeTokenExpired", "ChangeRejected",
    ]
    // A short run has too few photos for these errors.
    if isWhole { errors.formUnion(["TimedOut", "SnapshotExpired"]) }
    if seconds >= 600 {
      errors.insert("UnknownValueKey")
      let count = report.methods.values.reduce(0, +)
      #expect(count >= report.allCallCount, "each strange value in each member, of which \(count) were tried")
    }
    #expect(errors.subtracting(report.errors.keys) == [], "errors that photod did not answer with")
    #expect(log.contains("its messages take too much memory"), "the bound of all messages was not passed")
    #expect(log.contains("tooManyOfProcess"), "the bound of connections was not passed")
  }

  /// The maximum memory that clients can make photod hold, by the article Architecture.
  private static func documentedMemory() throws -> Int {
    let package = SourceTree.package
    let article = package.appendingPathComponent("Documentation/photod.docc/Architecture.md")
    return try ClientMemory(article: String(contentsOf: article, encoding: .utf8)).process
  }

  /// The peak memory of a process, in bytes.
  private static func peakMemory(of process: pid_t) throws -> Int { try memory("VmHWM:", of: process) }

  private static func memory(_ name: String, of process: pid_t) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
  }

  /// The resident memory of a process, each second until the task is cancelled, in bytes.
  private static func residentMemories(of process: pid_t) async throws -> [Int] {
    var memories: [Int] = []
    while !Task.isCancelled {
      memories.append(try memory("VmRSS:", of: process))
      // A cancelled task does not wait.
      do { try await Task.sleep(for: .seconds(1)) } catch { break }
    }
    return memories
  }

  /// In a long attack, each action was done many times in each half, so a leak makes the second half larger.
  private static func expectNoGrowth(_ memories: [Int]) throws {
    let middle = memories.count / 2
    let first = try #require(memories[..<middle].max())
    let second = try #require(memories[middle...].max())
    print("photod took at most \(first >> 20) MiB in the first half of the attack, and \(second >> 20) in the second")
    #expect(second < first * 5 / 4 + 100_000_000)
  }
}
