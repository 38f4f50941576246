import Testing

/// Failures with equal photos that the simulation found. Each script is shrunk to a few steps.
@Suite struct SimulationCopyTests {
  /// The copy was renamed before its drive was mounted anew. When all files are hashed, its former asset is deleted.
  @Test func photoIsNotReplacedByItsCopyThatWasRenamedUnseen() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .makeDirectory("/usb/z"), .write("/usb/x/b.jpg"),
        .write("/usb/z/e.jpg"), .write("/usb/b.jpg"), .write("/pics/\u{f7ff}.jpg"), .write("/pics/\u{f7ff}.jpg"),
        .write("/usb/e.jpg"), .write("/usb/b.jpg"), .copyExactly("/usb/b.jpg", to: "/usb/\u{f7ff}.jpg"), .settle,
        .rename("/usb/\u{f7ff}.jpg", to: "/usb/y/d.jpg"), .unmount("/usb"), .mount(1, at: "/usb"), .overflow, .settle,
      ])
  }

  /// The copy moves over the photo while photod is stopped, and is hashed in its new place.
  @Test func copyThatReplacesItsOriginalUnseenKeepsItsIdentifier() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/b.jpg"), .rename("/pics/x/b.jpg", to: "/pics/\u{f7ff}.jpg"),
        .copy("/pics/\u{f7ff}.jpg", to: "/pics/x/b.jpg"), .settle, .save("/pics/\u{f7ff}.jpg", beside: ".new"), .stop,
        .exchange("/pics/x/b.jpg", with: "/pics/\u{f7ff}.jpg"), .settle,
      ])
  }

  /// The original is saved and exchanged with its copy while photod is stopped. Nothing proves where the original is, so the
  /// copy is the survivor of two equal photos.
  @Test func copyOfAPhotoThatIsSavedAndMovedUnseenMayBeThatPhoto() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/b.jpg"), .settle,
        .rename("/pics/x/b.jpg", to: "/pics/\u{f7ff}.jpg"), .copy("/pics/\u{f7ff}.jpg", to: "/pics/x/b.jpg"), .settle,
        .save("/pics/\u{f7ff}.jpg", beside: ".new"), .stop, .exchange("/pics/x/b.jpg", with: "/pics/\u{f7ff}.jpg"),
        .settle,
      ])
  }

  /// A pattern excludes the folder's former name before the watcher has read that the folder was renamed.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoOfAFolderThatLeftAnIgnoredNameIsNotItsCopy(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: .old, usb: usb,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .write("/usb/y/b.jpg"), .settle,
        .copyExactly("/usb/y/b.jpg", to: "/pics/x/a.jpg"), .settle, .exchange("/usb/y", with: "/usb/x"), .ignore(["y"]),
        .settle,
      ])
  }

  /// The folder is renamed while photod is stopped. The scan finds the excluded name before the folder.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoOfAFolderThatLeftAnIgnoredNameUnseenIsNotItsCopy(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: .old, usb: usb,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .write("/usb/y/b.jpg"), .settle,
        .copyExactly("/usb/y/b.jpg", to: "/pics/x/a.jpg"), .settle, .exchange("/usb/y", with: "/usb/x"), .stop,
        .ignore(["y"]), .settle,
      ])
  }

  /// A pattern excludes the photo's former name before the watcher has read that the photo was renamed.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatLeftAnIgnoredNameIsNotItsCopy(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/b.jpg"), .write("/pics/x/\u{f7ff}.jpg"),
        .settle, .copy("/pics/b.jpg", to: "/pics/y/a.jpg"), .settle,
        .rename("/pics/b.jpg", to: "/pics/x/\u{f7ff}.jpg"), .copy("/pics/y/a.jpg", to: "/pics/b.jpg"),
        .ignore(["b.jpg"]), .settle,
      ])
  }

  @Test func copyThatIsIgnoredTogetherWithItsOriginalLeavesWithIt() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/a.jpg"), .write("/pics/x/d.jpg"), .settle,
        .copy("/pics/x", to: "/usb/y"), .watch(events: 1, listings: 2), .ignore(["x/*.jpg", "d.jpg"]), .settle,
      ])
  }

  /// A photo comes back in another place, and is replaced just before its drive is unmounted.
  @Test func photoThatReplacesOneThatCameBackMayBeThatPhotoWhenItsDriveReturns() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .write("/usb/y/e.jpg"), .write("/usb/x/b.jpg"),
        .write("/usb/y/b.jpg"), .write("/usb/y/a.jpg"), .settle, .remove("/usb/y/e.jpg"), .settle,
        .writeAgain("/usb/x/new.jpg", bytesOf: "/usb/y/e.jpg"), .watch(events: 1000, listings: 1000),
        .take(1, records: 7), .pass(milliseconds: 2100), .due, .remove("/usb/x/new.jpg"), .write("/usb/x/new.jpg"),
        .unmount("/usb"), .settle, .mount(1, at: "/usb"), .settle,
      ])
  }

  /// The photo comes and leaves between two settled states. Its root is not configured when it leaves, so the library
  /// finds that later, and takes the equal photo for its copy.
  @Test func equalPhotoMayBeTheCopyOfOneRemovedFromAnUnconfiguredRoot() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .write("/usb/\u{f7ff}.jpg"), .settle, .makeDirectory("/usb/\u{f7c3}\u{f7a9}y"),
        .write("/usb/\u{f7c3}\u{f7a9}y/b.jpg"), .watch(events: 3, listings: 1), .take(1, records: 5),
        .rename("/usb/\u{f7c3}\u{f7a9}y/b.jpg", to: "/usb/c.jpg"), .roots(["/pics"]), .remove("/usb/c.jpg"),
        .writeAgain("/pics/new.jpg", bytesOf: "/usb/c.jpg"), .settle, .roots(["/pics", "/usb"]), .settle,
      ])
  }

  /// The library does not see the file that came from the card. So nothing proves that the saved file is that photo.
  @Test func photoThatIsMovedToAnotherDiskAndSavedUnseenMayBeANewOne() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/y"), .write("/pics/b.jpg"), .write("/usb/y/e.jpg"), .settle,
        .carry("/usb/y/e.jpg", to: "/pics/e.jpg"), .save("/pics/e.jpg", beside: "new.jpg"), .settle,
      ])
  }

  /// The catalog takes in the photo a moment before. FAT dates the copy by a clock of two seconds, so it seems older.
  @Test func newPhotoThatIsMovedToACardAtOnceKeepsItsId() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/c.jpg"), .write("/pics/e.jpg"), .write("/pics/a.jpg"), .start,
        .write("/pics/x/e.jpg"), .watch(events: 1000, listings: 1000), .failWrites(6), .write("/pics/d.jpg"),
        .take(1000, records: 1000), .settle, .carry("/pics/d.jpg", to: "/usb/b.jpg"), .settle,
      ])
  }

  /// FAT dates the first copy by a coarse clock. The second one is dated exactly.
  @Test func firstOfTwoCopiesContinuesThePhoto() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/d.jpg"), .write("/pics/x/e.jpg"), .settle,
        .carry("/pics/x/e.jpg", to: "/usb/a.jpg"), .copy("/usb/a.jpg", to: "/pics/x/c.jpg"), .settle,
      ])
  }

  /// A copy of another photo takes the place of one that left, and is removed.
  ///
  /// - Parameter isKilled: whether photod is killed in between, and forgets what it does not store.
  @Test(arguments: SimulatedDisk.Kind.allCases, [true, false])
  func copyThatTookThePlaceOfAnotherPhotoIsNotItsOriginal(main: SimulatedDisk.Kind, isKilled: Bool) async throws {
    for usb in SimulatedDisk.Kind.allCases {
      try await expectPasses(
        main: main, usb: usb,
        [
          .write("/pics/b.jpg"), .settle, .write("/usb/e.jpg"), .settle, .rename("/pics/b.jpg", to: "/outside/b.jpg"),
          .copy("/usb/e.jpg", to: "/pics/b.jpg"), .watch(events: 1000, listings: 1000), .pass(milliseconds: 210),
          .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .remove("/pics/b.jpg"),
        ] + (isKilled ? [.kill] : []) + [.settle])
    }
  }

  /// - Parameter isSeenLate: whether the watcher sees the save and the move together.
  @Test(arguments: SimulatedDisk.Kind.allCases, [true, false])
  func photoThatIsSavedAndMovedToAnotherDiskKeepsItsId(main: SimulatedDisk.Kind, isSeenLate: Bool) async throws {
    for usb in SimulatedDisk.Kind.allCases {
      try await expectPasses(
        main: main, usb: usb,
        [.write("/pics/b.jpg"), .settle, .save("/pics/b.jpg", beside: ".new")] + (isSeenLate ? [] : [.settle])
          + [.touch("/pics/b.jpg"), .carry("/pics/b.jpg", to: "/usb/b.jpg"), .settle])
    }
  }
}
