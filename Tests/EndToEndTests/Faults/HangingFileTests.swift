import GRDB
import Glibc
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

/// A file that hangs or ends its reader concerns no other file, and is remembered.
@Suite(
  .enabled(if: ScriptedExtractor.hasPython, "/usr/bin/python3 is not installed"), .timeLimit(.minutes(10)))
struct HangingFileTests {
  /// A photod with the scripted reader, which has read one file already.
  private func withScript(_ body: (DaemonFixture) async throws -> Void) async throws {
    try await DaemonFixture.with { fixture in
      fixture.environment["PHOTOD_EXTRACT"] = try ScriptedExtractor.install(in: fixture.directory)
      try fixture.write("first.jpg")
      try await fixture.start()
      _ = try await fixture.synchronize()
      try await body(fixture)
    }
  }

  private func failure(_ fixture: DaemonFixture, _ name: String) throws -> String {
    let result = try fixture.photoctl("why", fixture.path(name))
    return String(decoding: result.output, as: UTF8.self)
  }

  /// Writes photos one after the other, and measures the time until each of them is in the library.
  ///
  /// - Parameter isOver: whether no further photo is to be written.
  private func delays(
    _ fixture: DaemonFixture, _ folder: String, _ numbers: Range<Int>, until isOver: () async throws -> Bool = { false }
  ) async throws -> [Duration] {
    var delays: [Duration] = []
    let before = try await fixture.ids().ids.count
    for number in numbers {
      if try await isOver() { break }
      let start = ContinuousClock.now
      try fixture.write("\(folder)/other-\(number).jpg", number)
      // The status is sent at most ten times a second, so the list itself is asked for.
      try await eventually("photo \(number) is in the library", every: .milliseconds(2)) {
        try await fixture.ids().ids.count == before + number - numbers.lowerBound + 1
      }
      delays.append(ContinuousClock.now - start)
    }
    return delays
  }

  /// Each delay is compared with the longest one of a run without a hanging file. On a busy machine, one of them may be longer
  /// for another reason. If the hanging file is the reason, each attempt has such a delay.
  @Test func fileThatHangsDelaysNoOtherPhoto() async throws {
    try await withScript { fixture in
      var attempts: [String] = []
      for attempt in 0..<4 {
        let undisturbed = try await delays(fixture, "\(attempt)", 0..<20)
        let count = try await fixture.ids().ids.count
        try fixture.write("\(attempt)/hang.jpg", attempt)
        // The status counts it as pending from the moment when it is in the library without its facts.
        _ = try await fixture.status { $0.assetCount == count + 1 }
        let disturbed = try await delays(fixture, "\(attempt)", 20..<40) {
          try await fixture.status().readers?.blamedFiles != attempt
        }
        let hangs = disturbed.count >= 3
        let longest = try #require(undisturbed.max())
        if hangs, disturbed.allSatisfy({ $0 < longest + .milliseconds(50) }) { return }
        attempts.append(hangs ? "\(disturbed), undisturbed \(undisturbed)" : "the file did not hang long enough")
        _ = try await fixture.status { $0.readers?.blamedFiles == attempt + 1 }
      }
      Issue.record("\(attempts.joined(separator: "\n"))")
    }
  }

  @Test func fileThatHangsIsRememberedAndExplained() async throws {
    try await withScript { fixture in
      try fixture.write("hang.jpg")
      _ = try await fixture.status { $0.readers?.blamedFiles == 1 }
      _ = try await fixture.synchronize()
      #expect(try failure(fixture, "hang.jpg").contains("reading it took longer than 5 s"))
      let status = try await fixture.status()
      #expect(status.assetCount == 2 && status.failedCount == 1 && (status.readers?.restarts ?? 0) >= 1)
      let shown = String(decoding: try fixture.photoctl("status").output, as: UTF8.self)
      #expect(shown.contains("\nmetadata is read by ") && shown.contains(" restart, 1 file given up\n"), "\(shown)")

      // The file would hang the reader again.
      fixture.kill(SIGTERM)
      try await fixture.start()
      _ = try await fixture.synchronize()
      let restarted = try await fixture.status()
      #expect(restarted.failedCount == 1)
      #expect(restarted.readers?.blamedFiles == 0 && restarted.readers?.restarts == 0, "the file was not read again")
      #expect(try failure(fixture, "hang.jpg").contains("reading it took longer than 5 s"))
    }
  }

  @Test func fileThatEndsItsReaderIsRememberedAcrossRestarts() async throws {
    try await withScript { fixture in
      for name in ["a.jpg", "crash.jpg", "b.jpg", "c.jpg"] { try fixture.write(name) }
      _ = try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary() == fixture.pathsOnDisk())
      #expect(try failure(fixture, "crash.jpg").contains("reading it ended photod-extract"))
      #expect(try await fixture.status().failedCount == 1)
      let titles = try await fixture.assets().map(\.title)
      #expect(titles.filter { $0 == "read" }.count == 4 && titles.count == 5)
      fixture.kill(SIGTERM)
      try await fixture.start()
      _ = try await fixture.synchronize()
      let status = try await fixture.status()
      #expect(status.failedCount == 1 && status.readers?.blamedFiles == 0)
      #expect(try failure(fixture, "crash.jpg").contains("reading it ended photod-extract"))
    }
  }

  /// The catalog is that of a photod whose reader was older.
  @Test func fileThatEndedAnOlderReaderIsTriedAgain() async throws {
    try await withScript { fixture in
      try fixture.write("crash.jpg")
      _ = try await fixture.status { $0.readers?.blamedFiles == 1 }
      fixture.kill(SIGTERM)
      let catalog = try DatabaseQueue(path: fixture.catalog)
      try await catalog.write { database in
        #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM resource WHERE reader_version > 0") == 2)
        try database.execute(sql: "UPDATE resource SET reader_version = 0")
      }
      try catalog.close()
      try await fixture.start()
      _ = try await fixture.status { $0.readers?.blamedFiles == 1 }
      _ = try await fixture.synchronize()
      #expect(try failure(fixture, "crash.jpg").contains("reading it ended photod-extract"))
      #expect(try fixture.logText().contains("newer reader"))
    }
  }

  /// A reader that is slower than the library waits makes the photo appear first, and its facts later. A sync waits for
  /// them.
  @Test func syncWaitsForTheFactsOfASlowFile() async throws {
    try await withScript { fixture in
      try fixture.write("slow.jpg")
      _ = try await fixture.synchronize()
      let asset = try #require(try await fixture.assets().first { $0.resources[0].filename == "slow.jpg" })
      #expect(asset.title == "read")
    }
  }

  @Test func photodStopsWhileAFileHangs() async throws {
    try await withScript { fixture in
      try fixture.write("hang.jpg")
      _ = try await fixture.status { $0.assetCount == 2 }
      let start = ContinuousClock.now
      fixture.kill(SIGTERM)
      #expect(ContinuousClock.now - start < .seconds(4))
      #expect(fixture.process?.terminationStatus == 0)
    }
  }
}
