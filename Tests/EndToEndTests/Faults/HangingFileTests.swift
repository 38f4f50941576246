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

  @Test func fileThatHangsDelaysNoOtherPhoto() async throws {
    try await withScript { fixture in
      try fixture.write("hang.jpg")
      // The status counts it as pending from the moment when it is in the library without its facts.
      _ = try await fixture.status { $0.assetCount == 2 }
      var delays: [Duration] = []
      for number in 0..<20 {
        let start = ContinuousClock.now
        try fixture.write("other-\(number).jpg")
        // The status is sent at most ten times a second, so the list itself is asked for.
        try await eventually("photo \(number) is in the library", every: .milliseconds(2)) {
          try await fixture.ids().ids.count == 3 + number
        }
        delays.append(ContinuousClock.now - start)
      }
      let median = delays.sorted()[delays.count / 2]
      #expect(median < .milliseconds(50), "\(delays)")
      #expect(try await fixture.status().readers?.blamedFiles == 0, "the file still hangs, or nothing was shown")
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
        #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM resource WHERE reader_version = 1") == 2)
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
