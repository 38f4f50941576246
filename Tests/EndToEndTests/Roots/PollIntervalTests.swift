import Foundation
import PhotoModel
import PhotoTestSupport
import Testing

/// The table `[poll-interval-seconds]` of the configuration. There is no inotify instance, so photod polls both roots.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"))
struct PollIntervalTests {
  @Test func rootIsPolledInTheIntervalOfTheConfiguration() async throws {
    let disk = try Disk()
    try await DaemonFixture.with { fixture in
      try fixture.write("slow/0.jpg", 100)
      try fixture.write("fast/0.jpg", 0)
      let file = fixture.directory + "/config.toml"
      let roots = "roots = ['\(fixture.path("slow"))', '\(fixture.path("fast"))']\n"
      try (roots + "[poll-interval-seconds]\n'\(fixture.path("slow"))' = 3600\n")
        .write(toFile: file, atomically: true, encoding: .utf8)
      fixture.environment["PHOTOD_WATCH"] = try Namespace.wrapper(disk, .instances, 0)
      try await fixture.start(roots: [], arguments: ["--config", file])
      try await fixture.synchronize()
      #expect(try await fixture.status().roots.map(\.watch) == [.polling, .polling])
      var count = 2
      /// Adds a photo, and waits until photod has found it by a poll.
      func add(_ name: String) async throws {
        count += 1
        try fixture.write(name, count)
        let wanted = count
        try await fixture.status { $0.assetCount >= wanted }
      }

      // The first polls include both roots. They have ended when eight photos of the fast root have come, one after another.
      for index in 1...8 { try await add("fast/\(index).jpg") }
      try fixture.write("slow/1.jpg", 101)
      for index in 9...12 { try await add("fast/\(index).jpg") }
      let slow = fixture.path("slow/1.jpg")
      #expect(!(try await fixture.pathsInLibrary().contains(slow)))
      // A sync does not wait for the interval.
      try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary().contains(slow))
      count += 1

      // Without the interval, the root is polled as often as the other.
      try roots.write(toFile: file, atomically: true, encoding: .utf8)
      fixture.kill(SIGHUP)
      try await add("slow/2.jpg")
    }
  }
}
