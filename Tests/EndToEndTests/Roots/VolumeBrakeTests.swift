import ChangeDetails
import Foundation
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// Photos that are missing from a drive after it is back, and drives within a root.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: MountNamespace.isPermitted, "mounts in a namespace are not permitted here"))
struct VolumeBrakeTests {
  @Test func removalOfMostOfADriveWaitsForConfirmation() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs, photos: 148)
      try drive.mount(fixture.photos)
      try await fixture.start(grace: 600)
      let ids = try await fixture.ids()
      try drive.unmount(fixture.photos)
      try await fixture.roots(.offline)
      try drive.away("for n in $(seq 1 120); do rm drive-$n.jpg; done")
      try drive.mount(fixture.photos)
      let status = try await fixture.roots(.suspect)
      let root = try #require(status.roots.first)
      #expect(root.since != nil && root.reason?.hasPrefix("It lacks 120 photos that it had before.") == true)
      // photoctl prints the reason only once, because the warning repeats it with the path.
      let reason = try #require(root.reason)
      #expect(status.warnings.contains(root.path + reason.dropFirst(2)), "\(status.warnings)")
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.counters().assetsRemoved == 0)
      let why = try await fixture.explain(fixture.photos + "/drive-7.jpg")
      #expect(why.state == "missing" && why.reason.contains("--confirm"))
      #expect(try await fixture.explain(fixture.photos + "/drive-130.jpg").state == "indexed")

      let wouldBe = try await fixture.rescan(dryRun: true)
      #expect(wouldBe == .init(inserted: 0, updated: 0, removed: 120, heldBack: 120))
      let result = try await fixture.rescan(confirm: true)
      #expect(result == .init(inserted: 0, updated: 0, removed: 120))
      #expect(try await fixture.roots(.online).assetCount == 30)
    }
  }

  @Test func withoutAGracePeriodMissingPhotosAreRemovedAtOnce() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs, photos: 148)
      try drive.mount(fixture.photos)
      try await fixture.start(grace: 0)
      try drive.unmount(fixture.photos)
      try await fixture.roots(.offline)
      try drive.away("for n in $(seq 1 120); do rm drive-$n.jpg; done")
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      #expect(try await fixture.counters().assetsRemoved == 120)
    }
  }

  @Test(arguments: Drive.Kind.possible.filter { $0 != .folder })
  func driveWithinARootIsUnmountedAndMountedWithItsPhotos(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try fixture.daemon.write("kept.jpg")
      try fixture.namespace.run("mkdir '\(fixture.photos)/usb'")
      try drive.mount(fixture.photos + "/usb")
      // A photo younger than two seconds is read once more when its folder is listed again. No event reports age.
      try await Task.sleep(for: .seconds(2.1))
      try await fixture.start()
      let ids = try await fixture.ids()
      #expect(ids.count == 15)
      let kept = try #require(ids["kept.jpg"])
      let before = try await fixture.counters()
      var token = try await fixture.daemon.status().token

      try drive.unmount(fixture.photos + "/usb")
      var changes = try await fixture.nextChanges(since: token)
      #expect(changes.map(\.rootAvailability) == [[RootAvailability(path: fixture.photos + "/usb", available: false)]])
      #expect(try await fixture.available() == [kept])
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.rescan() == .init(inserted: 0, updated: 0, removed: 0))
      #expect(try await fixture.rescan(dryRun: true) == .init(inserted: 0, updated: 0, removed: 0))
      let refused = try fixture.daemon.photoctl("rescan", "--dry-run", fixture.photos + "/usb/folder")
      #expect(
        refused.status == 69 && refused.errors.contains("\(fixture.photos)/usb is offline: its drive is not mounted"))
      #expect(try await fixture.available() == [kept])
      #expect(try await fixture.daemon.status().warnings.contains { $0.hasPrefix(fixture.photos + "/usb ") })

      token = try await fixture.daemon.status().token
      try drive.mount(fixture.photos + "/usb")
      changes = try await fixture.nextChanges(since: token)
      #expect(changes.map(\.rootAvailability) == [[RootAvailability(path: fixture.photos + "/usb", available: true)]])
      #expect(try await fixture.available() == Set(ids.values))
      #expect(try await fixture.ids() == ids)
      try await fixture.expectNoWarnings()
      var counters = try await fixture.counters()
      counters.scans = before.scans
      #expect(counters == before)
    }
  }

  @Test func unmountedDriveWithinARootIsOneUpdateForObservers() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs)
      try fixture.daemon.write("kept.jpg")
      try fixture.namespace.run("mkdir '\(fixture.photos)/usb'")
      try drive.mount(fixture.photos + "/usb")
      try await fixture.start()
      var all = try await ObservedList(fixture.daemon, FetchOptions())
      var available = try await ObservedList(fixture.daemon, FetchOptions(excludeUnavailable: true))
      #expect(all.ids.count == 15 && available.ids.count == 15)
      let before = all.ids

      try drive.unmount(fixture.photos + "/usb")
      var details = try await all.next()
      #expect(details.changedAfter.reduce(0) { $0 + $1.count } == 14 && details.changedFields == ["availability"])
      #expect(details.removedBefore.isEmpty && details.insertedAfter.isEmpty && all.ids == before)
      details = try await available.next()
      #expect(details.removedBefore.reduce(0) { $0 + $1.count } == 14 && details.deletedBefore.isEmpty)
      #expect(available.ids == [try #require(try await fixture.ids()["kept.jpg"])])

      try drive.mount(fixture.photos + "/usb")
      details = try await all.next()
      #expect(details.changedAfter.reduce(0) { $0 + $1.count } == 14 && details.changedFields == ["availability"])
      details = try await available.next()
      #expect(details.insertedAfter.reduce(0) { $0 + $1.count } == 14 && available.ids == before)
    }
  }

  /// Like a desktop: the folder with the name of the drive is removed when the drive is unmounted.
  @Test func driveWhoseMountPointIsRemovedStaysAlsoWhenPhotodStartsWithoutIt() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs)
      let place = fixture.photos + "/CARD"
      try fixture.namespace.run("mkdir '\(place)'")
      try drive.mount(place)
      try await fixture.start()
      let ids = try await fixture.ids()
      let token = try await fixture.daemon.status().token
      try fixture.namespace.run("umount '\(place)'; rmdir '\(place)'")
      _ = try await fixture.nextChanges(since: token)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available().isEmpty)

      fixture.daemon.kill(SIGTERM)
      try await fixture.start()
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available().isEmpty)
      try fixture.namespace.run("mkdir '\(place)'")
      try drive.mount(place)
      try await fixture.daemon.status { $0.warnings.isEmpty && $0.state == .live }
      #expect(try await fixture.available() == Set(ids.values))
      #expect(try await fixture.counters().filesRead == 0)
      #expect(try await fixture.ids() == ids)
    }
  }

  @Test func photosBelowANewMountPointStay() async throws {
    try await VolumeFixture.with { fixture in
      try fixture.daemon.write("usb/under.jpg")
      try fixture.daemon.write("kept.jpg")
      let drive = try fixture.drive(.tmpfs)
      try await fixture.start()
      let ids = try await fixture.ids()
      var token = try await fixture.daemon.status().token
      try drive.mount(fixture.photos + "/usb")
      #expect(try await fixture.nextChanges(since: token).map { $0.rootAvailability.map(\.available) } == [[false]])
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available() == [try #require(ids["kept.jpg"])])
      token = try await fixture.daemon.status().token
      try drive.unmount(fixture.photos + "/usb")
      #expect(try await fixture.nextChanges(since: token).map { $0.rootAvailability.map(\.available) } == [[true]])
      #expect(try await fixture.available() == Set(ids.values))

      // A rescan with --confirm accepts the drive.
      try drive.mount(fixture.photos + "/usb")
      try await fixture.daemon.status { $0.warnings.contains { $0.contains("/usb' --confirm") } }
      let result = try await fixture.rescan(fixture.photos + "/usb", confirm: true)
      #expect(result.inserted == 14 && result.removed == 1)
      #expect(try await fixture.ids().count == 15)
      try await fixture.expectNoWarnings()
    }
  }
}

/// A list that is updated from the replies of Observe.
private struct ObservedList {
  struct Parameters: Encodable { let options: FetchOptions }
  struct Reply: Decodable { let observation: Observation }

  private var replies: VarlinkReplies<Reply>.AsyncIterator
  private(set) var ids: [AssetID] = []

  init(_ daemon: DaemonFixture, _ options: FetchOptions) async throws {
    let client = try await daemon.connect()
    replies = client.stream("org.photod.library.Observe", Parameters(options: options), of: Reply.self)
      .makeAsyncIterator()
    while let observation = try await replies.next()?.observation {
      ids += observation.ids ?? []
      if observation.complete == true { break }
    }
  }

  /// Waits for the next difference, applies it and returns it.
  mutating func next() async throws -> FetchResultChangeDetails {
    let details = try #require(try await replies.next()?.observation.details)
    ids = try details.applied(to: ids)
    return details
  }
}
