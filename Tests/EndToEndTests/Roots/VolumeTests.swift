import Foundation
import PhotoModel
import PhotoTestSupport
import Testing

/// Drives that come and go, on real mounts. Photos must not be removed, inserted or read again because of it.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: MountNamespace.isPermitted, "mounts in a namespace are not permitted here"))
struct VolumeTests {
  /// Expects that the counters are unchanged when an unchanged drive comes back. Scans and watcher starts may rise.
  private func expectUntouched(
    _ now: LibraryStatus.Counters, since before: LibraryStatus.Counters,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var expected = before
    (expected.scans, expected.watcherStarts) = (now.scans, now.watcherStarts)
    #expect(now == expected, sourceLocation: sourceLocation)
  }

  @Test(arguments: Drive.Kind.possible)
  func driveThatIsUnmountedAndMountedAgainChangesNothing(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      #expect(ids.count == 14)
      let favorites = Array(ids.values.sorted().prefix(3))
      let token = try await fixture.daemon.setFavorite(favorites)
      let before = try await fixture.counters()

      try drive.unmount(fixture.photos)
      // The empty mount point exists, and the removal brake is off.
      let root = try #require(try await fixture.roots(.offline).roots.first)
      #expect(root.since != nil && root.reason?.contains("not available until") == true)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available().isEmpty)
      #expect(Set(try await fixture.daemon.ids(FetchOptions(collection: "smart:favorites")).ids) == Set(favorites))
      expectUntouched(try await fixture.counters(), since: before)

      try drive.mount(fixture.photos)
      let back = try #require(try await fixture.roots(.online).roots.first)
      #expect(back.since == nil && back.reason == nil)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available() == Set(ids.values))
      #expect(Set(try await fixture.daemon.ids(FetchOptions(collection: "smart:favorites")).ids) == Set(favorites))
      expectUntouched(try await fixture.counters(), since: before)
      let changes = try await fixture.daemon.changes(since: token)
      #expect(changes.map { $0.rootAvailability.map(\.available) } == [[false], [true]])
      #expect(changes.allSatisfy { $0.updatedAssets.isEmpty && $0.origin == "mount" })
    }
  }

  @Test(arguments: Drive.Kind.possible.filter { $0 != .folder })
  func driveIsAcceptedOnARootThatWasAnEmptyMountPoint(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try await fixture.start()
      #expect(try await fixture.ids().isEmpty)
      try drive.mount(fixture.photos)
      try await fixture.daemon.status { $0.assetCount == 14 }
      try await fixture.roots(.online)
      // From now on, the library has photos that it could lose.
      try drive.unmount(fixture.photos)
      try await fixture.roots(.offline)
      #expect(try await fixture.ids().count == 14)
    }
  }

  /// A rescan of an offline root must say that it would remove nothing.
  @Test(arguments: [[], ["--dry-run"]])
  func rescanOfAnOfflineRootReportsTheTimeAndTheRemedy(options: [String]) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      try drive.unmount(fixture.photos)
      let root = try #require(try await fixture.roots(.offline).roots.first)
      let since = try #require(root.since).localTimeToMinute
      for path in ["", "/drive-1.jpg", "/nothing"] {
        let refused = try fixture.daemon.photoctl(["rescan"] + options + [fixture.photos + path])
        #expect(refused.status == 69, "\(refused.errors)")
        #expect(
          refused.errors.contains(
            "\(fixture.photos) is offline since \(since), so it can't be compared"
          ))
        #expect(refused.errors.contains("Mount its drive"))
      }
      #expect(try await fixture.ids() == ids)
      // An offline root does not prevent a rescan of the others.
      #expect(try fixture.daemon.photoctl(["rescan"] + options).status == 0)
    }
  }

  @Test(arguments: Drive.Kind.possible)
  func driveUnmountedWhilePhotodWasDownIsOffline(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      fixture.daemon.kill(SIGTERM)
      try drive.unmount(fixture.photos)

      try await fixture.start()
      #expect(try await fixture.roots(.offline).roots.first?.since != nil)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available().isEmpty)

      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available() == Set(ids.values))
      expectUntouched(try await fixture.counters(), since: .init())
    }
  }

  @Test(arguments: Drive.Kind.possible)
  func onlyChangesOnADriveWhileItWasAwayAreReported(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      let before = try await fixture.counters()
      try drive.unmount(fixture.photos)
      let token = try await fixture.roots(.offline).token
      try drive.away(
        """
        cp '\(fixture.samples)'/20.jpg new.jpg; rm drive-1.jpg; cp '\(fixture.samples)'/22.jpg drive-1.jpg; rm drive-2.jpg
        touch -d '1 hour ago' new.jpg drive-1.jpg
        """)
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      let counters = try await fixture.counters()
      #expect(counters.assetsInserted == before.assetsInserted + 1)
      #expect(counters.assetsUpdated == before.assetsUpdated + 1)
      #expect(counters.assetsRemoved == before.assetsRemoved + 1)
      #expect(counters.filesRead == before.filesRead + 2)
      var expected = ids
      expected["drive-2.jpg"] = nil
      let now = try await fixture.ids()
      expected["new.jpg"] = now["new.jpg"]
      #expect(now == expected && now["new.jpg"] != nil)
      let changes = try await fixture.daemon.changes(since: token)
      #expect(Set(changes.flatMap(\.deletedAssets)) == [try #require(ids["drive-2.jpg"])])
      #expect(Set(changes.flatMap(\.updatedAssets)) == [try #require(ids["drive-1.jpg"])])
    }
  }

  @Test(arguments: Drive.Kind.possible.filter { $0 != .folder })
  func anotherDriveInItsPlaceDeletesNothingUntilItIsConfirmed(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      let other = try fixture.drive(kind, "other", photos: 3)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      try drive.unmount(fixture.photos)
      try other.mount(fixture.photos)
      let status = try await fixture.daemon.status { status in
        status.state == .live && status.roots[0].state == .offline
          && status.warnings.contains { $0.contains("--confirm") }
      }
      #expect(status.roots[0].reason?.contains("photoctl rescan '\(fixture.photos)' --confirm") == true)
      #expect(try await fixture.ids() == ids)
      #expect(try await fixture.available().isEmpty)

      // The first drive is mounted again, and everything is as before.
      try other.unmount(fixture.photos)
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      try await fixture.expectNoWarnings()
      #expect(try await fixture.ids() == ids)

      try drive.unmount(fixture.photos)
      try other.mount(fixture.photos)
      try await fixture.roots(.offline)
      let result = try await fixture.rescan(fixture.photos, confirm: true)
      #expect(result == .init(inserted: 5, updated: 0, removed: 14))
      #expect(
        Set(try await fixture.ids().keys) == [
          "other-1.jpg", "other-2.jpg", "other-3.jpg", "folder/other-a.jpg", "folder/other-b.jpg",
        ])
      try await fixture.roots(.online)
      try await fixture.expectNoWarnings()
    }
  }

  /// If this machine cannot make a kind of drive, the test of that kind is shown as skipped.
  @Test(.enabled(if: MountNamespace.hasLoopDevices, "ext4 needs root, loop devices and mkfs.ext4"))
  func drivesOfExt4AreTriedAsWell() { #expect(Drive.Kind.possible.contains(.ext4)) }

  @Test(.enabled(if: MountNamespace.hasFAT, "FAT needs root, /dev/fuse, fusefat and mkfs.vfat"))
  func drivesOfFATAreTriedAsWell() { #expect(Drive.Kind.possible.contains(.fat)) }

  @Test(arguments: Drive.Kind.possible.filter { $0 == .ext4 })
  func readOnlyDriveIsIndexed(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try drive.mount(fixture.photos, options: "ro")
      try await fixture.start()
      let ids = try await fixture.ids()
      let before = try await fixture.counters()
      try drive.unmount(fixture.photos)
      try await fixture.roots(.offline)
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      #expect(try await fixture.ids() == ids && ids.count == 14)
      expectUntouched(try await fixture.counters(), since: before)
    }
  }

  @Test func lazilyUnmountedDriveIsOfflineAtOnce() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs)
      try drive.mount(fixture.photos)
      try await fixture.start()
      let ids = try await fixture.ids()
      let before = try await fixture.counters()
      // A lazy unmount is that of a drive in use: the file system itself continues to exist.
      try drive.unmount(fixture.photos, options: "-l")
      try await fixture.roots(.offline)
      #expect(try await fixture.available().isEmpty)
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      #expect(try await fixture.ids() == ids)
      expectUntouched(try await fixture.counters(), since: before)
    }
  }

  @Test func driveUnmountedDuringItsScanLosesNoPhotos() async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(.tmpfs)
      try drive.away("for d in $(seq 1 40); do mkdir $d; cp '\(fixture.samples)'/*.jpg $d; done")
      try drive.mount(fixture.photos)
      try await fixture.daemon.start()
      try await fixture.daemon.status { $0.assetCount > 0 }
      try drive.unmount(fixture.photos, options: "-l")
      let known = try await fixture.roots(.offline).assetCount
      #expect(known > 0)
      try drive.mount(fixture.photos)
      try await fixture.roots(.online)
      let counters = try await fixture.counters()
      #expect(try await fixture.available().count == 1_614)
      #expect(counters.assetsInserted == 1_614 && counters.assetsRemoved == 0)
    }
  }

  @Test func renamingAParentOfARootAndBackChangesNothing() async throws {
    try await VolumeFixture.with { fixture in
      try fixture.namespace.run(
        "mkdir -p '\(fixture.photos)/above/root'; cp '\(fixture.samples)'/*.jpg '\(fixture.photos)/above/root'")
      try await fixture.start(roots: [fixture.photos + "/above/root"])
      let ids = try await fixture.ids()
      let before = try await fixture.counters()
      try fixture.daemon.move("above", "elsewhere")
      let root = try #require(try await fixture.roots(.offline).roots.first)
      #expect(root.reason?.contains("the folder does not exist") == true)
      #expect(try await fixture.available().isEmpty)
      #expect(try await fixture.ids() == ids)
      // An empty folder in its place is not the library's, although it is on the same file system.
      try fixture.namespace.run("mkdir -p '\(fixture.photos)/above/root'")
      try await fixture.daemon.status { $0.state == .live && $0.warnings.contains { $0.contains("--confirm") } }
      #expect(try await fixture.available().isEmpty)
      #expect(try await fixture.ids() == ids)
      try fixture.namespace.run("rm -r '\(fixture.photos)/above'")
      try fixture.daemon.move("elsewhere", "above")
      try await fixture.roots(.online)
      #expect(try await fixture.ids() == ids && ids.count == 40)
      expectUntouched(try await fixture.counters(), since: before)
    }
  }

  @Test(arguments: Drive.Kind.possible)
  func driveThatTheConfigurationMountsElsewhereKeepsItsIdentifiers(kind: Drive.Kind) async throws {
    try await VolumeFixture.with { fixture in
      let drive = try fixture.drive(kind)
      try fixture.namespace.run("mkdir '\(fixture.photos)/one' '\(fixture.photos)/two'")
      try drive.mount(fixture.photos + "/one")
      try await fixture.start(roots: [fixture.photos + "/one"])
      let ids = try await fixture.ids()
      fixture.daemon.kill(SIGTERM)
      try drive.unmount(fixture.photos + "/one")
      try drive.mount(fixture.photos + "/two")
      try await fixture.start(roots: [fixture.photos + "/two"])
      let now = try await fixture.ids()
      #expect(now == Dictionary(uniqueKeysWithValues: ids.map { ($0.key.replacing("one/", with: "two/"), $0.value) }))
      #expect(try await fixture.available() == Set(ids.values))
      try await fixture.expectNoWarnings()
      let counters = try await fixture.counters()
      #expect(counters.filesRead == 0 && counters.assetsInserted == 0 && counters.assetsRemoved == 0)
    }
  }

  @Test(.enabled(if: MountNamespace.isRoot, "an overlay needs root"))
  func overlayThatIsUnmountedAndMountedAgainChangesNothing() async throws {
    try await VolumeFixture.with { fixture in
      let base = fixture.daemon.directory + "/overlay"
      try fixture.namespace.run("mkdir '\(base)'; mount -t tmpfs none '\(base)'; mkdir '\(base)/upper' '\(base)/work'")
      let mount =
        "mount -t overlay overlay -o 'lowerdir=\(fixture.samples),upperdir=\(base)/upper,workdir=\(base)/work' '\(fixture.photos)'"
      try fixture.namespace.run(mount)
      try await fixture.start()
      let ids = try await fixture.ids()
      let before = try await fixture.counters()
      try fixture.namespace.run("umount '\(fixture.photos)'")
      try await fixture.roots(.offline)
      try fixture.namespace.run(mount)
      try await fixture.roots(.online)
      #expect(try await fixture.ids() == ids && ids.count == 40)
      expectUntouched(try await fixture.counters(), since: before)
    }
  }
}
