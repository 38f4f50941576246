import Testing

/// Failures that the simulation found. Each script is shrunk to a few steps.
@Suite struct SimulationRegressionTests {
  @Test func emptyMountPointDeletesNothing() async throws {
    try await expectPasses(
      usb: .fat, [.makeDirectory("/usb/y"), .write("/usb/y/d.jpg"), .settle, .unmount("/usb"), .settle])
  }

  @Test func anotherDriveAtTheMountPointIsNotAccepted() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .write("/usb/c.jpg"), .settle, .unmount("/usb"), .mount(2, at: "/usb"), .settle, .unmount("/usb"),
        .mount(1, at: "/usb"), .settle,
      ])
  }

  @Test func photoThatMovesToAnEmptyMountPointLeaves() async throws {
    try await expectPasses([
      .write("/pics/d.jpg"), .settle, .unmount("/usb"), .settle, .rename("/pics/d.jpg", to: "/usb/c.jpg"), .settle,
    ])
  }

  @Test func folderThatMovesToAnEmptyMountPointLeavesAndComesBack() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/x/y"), .write("/pics/x/d.jpg"), .write("/pics/x/y/e.jpg"),
      .settle,
      .unmount("/usb"), .settle, .rename("/pics/x", to: "/usb/y"), .settle, .rename("/usb/y", to: "/pics/z"), .sync,
      .settle,
    ])
  }

  @Test func emptyFileOverAPhotoRemovesIt() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/d.jpg"), .settle, .create("/pics/y/b.jpg"),
      .rename("/pics/y/b.jpg", to: "/pics/d.jpg"), .settle,
    ])
  }

  @Test func clockThatIsSetBackMakesNoSave() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/a.jpg"), .write("/pics/x/d.jpg"), .settle,
        .setClock(days: -400), .rename("/pics/x/d.jpg", to: "/pics/y/c.jpg"),
        .rename("/pics/a.jpg", to: "/pics/y/c.jpg"),
        .settle,
      ])
  }

  @Test func damagedFileIsNotReadForYearsWhereTheClockIsSetBack() async throws {
    try await expectPasses([.begin("/pics/a.jpg"), .setClock(days: -400), .settle])
  }

  @Test func unreadFileOfAnOfflineDriveCausesNoWork() async throws {
    try await expectPasses([
      .settle, .write("/usb/b.jpg"), .watch(events: 4, listings: 1), .unmount("/usb"), .settle,
    ])
  }

  @Test func unreadFileThatCannotBeReachedIsReadOnceItCan() async throws {
    try await expectPasses([
      .settle, .makeDirectory("/pics/x"), .write("/pics/x/d.jpg"), .watch(events: 2, listings: 2), .deny("/pics/x"),
      .settle, .allow("/pics/x"), .settle,
    ])
  }

  @Test func parkedFolderCausesAChange() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/e.jpg"), .settle, .rename("/pics/x", to: "/inbox/y"),
      .makeDirectory("/pics/x"), .settle,
    ])
  }

  @Test func photoThatIsRenamedOverDoesNotTakeTheOthersContent() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/a.jpg"), .write("/pics/x/d.jpg"), .settle,
        .rename("/pics/x/d.jpg", to: "/pics/y/c.jpg"), .link("/pics/a.jpg", to: "/pics/y/a.jpg"),
        .rename("/pics/a.jpg", to: "/pics/y/c.jpg"), .settle,
      ])
  }

  @Test func photoThatIsMovedAndSavedIsOne() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/e.jpg"), .settle, .rename("/pics/e.jpg", to: "/pics/y/a.jpg"),
      .save("/pics/y/a.jpg", beside: ".new"), .settle,
    ])
  }

  @Test func photoThatIsMovedTwiceAndSavedIsOne() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .write("/usb/x/e.jpg"), .settle,
        .rename("/usb/x/e.jpg", to: "/usb/y/c.jpg"), .rename("/usb/y/c.jpg", to: "/usb/y/e.jpg"),
        .save("/usb/y/e.jpg", beside: ".new"), .settle,
      ])
  }

  @Test func clockThatIsSetBackDelaysNoSecondReading() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .settle, .begin("/pics/x/c.jpg"), .watch(events: 1000, listings: 1000),
      .pass(milliseconds: 6000), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      .setClock(days: -400), .settle,
    ])
  }

  @Test func returnedPhotoWithoutARereadHasChangedContent() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/c.jpg"), .write("/pics/d.jpg"), .settle,
      .exchange("/pics/x/c.jpg", with: "/pics/d.jpg"), .watch(events: 6, listings: 0),
      .save("/pics/x/c.jpg", beside: "new.jpg"), .take(2, records: 6),
    ])
  }

  @Test func suspicionAndItsWarningEndWithTheRoot() async throws {
    try await expectPasses(
      usb: .old,
      [
        .write("/usb/d.jpg"), .write("/usb/a.jpg"), .write("/usb/c.jpg"), .write("/usb/e.jpg"), .settle,
        .remove("/usb/a.jpg"), .remove("/usb/c.jpg"), .remove("/usb/d.jpg"), .remove("/usb/e.jpg"), .overflow,
        .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
        .roots(["/pics"]), .settle,
      ])
  }

  @Test func unmountedDriveOfARemovedRootCausesNoWarning() async throws {
    try await expectPasses([
      .write("/usb/d.jpg"), .settle, .unmount("/usb"), .settle, .roots(["/pics"]), .settle,
      .roots(["/pics", "/usb"]), .mount(1, at: "/usb"), .settle,
    ])
  }

  @Test func photosThatLeaveWithAWatchedFolderAreNotMissingInTheScan() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/c.jpg"), .write("/pics/x/b.jpg"),
      .write("/pics/y/c.jpg"), .write("/pics/y/b.jpg"), .start, .watch(events: 1000, listings: 1000),
      .take(1000, records: 1000), .unmount("/usb"), .rename("/pics/y", to: "/inbox/z"),
      .rename("/inbox/z", to: "/usb/z"), .watch(events: 1000, listings: 1000), .remove("/pics/x/b.jpg"),
      .remove("/pics/c.jpg"), .overflow, .watch(events: 1000, listings: 1000),
      .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
    ])
  }

  @Test func photoThatReplacesAnotherInAMovingFolderMayBeTakenForIt() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/x/c.jpg"), .settle, .remove("/pics/x/c.jpg"),
      .rename("/pics/x", to: "/pics/y/z"), .write("/inbox/c.jpg"), .rename("/inbox/c.jpg", to: "/pics/y/z/c.jpg"),
      .settle,
    ])
  }

  @Test func photoThatIsReplacedAndThenMovedToAnotherDiskMayBeOne() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .write("/usb/b.jpg"), .settle, .remove("/usb/b.jpg"), .write("/usb/b.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .copy("/usb/b.jpg", to: "/inbox/c.jpg"),
        .remove("/usb/b.jpg"), .copy("/inbox/c.jpg", to: "/pics/d.jpg"), .settle,
      ])
  }

  @Test func syncWaitsForAFolderThatIsListedAgain() async throws {
    try await expectPasses([
      .settle, .unmount("/usb"), .makeDirectory("/usb/x"), .write("/usb/x/e.jpg"), .watch(events: 2, listings: 1),
      .watch(events: 6, listings: 1), .rename("/usb/x", to: "/pics/y"), .sync, .watch(events: 1000, listings: 1000),
      .take(1000, records: 1000), .settle,
    ])
  }

  @Test func photoThatMovesToARemovedRootIsUnavailable() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/pics/y"), .makeDirectory("/usb/z"), .write("/pics/y/b.jpg"), .settle,
        .copy("/pics/y/b.jpg", to: "/usb/z/a.jpg"), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
        .remove("/pics/y/b.jpg"), .roots(["/pics"]), .settle,
      ])
  }

  @Test func rootThatAPersonMovesToAnotherDriveIsOnline() async throws {
    try await expectPasses([
      .settle, .unmount("/usb"), .watch(events: 6, listings: 2), .take(2, records: 3),
      .rescan("/usb", confirm: true), .settle,
    ])
  }

  @Test func photosOfAForbiddenFolderAreRemovedWithIt() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/e.jpg"), .settle, .deny("/pics/x"), .kill, .settle,
      .rename("/pics/x", to: "/inbox/x"), .settle,
    ])
  }

  @Test func photosOfAForbiddenFolderThatWasMovedAreRemoved() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .write("/usb/x/e.jpg"), .settle, .watcherDies(losing: 3), .deny("/usb/x"),
        .makeDirectory("/usb/z"), .watcherStarts, .watch(events: 1000, listings: 1000),
        .rename("/usb/x", to: "/usb/z/y"), .settle,
      ])
  }

  @Test func photosOfAForbiddenFolderAreRemovedAfterAFailedCommit() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .makeDirectory("/usb/x"), .write("/pics/x/d.jpg"),
        .settle, .deny("/pics/x"), .makeDirectory("/outside/z"), .failWrites(1), .write("/usb/x/c.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .settle,
        .rename("/pics/x/d.jpg", to: "/outside/z/b.jpg"), .rename("/pics/y", to: "/pics/x"), .settle,
      ])
  }

  @Test func folderThatIsForbiddenAndRenamedDuringAScanLeavesItsOldPath() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/a.jpg"), .settle, .watcherDies(losing: 5), .watcherStarts,
      .deny("/pics/x"), .watch(events: 4, listings: 2), .rename("/pics/x", to: "/pics/z"), .settle,
    ])
  }

  @Test func missingPhotosOfAFolderThatMovesToAnotherRootAreLookedForThere() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/e.jpg"), .write("/pics/x/c.jpg"), .write("/pics/x/d.jpg"),
        .write("/pics/c.jpg"), .settle, .remove("/pics/c.jpg"), .remove("/pics/x/c.jpg"), .remove("/pics/x/d.jpg"),
        .remove("/pics/x/e.jpg"), .overflow, .watch(events: 1000, listings: 1000),
        .roots(["/pics", "/usb", "/inbox"]), .watch(events: 1000, listings: 1000), .rename("/pics/x", to: "/inbox/z"),
        .settle,
      ])
  }

  @Test func photosThatMoveToAnEmptyMountPointAreNotMissingInTheScan() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/a.jpg"), .write("/pics/x/b.jpg"), .write("/pics/x/c.jpg"),
        .write("/pics/x/e.jpg"), .settle, .unmount("/usb"), .watch(events: 1, listings: 0),
        .rename("/pics/x", to: "/usb/y"), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      ])
  }

  @Test func photoOfACardThatIsMountedAnewAndMovedIsNotItsCopy() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/x"), .makeDirectory("/usb/z"), .write("/usb/x/b.jpg"), .settle, .roots(["/pics"]),
        .copy("/usb/x/b.jpg", to: "/pics/e.jpg"), .rename("/usb/x", to: "/usb/z/z"), .settle, .unmount("/usb"),
        .mount(1, at: "/usb"), .roots(["/pics", "/usb"]), .settle,
      ])
  }

  // MARK: Photos that are read while they are elsewhere

  /// The folder of a new or rewritten photo is renamed before photod reads the photo. No event reports the photo again.
  @Test(arguments: [true, false]) func aPhotoWhoseFolderWasRenamedBeforeItWasReadIsReadLater(isNew: Bool) async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), isNew ? .create("/pics/b.jpg") : .write("/pics/x/a.jpg"), .start, .settle,
      .write("/pics/x/a.jpg"), .watch(events: 1000, listings: 1000), .rename("/pics/x", to: "/pics/z"),
      .take(1000, records: 1000), .settle,
    ])
  }

  // MARK: Suspicion

  /// Photos that the first scan missed are suspect. If the second scan misses that many more, a new suspicion begins.
  @Test func manyMorePhotosMissingAtTheSecondScanAreANewSuspicion() async throws {
    let names = (0..<14).map { "/pics/\($0).jpg" }
    let look: [SimulatedStep] = [
      .overflow, .watch(events: 1000, listings: 1000), .pass(milliseconds: 30),
      .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
    ]
    let first = names.prefix(5).map { SimulatedStep.remove($0) }
    let second = names.dropFirst(5).prefix(6).map { SimulatedStep.remove($0) }
    try await expectPasses(
      names.map { .write($0) } + [.start, .settle] + first + look + [.pass(milliseconds: 601_000)] + second + look + [
        .settle
      ])
  }

  // MARK: Patterns of the configuration

  /// When the pattern came, the file was only created. It would have been looked up after its last write.
  @Test func aDebouncedFileStaysIgnoredAfterANewPattern() async throws {
    try await expectPasses([
      .start, .settle, .begin("/pics/b.jpg"), .watch(events: 1000, listings: 1000), .ignore(["b.jpg"]), .settle,
    ])
  }

  @Test func patternsAreAddedAndRemovedWhilePhotosMove() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/b.jpg"), .write("/pics/c.jpg"), .start, .settle,
      .ignore(["x/*.jpg"]), .settle, .rename("/pics/x", to: "/pics/y"), .settle, .ignore(["y", "c.jpg"]),
      .rename("/pics/y", to: "/pics/x"), .settle, .ignore([]), .settle,
    ])
  }

  // MARK: Another file system

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func aPhotoThatIsMovedToAnotherDriveKeepsItsIdentifier(usb: SimulatedDisk.Kind)
    async throws
  {
    try await expectPasses(
      usb: usb,
      [
        .write("/pics/a.jpg"), .start, .settle, .favorite("/pics/a.jpg", true), .carry("/pics/a.jpg", to: "/usb/a.jpg"),
        .settle,
        .carry("/usb/a.jpg", to: "/pics/b.jpg"), .watch(events: 2, listings: 0), .take(1, records: 1), .settle,
      ])
  }

  @Test func namesThatAreNotUTF8AreNamesLikeOthers() async throws {
    try await expectPasses([
      .makeDirectory("/pics/\u{F7C3}\u{F7A9}y"), .write("/pics/\u{F7FF}.jpg"), .start, .settle,
      .favorite("/pics/\u{F7FF}.jpg", true), .rename("/pics/\u{F7FF}.jpg", to: "/pics/\u{F7C3}\u{F7A9}y/\u{F7FE}.jpg"),
      .settle,
      .rename("/pics/\u{F7C3}\u{F7A9}y", to: "/pics/\u{F7FF}"), .settle, .ignore(["\u{F7FE}.*"]), .settle,
    ])
  }

  /// A photo is renamed. A file that a pattern ignored is renamed over it before the first rename is looked up.
  @Test func aPhotoThatIsRenamedAndReplacedByOneThatComesBackLeaves() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/x/b.jpg"), .write("/pics/y/e.jpg"), .start,
      .settle, .ignore(["e.jpg"]), .settle, .rename("/pics/x/b.jpg", to: "/pics/x/d.jpg"),
      .rename("/pics/y/e.jpg", to: "/pics/x/d.jpg"), .sync, .watch(events: 1000, listings: 1000),
      .take(1000, records: 1000), .settle,
    ])
  }

  @Test func copyThatIsHiddenTogetherWithItsOriginalLeavesWithIt() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/y"), .write("/pics/y/a.jpg"), .settle, .copy("/pics/y/a.jpg", to: "/outside/a.jpg"),
        .link("/outside/a.jpg", to: "/pics/y/b.jpg"), .write("/pics/.nomedia"), .watch(events: 1000, listings: 1000),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .settle, .remove("/pics/.nomedia"), .settle,
      ])
  }

  @Test func photoThatIsReplacedCopiedAndThenMovedOutMayBeOne() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/pics/y"), .write("/pics/b.jpg"), .settle, .remove("/pics/b.jpg"), .write("/pics/b.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .rename("/pics/y", to: "/outside/z"),
        .copy("/pics/b.jpg", to: "/usb/a.jpg"), .rename("/pics/b.jpg", to: "/outside/z/d.jpg"), .settle,
      ])
  }

  @Test func photoThatIsReplacedAndLeavesMayComeBackAsItsCopy() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/y"), .write("/pics/x/d.jpg"), .settle, .remove("/pics/x/d.jpg"),
        .write("/pics/x/d.jpg"), .watch(events: 1000, listings: 0), .roots(["/pics"]),
        .copy("/pics/x/d.jpg", to: "/usb/y/e.jpg"), .take(2, records: 6), .remove("/pics/x/d.jpg"), .settle,
        .roots(["/pics", "/usb"]), .settle,
      ])
  }

  @Test func folderThatIsElsewhereDuringTheScanAfterAnOverflowIsListedWhenItIsBack() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/y/d.jpg"), .settle,
      .rename("/pics/y", to: "/inbox/x"), .watch(events: 3, listings: 1), .write("/inbox/x/d.jpg"), .overflow,
      .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000),
      .exchange("/inbox/x", with: "/pics/x"), .settle,
    ])
  }

  @Test func folderThatIsElsewhereDuringTheScanAfterAnOverflowIsListedInItsOldPlace() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/y/d.jpg"), .settle, .rename("/pics/y", to: "/inbox/x"),
      .watch(events: 3, listings: 1), .write("/inbox/x/d.jpg"), .overflow, .watch(events: 1000, listings: 1000),
      .watch(events: 1000, listings: 1000), .rename("/inbox/x", to: "/pics/y"), .settle,
    ])
  }

  @Test func photoThatIsSavedAndRenamedOverALostRemovalHasItsNewContent() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .write("/pics/e.jpg"), .write("/pics/d.jpg"), .settle, .unmount("/usb"), .remove("/pics/d.jpg"), .overflow,
        .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000),
        .save("/pics/e.jpg", beside: "new.part"), .rename("/pics/e.jpg", to: "/pics/b.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photosThatExchangedUnseenKeepTheirIdsFromAnother(kind: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: kind,
      [
        .makeDirectory("/pics/y"), .write("/pics/y/e.jpg"), .write("/pics/b.jpg"), .settle, .watcherDies(losing: 4),
        .exchange("/pics/b.jpg", with: "/pics/y/e.jpg"), .watcherStarts, .rename("/pics/b.jpg", to: "/pics/d.jpg"),
        .remove("/pics/d.jpg"), .begin("/pics/d.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photosThatMovedUnseenKeepTheirIdsFromAnother(kind: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: kind,
      [
        .makeDirectory("/pics/y"), .write("/pics/y/e.jpg"), .write("/pics/b.jpg"), .settle, .watcherDies(losing: 0),
        .rename("/pics/b.jpg", to: "/pics/y/a.jpg"), .rename("/pics/y/e.jpg", to: "/pics/b.jpg"), .watcherStarts,
        .rename("/pics/b.jpg", to: "/pics/d.jpg"), .remove("/pics/d.jpg"), .write("/pics/d.jpg"), .settle,
      ])
  }

  @Test func copyThatWasTakenForAMoveAndIsReplacedMayBeOne() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/usb/d.jpg"), .settle, .copy("/usb/d.jpg", to: "/pics/d.jpg"),
        .rename("/pics/d.jpg", to: "/pics/x/a.jpg"), .settle, .remove("/usb/d.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .remove("/pics/x/a.jpg"),
        .write("/pics/x/a.jpg"), .settle,
      ])
  }

  @Test func emptyFileThatIsBeingWrittenIsAPhotoOnceItIsClosed() async throws {
    try await expectPasses([
      .create("/pics/c.jpg"), .settle, .begin("/pics/c.jpg"), .settle, .write("/pics/c.jpg"), .settle,
    ])
  }

  @Test func photoThatIsRenamedAndSavedKeepsItsIdFromANewOneWithItsInode() async throws {
    try await expectPasses([
      .write("/pics/a.jpg"), .settle, .rename("/pics/a.jpg", to: "/pics/c.jpg"),
      .save("/pics/c.jpg", beside: "new.part"), .begin("/pics/a.jpg"), .settle,
    ])
  }

  @Test func photoThatIsExchangedAndThenWrittenKeepsItsId() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/y"), .write("/usb/e.jpg"), .write("/usb/y/b.jpg"), .settle,
        .exchange("/usb/e.jpg", with: "/usb/y/b.jpg"), .watch(events: 4, listings: 2), .write("/usb/e.jpg"), .settle,
      ])
  }

  @Test func folderThatWasForbiddenDuringAScanIsListedWithAllBelowWhenItIsAllowed() async throws {
    try await expectPasses([
      .makeDirectory("/usb/y"), .makeDirectory("/usb/y/z"), .write("/usb/y/b.jpg"), .write("/usb/y/z/c.jpg"), .settle,
      .deny("/usb/y"), .remove("/usb/y/b.jpg"), .write("/usb/y/z/c.jpg"), .write("/usb/y/z/d.jpg"), .overflow,
      .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000), .allow("/usb/y"), .settle,
    ])
  }

  @Test func unmountedDriveOfARemovedRootIsNoOtherVolume() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .settle, .unmount("/usb"), .watch(events: 6, listings: 0), .take(1, records: 5), .roots(["/pics"]),
        .rescan("/usb", confirm: true), .watch(events: 1000, listings: 1000), .mount(1, at: "/usb"), .settle,
      ])
  }

  @Test func photoThatIsRenamedOverAnotherAndSavedKeepsItsId() async throws {
    try await expectPasses(
      main: .old, usb: .old,
      [
        .makeDirectory("/pics/y"), .write("/pics/e.jpg"), .write("/pics/y/e.jpg"), .settle,
        .rename("/pics/e.jpg", to: "/pics/y/e.jpg"), .save("/pics/y/e.jpg", beside: ".new"), .settle,
      ])
  }

  @Test func emptyFileThatIsRenamedTwiceIsNoPhoto() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/pics/z"), .write("/pics/z/d.jpg"), .settle, .create("/outside/d.jpg"),
        .rename("/outside/d.jpg", to: "/pics/z/d.jpg"), .rename("/pics/z/d.jpg", to: "/pics/a.jpg"), .settle,
      ])
  }

  /// If the clock is set back, file times become implausible. A move must not change a photo's date without an event.
  @Test func aDateThatAMoveMakesImplausibleStays() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/z"), .write("/pics/d.jpg"), .settle, .write("/pics/x/b.jpg"),
        .watch(events: 6, listings: 2), .take(1, records: 4), .kill, .write("/pics/z/e.jpg"), .setClock(days: -3),
        .exchange("/pics/x/b.jpg", with: "/pics/d.jpg"), .settle,
      ])
  }

  /// The folder is removed and put back with the same inode. The scan finds files under its first number, and then under
  /// its second one. It is renamed before the scan is decided.
  @Test func folderThatIsPutBackDuringAScanAndRenamedKeepsItsPhotos() async throws {
    try await expectPasses(
      main: .old, usb: .old,
      [
        .makeDirectory("/pics/x"), .write("/pics/d.jpg"), .write("/pics/x/e.jpg"), .start,
        .link("/pics/d.jpg", to: "/pics/x/d.jpg"), .watch(events: 1000, listings: 1000), .backUp("/pics/x"),
        .remove("/pics/x"), .restore("/pics/x"), .watch(events: 3, listings: 2), .overflow,
        .watch(events: 6, listings: 2), .watch(events: 1, listings: 2), .watch(events: 1000, listings: 1000),
        .rename("/pics/x", to: "/pics/\u{f7c3}\u{f7a9}y"), .settle,
      ])
  }

  /// A photo moves out of a root that leaves the configuration, and is removed with its new folder. One commit records
  /// both, and the photo was in no unavailable place at that time.
  @Test func photoThatMovedOutOfAFormerRootIsRemovedWithItsFolder() async throws {
    try await expectPasses([
      .settle, .write("/inbox/c.jpg"), .roots(["/pics", "/usb", "/inbox"]), .makeDirectory("/pics/x"),
      .watch(events: 1000, listings: 1000), .rename("/inbox/c.jpg", to: "/pics/x/e.jpg"), .take(1000, records: 1000),
      .watch(events: 3, listings: 2), .roots(["/usb", "/pics"]), .remove("/pics/x"),
      .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .settle,
    ])
  }

  /// A scan finds the photo by another name. When the library looks, the photo has its first name again.
  @Test func photoThatIsRenamedBackAfterAScanHasSeenItKeepsItsId() async throws {
    try await expectPasses([
      .write("/pics/b.jpg"), .settle, .watcherDies(losing: 1), .rename("/pics/b.jpg", to: "/pics/a.jpg"),
      .watcherStarts, .watch(events: 1000, listings: 1000), .rename("/pics/a.jpg", to: "/pics/b.jpg"), .settle,
    ])
  }

  /// The library has read only a part of the file, so nothing but its place shows which photo it is.
  @Test func halfWrittenPhotoThatIsMovedWhileNothingIsRecordedMayBeANewOne() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/y"), .begin("/pics/c.jpg"), .settle, .failWrites(1), .write("/pics/c.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .pass(milliseconds: 61000), .due,
        .rename("/pics/c.jpg", to: "/pics/y/d.jpg"), .settle,
      ])
  }

  /// A new second name and the first one are removed, and events are lost.
  @Test func photoWhoseNamesAreBothRemovedUnseenLeaves() async throws {
    try await expectPasses(
      main: .old, usb: .old,
      [
        .write("/pics/e.jpg"), .start, .watch(events: 1000, listings: 1000), .link("/pics/e.jpg", to: "/pics/c.jpg"),
        .watch(events: 1, listings: 0), .remove("/pics/e.jpg"), .remove("/pics/c.jpg"), .overflow, .settle,
      ])
  }

  @Test func forbiddenFolderThatIsRenamedAndAllowedIsListed() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .settle, .deny("/usb/x"), .write("/usb/x/d.jpg"),
        .watch(events: 1000, listings: 1000), .rename("/usb/x", to: "/usb/y"), .watch(events: 5, listings: 2),
        .allow("/usb/y"), .settle,
      ])
  }

  @Test func folderThatIsPutBackTwiceHasItsPhotos() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/z"), .makeDirectory("/usb/x"), .write("/pics/z/a.jpg"), .write("/usb/x/a.jpg"), .settle,
        .backUp("/usb/x"), .remove("/usb/x"), .stop, .start, .restore("/usb/x"), .watch(events: 1000, listings: 1000),
        .remove("/usb/x"), .restore("/usb/x"), .settle,
      ])
  }

  /// A person confirms the bare folder in the place of the drive. A file there has the path that the photo got last.
  @Test func confirmedFolderMayHaveTheLastPathOfAPhoto() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/y"), .write("/usb/y/c.jpg"), .settle, .rename("/usb/y/c.jpg", to: "/usb/d.jpg"),
        .unmount("/usb"), .write("/usb/d.jpg"), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
        .rescan("/usb", confirm: true), .settle,
      ])
  }

  /// The folders of a card exchange their names unseen. Two files in them have the same name, size and time.
  @Test func filesThatOnlyTheirContentDistinguishesMayBeExchanged() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .makeDirectory("/usb/x"), .makeDirectory("/usb/y"),
        .write("/usb/y/a.jpg"), .write("/pics/x/c.jpg"), .write("/pics/x/e.jpg"), .write("/usb/d.jpg"),
        .write("/usb/a.jpg"), .write("/usb/y/\u{f7ff}.jpg"), .write("/pics/y/b.jpg"), .write("/pics/y/b.jpg"),
        .write("/pics/d.jpg"), .write("/usb/x/a.jpg"), .settle, .ignore(["x/*.jpg", "d.jpg"]), .settle,
        .exchange("/usb/y", with: "/usb/x"), .unmount("/usb"), .mount(1, at: "/usb"), .settle,
      ])
  }

  @Test func photoThatCameInPlaceOfOneOfAnotherClockMayBeNewOnAnotherDrive() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/y"), .write("/usb/y/a.jpg"), .write("/usb/\u{f7ff}.jpg"), .write("/usb/b.jpg"),
        .write("/pics/a.jpg"), .settle, .setClock(days: -400), .remove("/pics/a.jpg"), .write("/pics/a.jpg"), .settle,
        .carry("/pics/a.jpg", to: "/usb/a.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func editBeforeTwoRenamesIsSeen(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .makeDirectory("/usb/z"), .write("/usb/z/b.jpg"), .settle, .edit("/usb/z/b.jpg"),
        .rename("/usb/z/b.jpg", to: "/usb/a.jpg"), .rename("/usb/a.jpg", to: "/usb/z/c.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func editIsSeenAlthoughThePhotoIsFoundByTheRenameOfAnother(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .makeDirectory("/usb/z"), .write("/usb/z/b.jpg"), .write("/usb/a.jpg"), .settle, .edit("/usb/z/b.jpg"), .stop,
        .start, .rename("/usb/z/b.jpg", to: "/usb/a.jpg"), .watch(events: 1, listings: 2),
        .rename("/usb/a.jpg", to: "/usb/z/c.jpg"), .settle,
      ])
  }

  /// The history has the rename of the folder, and no photo in it. The folder leaves and is found again in one commit.
  @Test func clientThatResumesLearnsTheRenameOfAFolderThatWasFoundAnew() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/x"), .write("/pics/x/b.jpg"), .settle,
        .rename("/pics/x", to: "/pics/y"), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
        .ignore(["y"]), .sync, .ignore([]), .watch(events: 3, listings: 1), .settle,
      ])
  }

  /// The photo moves away from the drive in the commit in which the drive returns.
  @Test func photoThatMovesFromADriveThatReturnsIsAvailable() async throws {
    try await expectPasses(
      main: .old, usb: .old,
      [
        .write("/usb/b.jpg"), .settle, .unmount("/usb"), .watch(events: 1000, listings: 1000), .mount(1, at: "/usb"),
        .take(2, records: 4), .copyExactly("/usb/b.jpg", to: "/pics/b.jpg"), .stop, .start, .remove("/usb/b.jpg"),
        .settle,
      ])
  }

  /// The watcher looks at the written photo after its rename, and reports only that it is gone.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsEditedAndRenamedBeforeTheWatcherLooksHasItsNewContent(usb: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      usb: usb,
      [
        .write("/usb/c.jpg"), .settle, .edit("/usb/c.jpg"), .sync, .rename("/usb/c.jpg", to: "/usb/d.jpg"), .settle,
      ])
  }

  @Test func folderThatLeavesAForbiddenOneDuringAScanIsGone() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .settle, .makeDirectory("/pics/x/y"), .ignore(["x/z/"]),
      .watch(events: 6, listings: 1), .sync, .deny("/pics/x"), .rename("/pics/x/y", to: "/outside/y"), .settle,
    ])
  }
}
