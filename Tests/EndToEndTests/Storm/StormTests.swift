import Glibc
import PhotoTestSupport
import Testing

/// After any storm, and any failure of photod-watch during it, the library equals the disk.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct StormTests {
  private static let seeds = 1...effort("PHOTOD_STORM_SEEDS", 2)
  private static let time = Duration.seconds(effort("PHOTOD_STORM_SECONDS", 10))

  @Test(arguments: seeds)
  func libraryEqualsDiskAfterStorm(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: seed)
      let count = await storm.run(for: Self.time)
      try await expectEqual(fixture, seed, count)
      #expect(try await fixture.status().state == .live)
    }
  }

  @Test(arguments: seeds)
  func libraryEqualsDiskAfterOverflow(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: 100 + seed)
      _ = await storm.run(for: .seconds(1))
      let watch = try fixture.watchProcessID()
      kill(watch, SIGSTOP)
      var count = await storm.run(for: .seconds(1))
      // This causes more events than the kernel queues, whatever the storm did.
      storm.burst()
      kill(watch, SIGCONT)
      count += await storm.run(for: .seconds(2))
      try await expectEqual(fixture, seed, count)
      // On a loaded machine, photod-watch may have been stopped for half a minute. Then photod considered it hung, and
      // replaced it.
      let counters = try #require(try await fixture.status().counters)
      #expect(counters.overflows > 0 || counters.watcherStarts > 1)
    }
  }

  @Test(arguments: seeds)
  func libraryEqualsDiskAfterWatcherIsKilled(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: 200 + seed)
      async let running = storm.run(for: .seconds(4))
      _ = await Storm(folder: fixture.photos, outside: storm.outside, seed: 300 + seed).run(
        for: .seconds(2), threads: 1)
      kill(try fixture.watchProcessID(), SIGKILL)
      let count = await running
      try await expectEqual(fixture, seed, count)
      let counters = try #require(try await fixture.status().counters)
      #expect(counters.watcherStarts > 1)
    }
  }

  /// Expects that the library equals the disk, and that the storm left photos there.
  private func expectEqual(_ fixture: DaemonFixture, _ seed: Int, _ count: Int) async throws {
    try await fixture.expectEqualToDisk("seed \(seed), \(count) operations")
    #expect(try !fixture.pathsOnDisk().isEmpty, "seed \(seed), \(count) operations")
  }

  private static let disasterSeeds =
    effort("PHOTOD_STORM_SEED", 0) > 0 ? [effort("PHOTOD_STORM_SEED", 0)] : Array(seeds)

  @Test(arguments: disasterSeeds)
  func libraryEqualsTheDiskAfterDisasters(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      try await DisasterStorm(fixture, space: nil, seed: seed).run(for: Self.time)
      fixture.kill(SIGTERM)
    }
  }

  @Test(
    .enabled(if: MountSpace.isPermitted, "mounts in a user namespace are not permitted here"), arguments: disasterSeeds)
  func libraryEqualsTheDiskAfterDisastersWithADrive(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      let space = try MountSpace(directory: fixture.directory)
      try await DisasterStorm(fixture, space: space, seed: seed).run(for: Self.time)
      fixture.kill(SIGTERM)
      space.end()
    }
  }
}
