import Testing

/// Photos that are saved, or put back, while the library has not looked at an earlier change yet.
@Suite struct SimulationSaveTests {
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedOverANewOneAndSavedKeepsItsId(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: .old, usb: usb,
      [
        .makeDirectory("/usb/x"), .write("/usb/x/a.jpg"), .settle, .write("/usb/x/\u{f7ff}.jpg"), .sync,
        .rename("/usb/x/a.jpg", to: "/usb/x/\u{f7ff}.jpg"), .save("/usb/x/\u{f7ff}.jpg", beside: ".new"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedTwiceOverANewOneKeepsItsIdentifier(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .write("/usb/a.jpg"), .settle, .write("/usb/b.jpg"), .rename("/usb/a.jpg", to: "/usb/b.jpg"),
        .rename("/usb/b.jpg", to: "/usb/c.jpg"), .write("/usb/b.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func folderThatIsPutBackWhileTheClockIsBehindHasItsPhotos(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .makeDirectory("/usb/x"), .write("/usb/b.jpg"), .write("/usb/x/c.jpg"), .settle,
        .favorite("/usb/x/c.jpg", true),
        .backUp("/usb/x"), .remove("/usb/x"), .restore("/usb/x"), .setClock(days: -3), .settle,
      ])
  }

  @Test func copyOfAPhotoThatWasMovedToTheEmptyMountPointMayGetItsIdentifier() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/pics/x"), .write("/pics/d.jpg"), .write("/pics/d.jpg"), .settle,
        .copy("/pics/d.jpg", to: "/pics/x/b.jpg"), .settle, .unmount("/usb"), .save("/pics/d.jpg", beside: ".new"),
        .rename("/pics/d.jpg", to: "/usb/a.jpg"), .settle,
      ])
  }

  @Test func photoIsNotTakenForTheFileThatItsRetryFindsInItsPlace() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/a.jpg"), .write("/pics/c.jpg"), .settle,
      .rename("/pics/c.jpg", to: "/pics/x/a.jpg"), .save("/pics/x/a.jpg", beside: ".new"), .pass(milliseconds: 2100),
      .due, .settle,
    ])
  }

  /// The watcher reports the rename, but not the edit before it.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsEditedUnseenAndThenRenamedHasItsNewContent(main: SimulatedDisk.Kind) async throws {
    let edit: SimulatedStep = .edit("/pics/b.jpg")
    for unseen: [SimulatedStep] in [
      [edit, .overflow], [.stop, edit, .start], [.watcherDies(losing: 0), edit, .watcherStarts],
    ] {
      try await expectPasses(
        main: main,
        [.makeDirectory("/pics/y"), .write("/pics/b.jpg"), .settle, .pass(milliseconds: 5000)] + unseen + [
          .rename("/pics/b.jpg", to: "/pics/y/c.jpg"), .settle,
        ])
    }
  }

  @Test func photoThatReplacedAnotherUnseenAndIsRenamedKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/usb/z"), .write("/usb/z/c.jpg"), .write("/usb/a.jpg"), .settle,
      .rename("/usb/z/c.jpg", to: "/usb/a.jpg"), .kill, .start, .watch(events: 3, listings: 2),
      .rename("/usb/a.jpg", to: "/usb/e.jpg"), .settle,
    ])
  }

  @Test func folderThatCouldNotBeReadBeforeItLeftIsGone() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/usb/z"), .write("/usb/z/\u{f7ff}.jpg"), .start, .watchLimit(1),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .kill, .start,
        .watch(events: 2, listings: 1), .remove("/usb/z"), .settle,
      ])
  }

  @Test func photoThatIsRenamedUnseenOnACardIsNotItsCopyOnTheDisk() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/z"), .makeDirectory("/usb/x"), .write("/pics/z/d.jpg"), .write("/usb/x/d.jpg"), .settle,
        .reboot, .copy("/usb/x/d.jpg", to: "/pics/e.jpg"), .rename("/usb/x/d.jpg", to: "/usb/x/\u{f7ff}.jpg"),
        .unmount("/usb"), .settle, .mount(1, at: "/usb"), .settle,
      ])
  }

  /// The program writes a visible file, with the bytes of a photo that was removed.
  @Test(arguments: SimulatedDisk.Kind.allCases, [0, 1, 2])
  func favoriteThatIsSavedWithTheBytesOfARemovedPhotoKeepsItsId(main: SimulatedDisk.Kind, taken: Int) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/a.jpg"), .write("/pics/b.jpg"), .settle,
        .favorite("/pics/x/a.jpg", true), .favorite("/pics/b.jpg", true), .remove("/pics/b.jpg"),
      ] + (taken == 0 ? [] : [.settle]) + [
        .writeAgain("/pics/x/new.jpg", bytesOf: "/pics/b.jpg"), .watch(events: 1000, listings: 1000),
        .pass(milliseconds: 360), .watch(events: 1000, listings: 1000), .take(taken, records: 1000),
        .replace("/pics/x/a.jpg", by: "/pics/x/new.jpg"), .settle,
      ])
  }

  /// One batch reports the removal on another file system and the new file.
  @Test func favoriteThatIsSavedWithTheBytesOfAPhotoThatIsRemovedElsewhereKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/e.jpg"), .write("/usb/b.jpg"), .settle, .pass(milliseconds: 5000),
      .favorite("/pics/x/e.jpg", true), .remove("/usb/b.jpg"), .writeAgain("/pics/x/new.jpg", bytesOf: "/usb/b.jpg"),
      .watch(events: 1000, listings: 1000), .take(1, records: 8),
      .replace("/pics/x/e.jpg", by: "/pics/x/new.jpg"), .settle,
    ])
  }

  /// The folder is put back before the library could record that the old one was removed.
  @Test(arguments: [[SimulatedStep.failWrites(4)], []])
  func folderThatIsPutBackBeforeAFailureAndAJumpOfTheClockHasItsPhotos(failure: [SimulatedStep]) async throws {
    let all: [SimulatedStep] = [.watch(events: 1000, listings: 1000), .take(1000, records: 1000)]
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/y/e.jpg"), .write("/pics/x/a.jpg"), .settle,
        .backUp("/pics/x"), .remove("/pics/x"), .restore("/pics/x"), .rename("/pics/y/e.jpg", to: "/inbox/a.jpg"),
      ] + all + failure + [.pass(milliseconds: 210)] + (failure.isEmpty ? [.kill] : all) + [
        .setClock(days: 400), .settle,
      ])
  }

  @Test func favoriteThatIsSavedBeforeTheClockIsSetBackKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/c.jpg"), .write("/pics/x/a.jpg"), .settle,
      .favorite("/pics/c.jpg", true), .remove("/pics/x/a.jpg"),
      .writeAgain("/pics/new.jpg", bytesOf: "/pics/x/a.jpg"), .watch(events: 1000, listings: 1000),
      .replace("/pics/c.jpg", by: "/pics/new.jpg"), .setClock(days: -3), .settle,
    ])
  }

  /// The kernel's queue overflows between two saves through one name.
  @Test func photoThatIsSavedThroughTheNameOfALostFileKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/b.jpg"), .write("/pics/y/c.jpg"), .write("/pics/e.jpg"), .settle,
      .remove("/pics/y/c.jpg"), .writeAgain("/pics/new.jpg", bytesOf: "/pics/y/c.jpg"),
      .watch(events: 1000, listings: 1000), .replace("/pics/b.jpg", by: "/pics/new.jpg"), .overflow,
      .pass(milliseconds: 6000), .save("/pics/e.jpg", beside: "new.jpg"), .settle,
    ])
  }

  /// Between these steps the library forgets that it took the saved file for the removed photo.
  @Test func secondNameOfASavedFileMayBeTheRemovedPhotoAfterAFailure() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/e.jpg"), .write("/pics/d.jpg"), .settle, .remove("/pics/e.jpg"),
        .writeAgain("/pics/new.jpg", bytesOf: "/pics/e.jpg"), .watch(events: 1000, listings: 1000),
        .take(1, records: 5), .replace("/pics/d.jpg", by: "/pics/new.jpg"), .failWrites(1), .write("/pics/d.jpg"),
        .link("/pics/d.jpg", to: "/pics/x/e.jpg"), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
        .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedOverASavedOneAndSavedKeepsItsId(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .write("/usb/a.jpg"), .write("/usb/b.jpg"), .settle, .save("/usb/b.jpg", beside: "new.jpg"),
        .rename("/usb/a.jpg", to: "/usb/b.jpg"), .save("/usb/b.jpg", beside: "new.part"), .settle,
      ])
  }

  /// The watcher reads both renames six seconds after the save.
  @Test(arguments: [1000, 6000]) func saveWithoutATelltaleTimeMayBeANewPhoto(milliseconds: Int) async throws {
    try await expectPasses([
      .write("/pics/a.jpg"), .settle, .write("/pics/new.jpg"), .watch(events: 1000, listings: 1000),
      .replace("/pics/a.jpg", by: "/pics/new.jpg"), .pass(milliseconds: milliseconds),
      .rename("/pics/a.jpg", to: "/pics/b.jpg"), .settle,
    ])
  }

  /// The drive is unmounted when photod reads the photo, and is back after ten minutes.
  @Test func photoThatIsPutBackOnADriveThatLeavesKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/usb/x"), .write("/usb/b.jpg"), .write("/usb/x/e.jpg"), .settle, .backUp("/usb/x"),
      .remove("/usb/x"), .settle, .restore("/usb/x"), .watch(events: 1, listings: 2), .unmount("/usb"),
      .take(1000, records: 1000), .pass(milliseconds: 601000), .mount(1, at: "/usb"), .settle,
    ])
  }

  /// photod has already read the second file when the listing reports the first one, which had the same inode.
  @Test func photoWhoseFileWasReplacedBeforeItWasReadIsKnownOnAnotherDisk() async throws {
    try await expectPasses([
      .makeDirectory("/pics/z"), .write("/pics/z/c.jpg"), .write("/outside/e.jpg"), .settle,
      .makeDirectory("/pics/z/z"), .write("/pics/z/z/c.jpg"), .write("/outside/e.jpg"),
      .watch(events: 1000, listings: 1), .remove("/pics/z/z/c.jpg"), .write("/pics/z/z/c.jpg"), .settle,
      .carry("/pics/z/z/c.jpg", to: "/usb/d.jpg"), .settle,
    ])
  }

  /// The watcher reads all of it ten minutes later. The last file proves that each save followed soon after the birth
  /// of its file.
  @Test func photoThatIsSavedTwiceBeforeTheWatcherLooksKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/usb/x"), .write("/usb/e.jpg"), .write("/usb/x/a.jpg"), .settle,
      .favorite("/usb/x/a.jpg", true), .remove("/usb/e.jpg"), .writeAgain("/usb/x/new.jpg", bytesOf: "/usb/e.jpg"),
      .watch(events: 1000, listings: 1000), .take(2, records: 8), .replace("/usb/x/a.jpg", by: "/usb/x/new.jpg"),
      .save("/usb/x/a.jpg", beside: "new.jpg"), .pass(milliseconds: 600000), .settle,
    ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func halfWrittenPhotoThatIsRenamedAndSavedKeepsItsId(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .begin("/usb/c.jpg"), .settle, .rename("/usb/c.jpg", to: "/usb/d.jpg"), .save("/usb/d.jpg", beside: "new.part"),
        .settle,
      ])
  }

  /// A program saves two photos through one temporary name. photod-watch looks at the first file when the second one has
  /// that name.
  @Test(arguments: SimulatedDisk.Kind.allCases, [0, 1000])
  func photosThatAreSavedThroughOneNameKeepTheirIds(main: SimulatedDisk.Kind, taken: Int) async throws {
    try await expectPasses(
      main: main,
      [
        .write("/pics/e.jpg"), .write("/pics/b.jpg"), .settle, .favorite("/pics/e.jpg", true), .write("/pics/new.jpg"),
        .sync, .replace("/pics/e.jpg", by: "/pics/new.jpg"), .write("/pics/new.jpg"), .watch(events: 3, listings: 0),
        .take(taken, records: 1000), .replace("/pics/b.jpg", by: "/pics/new.jpg"), .settle,
      ])
  }

  /// The events of the first save are lost.
  @Test func photosThatAreSavedThroughOneNameKeepTheirIdsThoughEventsAreLost() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/b.jpg"), .write("/pics/y/c.jpg"), .write("/pics/e.jpg"), .settle,
      .remove("/pics/y/c.jpg"), .writeAgain("/pics/new.jpg", bytesOf: "/pics/y/c.jpg"),
      .watch(events: 1000, listings: 1000), .replace("/pics/b.jpg", by: "/pics/new.jpg"), .overflow,
      .pass(milliseconds: 6000), .save("/pics/e.jpg", beside: "new.jpg"), .settle,
    ])
    // The library has read the first file.
    try await expectPasses([
      .write("/pics/b.jpg"), .write("/pics/e.jpg"), .settle, .write("/pics/new.jpg"),
      .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      .replace("/pics/b.jpg", by: "/pics/new.jpg"), .overflow,
      .pass(milliseconds: 6000), .save("/pics/e.jpg", beside: "new.jpg"), .settle,
    ])
  }

  /// On FAT, no time of a file shows when it was renamed.
  @Test func settledPhotoOnFATThatIsRenamedOverAnotherKeepsItsId() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .write("/usb/d.jpg"), .settle, .write("/usb/c.jpg"), .settle, .rename("/usb/c.jpg", to: "/usb/d.jpg"), .settle,
      ])
  }

  /// A scan finds that the file of one asset was saved over another photo, and it misses three photos.
  @Test func photosThatAScanMissesAreCountedWithoutASavedFile() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/x/b.jpg"), .write("/pics/y/e.jpg"),
        .write("/pics/\u{f7ff}.jpg"), .write("/pics/y/c.jpg"), .write("/pics/e.jpg"), .settle,
        .remove("/pics/y/e.jpg"), .writeAgain("/pics/new.jpg", bytesOf: "/pics/y/e.jpg"),
        .watch(events: 1000, listings: 1000), .replace("/pics/\u{f7ff}.jpg", by: "/pics/new.jpg"),
        .remove("/pics/e.jpg"), .remove("/pics/x/b.jpg"), .remove("/pics/y/c.jpg"), .overflow,
        .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      ])
  }

  /// The watcher reads both events at once, and the times of the file are before its last reading.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedAndEditedAfterTheClockWasSetBackIsReadAgain(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/y"), .makeDirectory("/pics/z"), .write("/pics/y/b.jpg"), .settle, .setClock(days: -400),
        .rename("/pics/y/b.jpg", to: "/pics/z/new.jpg"), .edit("/pics/z/new.jpg"), .settle,
      ])
  }

  @Test func saveWhoseSecondHalfIsLostKeepsThePhoto() async throws {
    try await expectPasses([
      .write("/pics/e.jpg"), .write("/outside/a.jpg"), .remove("/outside/a.jpg"), .settle,
      .writeAgain("/pics/new.jpg", bytesOf: "/outside/a.jpg"), .watch(events: 1000, listings: 1000),
      .take(2, records: 4), .replace("/pics/e.jpg", by: "/pics/new.jpg"), .watch(events: 1, listings: 0), .overflow,
      .settle,
    ])
  }

  @Test func photoThatIsCarriedOverAnotherBeforeItWasSeenIsASave() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .write("/usb/f.jpg"), .write("/pics/e.jpg"), .settle,
        .carry("/pics/e.jpg", to: "/usb/x/b.jpg"), .rename("/usb/x/b.jpg", to: "/usb/f.jpg"), .settle,
      ])
  }

  /// photod ends before it reads the rename, and the file changes again.
  @Test func saveThatIsLostAndChangedAgainHasNoDate() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/a.jpg"), .settle, .write("/pics/x/a.jpg"), .remove("/pics/x/a.jpg"),
        .writeAgain("/pics/new.jpg", bytesOf: "/pics/x/a.jpg"), .watch(events: 1000, listings: 1000),
        .pass(milliseconds: 1500), .replace("/pics/a.jpg", by: "/pics/new.jpg"), .pass(milliseconds: 600),
        .take(2, records: 5), .kill, .edit("/pics/a.jpg"), .settle,
      ])
  }
}
