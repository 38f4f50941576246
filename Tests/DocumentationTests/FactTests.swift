import Foundation
import TestTools
import Testing

/// The articles state the bounds and times that the sources have.
struct FactTests {
  /// A statement of an article, and the line of the source that makes it true. If either is changed, the test fails,
  /// and shows the other place to change.
  struct Fact: CustomTestStringConvertible, Sendable {
    let article: String
    let text: String
    let file: String
    let source: String

    var testDescription: String { "\(article): \(text)" }
  }

  static let facts = [
    Fact(
      article: "Architecture", text: "frames of at most 1 MiB", file: "WatchRecords/WatchStream.swift",
      source: "maximumFrameBytes = 1 << 20"),
    Fact(
      article: "Architecture", text: "| 524,288 |", file: "photod-watch/EventBacklog.swift",
      source: "maximumEvents = 1 << 19"),
    Fact(
      article: "Architecture", text: "64 MiB of records", file: "photod-watch/RecordOutput.swift",
      source: "maximumBufferedBytes = 64 << 20"),
    Fact(
      article: "Architecture", text: "| 64 frames |", file: "PhotoWatch/Watcher.swift",
      source: "maximumWaitingFrames: Int = 64"),
    Fact(
      article: "Architecture", text: "rested for half a second", file: "photod-watch/PendingFiles.swift",
      source: "restTime = Interval.milliseconds(500)"),
    Fact(
      article: "Architecture", text: "up to 8 connections", file: "PhotoCatalog/Catalog.swift",
      source: "maximumReaderCount = 8"),
    Fact(
      article: "Architecture", text: "30 days or 10,000 commits, whichever is more, but at most 64 MiB",
      file: "PhotoDaemon/BackupService.swift",
      source: "historyDays = 30\n  private static let historyCommits: Int64 = 10_000\n"
        + "  static let historyBytes: Int64 = 64 << 20"),
    Fact(
      article: "Architecture", text: "| one call | 16 MiB |", file: "Varlink/VarlinkService.swift",
      source: "maximumMessageBytes = 16 << 20"),
    Fact(
      article: "Architecture", text: "| connections | 2,048, or half of the files",
      file: "Varlink/VarlinkService.swift",
      source: "maximumConnections = 2_048"),
    Fact(
      article: "Architecture", text: "still to be sent | 128 MiB together, or ten times the longest",
      file: "PhotoLive/ClientLists.swift",
      source: "package static let maximumBytes = 128 << 20"),
    Fact(
      article: "Architecture", text: "| reading for one page of a reply | 2 s of processor time |",
      file: "PhotoServer/ReadThreads.swift", source: "standardBudget = Duration.seconds(2)"),
    Fact(
      article: "Architecture", text: "after 10 s for one page, or two minutes for all pages",
      file: "PhotoServer/LibraryService.swift",
      source: "pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) }"),
    Fact(
      article: "Architecture", text: "after 10 s for one page, or two minutes for all pages",
      file: "PhotoServer/LibraryService.swift",
      source: "try await Task.sleep(until: $0 + .seconds(120), clock: .continuous)"),
    Fact(
      article: "Protocol", text: "closed after 10 minutes", file: "Varlink/VarlinkService.swift",
      source: "idleTimeout = Duration.seconds(600)"),
    Fact(
      article: "Protocol", text: "16 calls sent ahead", file: "Varlink/VarlinkService.swift",
      source: "maximumQueuedCalls = 16"),
    Fact(
      article: "GettingStarted", text: "up to 40,000 a page", file: "PhotoContract/Limits.swift",
      source: "idsPerPage = 40_000"),
    Fact(
      article: "Operating", text: "more than 100 photos and more than a fifth",
      file: "PhotoIndexer/Reconciler+Scans.swift", source: "var share = 0.2\n  var count = 100"),
    Fact(
      article: "Operating", text: "after 0.1 s, later after up to 10 s", file: "WorkerProcess/WorkerThread.swift",
      source: "shortestBackoff = Duration.milliseconds(100)\n  static let longestBackoff = Duration.seconds(10)"),
    Fact(
      article: "Operating", text: "after 1 s, later up to every 60 s", file: "PhotoIndexer/CatalogRestart.swift",
      source: "firstDelay = Duration.seconds(1)\n  private static let longestDelay = Duration.seconds(60)"),
    Fact(
      article: "Operating", text: "longer than 1.8 s", file: "PhotoDaemon/Daemon.swift",
      source: "stopTime = Duration.milliseconds(1800)"),
    Fact(
      article: "Operating", text: "0 to 2,592,000 seconds", file: "PhotoDaemon/ConfigurationFile.swift",
      source: "maximumGraceSeconds = 2_592_000.0"),
    Fact(
      article: "Operating", text: "the kernel allows 107", file: "PhotoDaemon/UnixSocketAddress.swift",
      source: "maximumPathBytes = 107"),
    Fact(
      article: "Operating", text: "starts it again after three seconds", file: "../systemd/photod.service",
      source: "RestartSec=3s"),
    Fact(
      article: "Operating", text: "makes no turn for a minute", file: "../systemd/photod.service",
      source: "WatchdogSec=60s"),
    Fact(
      article: "Operating", text: "`MemoryHigh=3G`, `MemoryMax=4G`", file: "../systemd/photod.service",
      source: "MemoryHigh=3G\nMemoryMax=4G"),
  ]

  /// The functions that decide about identity, and their files below Sources/PhotoIndexer.
  private static let decisions = [
    ("fileMoved", "Reconcile/Reconciler+Files.swift"), ("move", "Reconcile/Reconciler+Changes.swift"),
    ("directoryMoved", "Reconcile/Reconciler+Directories.swift"),
    ("sourceOfMove", "Identity/Reconciler+Identity.swift"), ("isSave", "Reconcile/Arrivals/Reconciler+Saves.swift"),
    ("tombstone", "Identity/Reconciler+Identity.swift"), ("successor", "Identity/Reconciler+Identity.swift"),
  ]

  @Test(arguments: decisions) func articleNamesTheFunctionOfADecision(function: String, file: String) throws {
    let rows = try Articles.text("Architecture").split(separator: "\n").filter { $0.hasPrefix("| ") }
    #expect(rows.contains { $0.contains("`\(function)`") && $0.contains("`\(file)`") })
    let sources = Articles.package.appending(path: "Sources/PhotoIndexer")
    #expect(try String(contentsOf: sources.appending(path: file), encoding: .utf8).contains("func \(function)("))
  }

  @Test(arguments: facts) func factOfAnArticleIsInTheSources(_ fact: Fact) throws {
    #expect(try Self.joined(Articles.text(fact.article)).contains(fact.text), "the article no longer has this text")
    #expect(try Self.source(fact.file).contains(fact.source), "\(fact.file) no longer has this text")
  }

  /// The text of a file of `Sources`. The path names the target and the file, without folders between them.
  private static func source(_ path: String) throws -> String {
    let sources = Articles.package.appending(path: "Sources")
    var file = sources.appending(path: path).standardizedFileURL
    if !FileManager.default.fileExists(atPath: file.path) {
      let parts = path.split(separator: "/")
      let files = FileManager.default.enumerator(at: sources.appending(path: parts[0]), includingPropertiesForKeys: nil)
      file = try #require(files?.compactMap { $0 as? URL }.first { $0.lastPathComponent == parts[1] }, "no \(path)")
    }
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// The sum must be below 4 GiB, which is `MemoryMax` of photod.service.
  @Test func memoryThatClientsCanUseIsTheSumOfItsParts() throws {
    let article = try Articles.text("Architecture")
    let memory = try ClientMemory(article: article)
    func gigabytes(_ bytes: Int) -> String {
      let tenths = (bytes + 50_000_000) / 100_000_000
      return "\(tenths / 10).\(tenths % 10) GB"
    }
    #expect(memory.process > 0 && memory.kernel > 0)
    #expect(memory.process + memory.kernel < 4 << 30)
    #expect(
      Self.joined(article).contains(
        "That is \(gigabytes(memory.process + memory.kernel)), of which \(gigabytes(memory.process)) are in photod itself."
      ))
  }

  @Test func architectureNamesEveryTarget() throws {
    let article = try Articles.text("Architecture")
    let manifest = try String(contentsOf: Articles.package.appending(path: "Package.swift"), encoding: .utf8)
    for match in manifest.matches(of: /\.(?:executableTarget|target)\(\s*name: "(\w[\w-]*)"/)
    // Targets whose name begins with C are the C part of another target.
    where match.1.firstMatch(of: /^C[A-Z]/) == nil {
      #expect(article.contains("`\(match.1)`"), "\(match.1)")
    }
  }

  @Test func eachMethodOfTheContractIsServed() throws {
    let interface = try Self.source("PhotoContract/org.photod.library.varlink")
    let service = try Self.source("PhotoServer/LibraryService.swift")
    let methods = interface.matches(of: /(?m)^method (\w+)\(/).map(\.1)
    #expect(methods.count > 10)
    #expect(methods.filter { !service.contains("case \"\($0)\":") } == [])
  }

  /// The text as one line, because a paragraph's lines are broken anywhere.
  private static func joined(_ text: String) -> String { text.split(separator: "\n").joined(separator: " ") }
}
