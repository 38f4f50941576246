import Foundation
import Glibc
import PhotoCatalog
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// The documented programs behind `photoctl watch --format jsonl`, while the processes are killed.
/// PHOTOD_CONSUMER_ROUNDS and PHOTOD_SEED set the number of rounds and the seed.
@Suite(.timeLimit(.minutes(30))) struct ConsumerTests {
  private static let hasTools = ["bash", "python3", "jq"].allSatisfy { name in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
  private let rounds = effort("PHOTOD_CONSUMER_ROUNDS", 12)

  /// The list that the article's program keeps must equal the library's list, whichever process is killed.
  @Test(.enabled(if: hasTools, "bash, python3 or jq is not installed"), arguments: [[], ["--favorite"]])
  func programThatKeepsAListHasItAfterAnyKill(query: [String]) async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<60 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let program = fixture.directory + "/keep.py"
      let applied = try #require(
        Self.listings("python", in: "GettingStartedInOtherLanguages").first { $0.contains("def applied") })
      let keep = try #require(try Self.listings("python", in: "FollowingFromScripts").first)
      try Data((applied + keep).utf8).write(to: URL(fileURLWithPath: program))
      let (state, sort) = (fixture.directory + "/state", query.isEmpty ? ["--sort", "filename"] : [])
      let consumer = Consumer(
        "python3",
        [program, state, BuiltPrograms.path("photoctl"), "--socket", fixture.socket, "watch"] + query + sort,
        fixture)
      let options =
        query.isEmpty
        ? FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)])
        : FetchOptions(predicate: "isFavorite == true")
      struct State: Decodable { let ids: [AssetID] }
      try await disturb(fixture, consumer) {
        var (fresh, stored): ([AssetID], [AssetID]?) = ([], nil)
        try await eventually("the list \(fresh), not \(stored ?? [])") {
          // The consumer ends soon after its photoctl has ended.
          try consumer.startIfNeeded()
          stored = try FileManager.default.contents(atPath: state).map {
            try JSONDecoder().decode(State.self, from: $0).ids
          }
          fresh = try await fixture.ids(options).ids
          return stored == fresh
        }
      }
    }
  }

  /// The article's script hands each commit to its command at least once, and in order.
  @Test(.enabled(if: hasTools, "bash, python3 or jq is not installed")) func scriptGetsEachCommitAfterAnyKill()
    async throws
  {
    try await DaemonFixture.with { fixture in
      for index in 0..<60 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      let start = try await fixture.synchronize()
      let (script, command) = (fixture.directory + "/follow", fixture.directory + "/command")
      let (state, log) = (fixture.directory + "/state", fixture.directory + "/log.jsonl")
      try Data(
        try #require(Self.listings("bash", in: "FollowingFromScripts").first { $0.contains("usage: follow") }).utf8
      )
      .write(to: URL(fileURLWithPath: script))
      try Data("#!/bin/bash\n[ \"$1\" = all ] || cat >>'\(log)'\n".utf8)
        .write(to: URL(fileURLWithPath: command))
      try #require(chmod(command, 0o700) == 0)
      try fixture.linkSocket()
      let consumer = Consumer("bash", [script, state, command], fixture, killsGroup: true)
      var (lines, count) = (0, 0)
      try await disturb(fixture, consumer) {
        var (final, stored): (String, String?) = ("", nil)
        try await eventually("the last commit \(final), not \(stored ?? "none")") {
          try consumer.startIfNeeded()
          stored = FileManager.default.contents(atPath: state).map { String(decoding: $0, as: UTF8.self) }
          final = try await fixture.status().token
          return stored == final + "\n"
        }
        // No commit has come after the script's own first token yet.
        guard let data = FileManager.default.contents(atPath: log) else { return }
        let logged = data.split(separator: UInt8(ascii: "\n"))
        let changes = try logged.map { try JSONDecoder().decode(PersistentChange.self, from: $0) }
        // The command can find the photos of a commit by their paths. Only a photo that left at once has none.
        struct Line: Decodable { let paths: [String: String] }
        let paths = try logged.flatMap { try JSONDecoder().decode(Line.self, from: $0).paths.values }
        #expect(paths.contains { $0.hasPrefix(fixture.photos + "/") })
        var seen: Set<String> = []
        let first = changes.filter { seen.insert($0.token).inserted }
        // Commits before that token are covered by the script's full pass.
        #expect(first == (try await self.changes(fixture, since: start).suffix(first.count)))
        (lines, count) = (changes.count, first.count)
      }
      #expect(count > rounds)
      print("\(count) commits in \(lines) lines")
    }
  }

  private func changes(_ fixture: DaemonFixture, since token: String) async throws -> [PersistentChange] {
    var all: [PersistentChange] = []
    while case let page = try await fixture.changes(since: all.last?.token ?? token), !page.isEmpty { all += page }
    return all
  }

  /// Rounds in which photos change while a process is killed. `check` is called after each round.
  private func disturb(
    _ fixture: DaemonFixture, _ consumer: Consumer, check: () async throws -> Void
  ) async throws {
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(effort("PHOTOD_SEED", 5))))
    var next = 1_000
    var told: [String: Int] = [:]
    defer {
      consumer.kill()
      print(consumer.errorText)
    }
    for round in 0..<rounds {
      try consumer.startIfNeeded()
      func change(_ count: Int) async throws {
        for _ in 0..<count {
          let ids = try await fixture.ids().ids.shuffled(using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            next += 1
            try fixture.write("\(next).jpg", next)
            try await fixture.synchronize()
          case 1:
            if let name = try FileManager.default.contentsOfDirectory(atPath: fixture.photos).sorted()
              .randomElement(using: &random)
            {
              unlink(fixture.path(name))
            }
          default:
            // A photo may leave the library between the two calls.
            do { try await fixture.setFavorite(Array(ids.prefix(5)), Bool.random(using: &random)) } catch let error
              as VarlinkError
            { #expect(error.name == "org.photod.library.NoSuchAsset") }
          }
        }
      }
      try await change(5)
      let delay = Duration.microseconds(Int.random(in: 0..<200_000, using: &random))
      let victims = ["consumer", "photoctl", "photod", "photod in order", "both", "reader stands still"]
      let victim = round < victims.count ? victims[round] : victims.randomElement(using: &random) ?? ""
      told[victim, default: 0] += 1
      switch victim {
      case "photod", "photod in order":
        // The random delay lets the kill happen at any moment.
        try await Task.sleep(for: delay)
        fixture.kill(victim == "photod" ? SIGKILL : SIGTERM)
        if Bool.random(using: &random) { unlink(fixture.path("\(next).jpg")) }
        try await fixture.start()
      default:
        async let disturbance: Void = {
          try await Task.sleep(for: delay)
          switch victim {
          case "consumer": consumer.kill()
          case "photoctl": consumer.killPhotoctl()
          case "both":
            consumer.killPhotoctl()
            consumer.kill()
          default:
            consumer.signal(SIGSTOP)
            try await Task.sleep(for: .milliseconds(300))
            consumer.signal(SIGCONT)
          }
        }()
        try await change(12)
        try await disturbance
      }
      if victim == "both" {
        fixture.kill(SIGKILL)
        try await fixture.start()
      }
      try await fixture.synchronize()
      // In every other round it has to continue from its present state.
      if round % 2 == 1 || round == rounds - 1 {
        try consumer.startIfNeeded()
        try await check()
      }
    }
    print("rounds: \(told.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
  }

  static func listings(_ language: String, in article: String) throws -> [String] {
    let path = SourceTree.package.appendingPathComponent("Documentation/photod.docc/\(article).md")
    return try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```\(language)\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```\n").first }
  }
}
