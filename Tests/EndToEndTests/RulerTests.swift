import Foundation
import PhotoTestSupport
import Testing

/// Tests the benchmarks themselves, with small numbers. Without this test, they could break unnoticed.
@Suite struct RulerTests {
  @Test(
    .enabled("cc finds no libexif and SQLite, or there is no python3") { try await RulerTests.canMeasure() },
    .enabled(if: hasMeasure, "photod-measure is not built, which takes PHOTOD_BENCHMARKS=1"),
    .timeLimit(.minutes(10)))
  func everyLineOfTheBenchIsMeasured() async throws {
    let json = NSTemporaryDirectory() + "/photod-ruler-\(UUID().uuidString).json"
    let run = try await PythonClient.run(
      [Self.bench, "--quick", "--programs", BuiltPrograms.folder, "--json", json], path: "", seconds: 480)
    try #require(run.status == 0, "\(run.output)")
    let figures = try JSONDecoder().decode(Figures.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
    try FileManager.default.removeItem(atPath: json)

    for subject in Self.subjects + Self.listSubjects {
      #expect(figures.lines.contains { $0.what.hasPrefix(subject.what) && $0.isBeside(subject.baseline) }, "\(subject)")
    }
    for line in figures.lines {
      #expect(line.value.isFinite && line.value >= 0, "\(line)")
      #expect(line.baseline == nil || line.baselineValue != nil, "\(line)")
    }
    let targets = figures.lines.flatMap(\.targets).map(\.target)
    for target in [
      "at most 1 × limit.c", "(2 × find + 100)", "p50 under 3 ms", "p99 under 15 ms", "under 50 ms",
      "at most 20 messages", "under 20 ms", "under 30 ms", "under 5 ms", "under 60 MB", "under 2 s", "under 1 s",
      "under 200 µs", "at most 1.1 ms", "at most 0 reloads", "under 64 MB", "at most 1 reads of each",
      "at most 64 KiB of each",
    ] {
      #expect(targets.contains { $0.hasSuffix(target) }, "\(target)")
    }
    if Self.canCountCalls { #expect(targets.contains("at most 10 calls")) }
    // The table is for the article Performance, so it must contain every figure.
    let rows = run.output.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
    #expect(rows.count == figures.lines.count)
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 5 && cells[1].first?.isNumber == true, "\(row)")
    }
  }

  /// The older set of programs has no photod-measure, as if it were from before `reads` was measured.
  @Test(
    .enabled(if: hasMeasure, "photod-measure is not built, which takes PHOTOD_BENCHMARKS=1"), .timeLimit(.minutes(5)))
  func twoSetsOfProgramsAreComparedInPairs() async throws {
    let older = NSTemporaryDirectory() + "/photod-ruler-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: older, withIntermediateDirectories: true)
    defer { _ = Result { try FileManager.default.removeItem(atPath: older) } }
    for name in ["photod", "photod-watch", "photod-extract", "photoctl"] {
      try FileManager.default.createSymbolicLink(
        atPath: older + "/" + name, withDestinationPath: BuiltPrograms.path(name))
    }
    let json = older + "/comparison.json"
    let run = try await PythonClient.run(
      [
        Self.bench, "--quick", "--pairs", "2", "--only", "memory", "--only", "reads", "--programs",
        BuiltPrograms.folder,
        "--beside", older, "--json", json,
      ], path: "", seconds: 240)
    try #require(run.status == 0, "\(run.output)")
    let comparison = try JSONDecoder().decode(Comparison.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
    #expect(
      comparison.lines.map(\.what)
        == ["a first scan", "a restart"].map { "memory at 300 after \($0), both programs, RSS" })
    for line in comparison.lines {
      #expect(line.pairs.count == 2 && line.pairs.allSatisfy { $0.count == 2 && $0.allSatisfy { $0 > 0 } }, "\(line)")
      // The median of two ratios is their mean.
      let ratios = line.pairs.map { $0[1] / $0[0] }
      let ratio = try #require(line.ratio)
      #expect(abs(ratio - (ratios[0] + ratios[1]) / 2) < 1e-9 && line.worse == (ratio > 1.05), "\(line)")
    }
    #expect(comparison.skipped.keys.sorted() == ["reads"])
    #expect(comparison.skipped["reads"]?.contains("photod-measure") == true)
    #expect(run.output.contains("skipped: reads: the older programs cannot run it"))
  }

  @Test(.enabled("there is no python3") { try await RulerTests.hasPython() })
  func missedTargetsAndWorseLinesAreMarked() async throws {
    let program = """
      from report import Report, at_most
      from comparison import Comparison

      def report(**values):
          report = Report()
          for what, (value, unit) in values.items():
              report.add(what, value, unit, targets=[at_most(value, 10, unit)])
          return report

      missed = report(small=(9, "ms"), large=(11, "ms"))
      print(len(missed.missed()), *[line.split("|")[5].strip() for line in missed.markdown().splitlines()[2:]])
      both = Comparison()
      for newer in [1.0, 1.06, 2.0]:
          older = report(time=(1, "s"), rate=(1, "files/s"), same=(1, "s"), zero=(0, "calls"), none=(0, "calls"))
          both.add(older, report(time=(newer, "s"), rate=(newer, "files/s"), same=(1.05, "s"), zero=(1, "calls"),
                                 none=(0, "calls"), new=(1, "s")))
      print(*[what for what, _ in both.missed()], *both.skipped)
      print(*[line.split("|")[1].strip() for line in both.markdown().splitlines() if "WORSE" in line])
      """
    let run = try await PythonClient.run(
      ["-c", program], path: SourceTree.tests.appendingPathComponent("Benchmarks").path)
    #expect(run.output == "1 at most 10 ms: met at most 10 ms: **MISSED**\ntime zero new\ntime zero\n")
  }

  /// The lines of the bench with their baselines. The numbers are those of a smoke run.
  private static let subjects: [(what: String, baseline: String?)] = [
    ("first scan of 300", "limit.c, one thread"), ("first scan of 300", "limit.c, two threads"),
    ("first scan of 300", "find -printf"), ("first scan of 300, files a second", "limit.c, one thread"),
    ("first scan of 300, CPU", "limit.c, one thread"), ("first scan of 300, peak memory", "limit.c, one thread"),
    ("first scan of 300, catalog an asset", "limit.c, one thread"), ("first scan of 600", "limit.c, one thread"),
    ("first scan of 300 of 16 kB", "limit.c, one thread"), ("CPU of one new photo", nil),
    ("restart over 300, nothing changed", "find -printf"), ("restart over 300, 10 added and", "find -printf"),
    ("close(2) to the history's event", "inotify alone"), ("close(2) to an observer", "inotify alone"),
    ("rename(2) to the history's event", "inotify alone"), ("rename(2) to an observer", "inotify alone"),
    ("burst of 50", "inotify alone"), ("folder of 50 renamed", "inotify alone"),
    ("folder of 50 deleted", "inotify alone"), ("rename(2) above 100 folders", "inotify alone"),
    ("newest 100 of 300", "true"), ("idle over 300", "sleep"), ("memory at 300 after a first scan", nil),
    ("memory at 300 after a restart", nil),
  ]

  private static let hasMeasure =
    FileManager.default.isExecutableFile(atPath: BuiltPrograms.path("photod-measure"))

  /// The lines that need photod-measure, which `make test` builds.
  private static let listSubjects: [(what: String, baseline: String?)] = [
    ("reads of a photo", nil), ("bytes of a photo", nil),
    ("full details, 200 with 20 removed and 20 inserted", "a plain Heckel"),
    ("full details, 400 shuffled", "a plain Heckel"),
    ("full details, 10 with 1 removed and 1 inserted", "Swift's difference(from:)"),
    ("full details, 10 shuffled", "Swift's difference(from:)"),
    ("one photo's date changed, an observation of all 20", "fetched anew"),
    ("one photo's date changed, an observation of all 2,000", "fetched anew"),
    ("one photo's date changed, an observation, one of 1,000 distinct", "one fetch"), ("one favorite", nil),
    ("1,000 photos placed in one album", "the rows alone in SQLite"),
    ("one photo moved in an album of 1,000, its durable commit", "the row alone in SQLite"),
    ("one photo moved in an album of 1,000, an observation of it", nil),
    ("100 photos titled", "the rows alone in SQLite"), ("100 titles undone", "the rows alone in SQLite"),
    ("200 places in an album of 800 undone", "the rows alone in SQLite"),
    ("deletion of an album of 800 undone", "the rows alone in SQLite"),
    ("20 observers of all 2,000", "the same bytes through 20 socket pairs"),
    ("memory at 2,000 with 20 observers", nil), ("observers of 10 distinct fetches", "one fetch"),
    ("Fetch of the newest 100", "the same read in one process"), ("Fetch of 100 of an album", "the same read"),
    ("Fetch of 100 with a word", "the same read"), ("memory at 2,000 idle", nil),
    ("memory at 2,000 with one observer", nil), ("memory at 2,000 with 80 observers of different lists", nil),
    ("fetch result of 2,000, first screen", nil), ("fetch result of 2,000, its end", nil),
    ("fetch result of 2,000, 30 photos at any place", nil), ("fetch result of 2,000, memory", nil),
    ("fetch result of 2,000, observed, memory of the app", nil),
    ("fetch result of 2,000, observed, memory of photod", nil),
    ("fetch result of 2,000, a change after a restart", nil),
  ]

  private struct Figures: Decodable {
    struct Target: Decodable {
      let target: String
      let met: Bool
    }
    struct Line: Decodable {
      let what: String
      let value: Double
      let unit: String
      let targets: [Target]
      let baseline: String?
      let baselineValue: Double?

      func isBeside(_ name: String?) -> Bool {
        guard let name else { return baseline == nil }
        return baseline?.hasPrefix(name) ?? false
      }
    }
    let lines: [Line]
  }

  private struct Comparison: Decodable {
    struct Line: Decodable {
      let what: String
      /// The older and the newer value of each pair.
      let pairs: [[Double]]
      let ratio: Double?
      let worse: Bool
    }
    let lines: [Line]
    let skipped: [String: String]
  }

  private static let bench = SourceTree.tests.appendingPathComponent("Benchmarks/bench").path

  private static let canCountCalls = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains
  {
    FileManager.default.isExecutableFile(atPath: $0 + "/strace")
  }

  private static func hasPython() async throws -> Bool {
    guard PythonClient.executable != nil else { return false }
    return try await PythonClient.run(["-c", ""], path: "").status == 0
  }

  /// Whether the bench can compile limit.c on this machine.
  private static func canMeasure() async throws -> Bool {
    let compile = """
      import os, subprocess
      source = b"#include <libexif/exif-data.h>\\n#include <sqlite3.h>\\n"
      subprocess.run([os.environ.get("CC", "cc"), "-E", "-"], input=source, stdout=subprocess.DEVNULL, check=True)
      """
    return try await PythonClient.run(["-c", compile], path: "").status == 0
  }
}
