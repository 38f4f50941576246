import Testing

/// Photos with a second name (a hard link) that are changed before the library has looked at that name.
@Suite struct SimulationLinkTests {
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatGetsASecondNameAndIsSavedKeepsItsId(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/y"), .makeDirectory("/pics/z"), .write("/pics/y/b.jpg"), .settle,
        .link("/pics/y/b.jpg", to: "/pics/z/d.jpg"), .watch(events: 1000, listings: 1000),
        .save("/pics/y/b.jpg", beside: "new.jpg"), .settle,
      ])
  }

  /// photod-watch looks at the new file after the rename, whose events are lost.
  @Test(arguments: [true, false], 0..<3)
  func photoThatIsRenamedOverANewFileKeepsItsId(isSynced: Bool, loss: Int) async throws {
    let losses: [[SimulatedStep]] = [[.overflow], [.watcherDies(losing: 0)], [.take(1000, records: 1000), .kill]]
    try await expectPasses(
      [.write("/pics/c.jpg"), .write("/pics/d.jpg"), .write("/pics/e.jpg"), .settle, .write("/pics/b.jpg")]
        + (isSynced ? [.sync] : [])
        + [.rename("/pics/e.jpg", to: "/pics/b.jpg"), .watch(events: 3, listings: 0)] + losses[loss] + [.settle])
  }

  @Test func photoThatGetsASecondNameAndReplacesItAndMovesWithItsFolderIsThere() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/x"), .write("/pics/d.jpg"), .settle, .link("/pics/d.jpg", to: "/pics/a.jpg"),
        .rename("/pics/d.jpg", to: "/pics/x/a.jpg"), .watch(events: 5, listings: 1),
        .rename("/pics/x", to: "/pics/z"), .settle,
      ])
  }

  @Test func photoThatIsReadAgainIsNotItsSecondNameThatWasRemoved() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .write("/usb/a.jpg"), .settle, .link("/usb/a.jpg", to: "/usb/x/c.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .remove("/usb/x/c.jpg"), .kill, .settle,
        .pass(milliseconds: 6000), .due, .settle,
      ])
    // A page of a scanner is read anew when its sample is made.
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .scan("/usb/a.jpg"), .settle, .link("/usb/a.jpg", to: "/usb/x/c.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .remove("/usb/x/c.jpg"), .kill, .settle,
        .pass(milliseconds: 6000), .due, .settle,
      ])
  }

  /// A removed photo comes back as a new file, which is saved over another photo and gets the name of the removed one.
  @Test func removedPhotoThatComesBackAsTheSecondNameOfASavedOneHasANewPath() async throws {
    try await expectPasses([
      .write("/pics/a.jpg"), .write("/pics/d.jpg"), .settle, .remove("/pics/d.jpg"),
      .writeAgain("/pics/new.jpg", bytesOf: "/pics/d.jpg"), .watch(events: 1000, listings: 1000), .take(2, records: 2),
      .replace("/pics/a.jpg", by: "/pics/new.jpg"), .link("/pics/a.jpg", to: "/pics/d.jpg"),
      .watch(events: 3, listings: 0), .take(1, records: 4),
    ])
  }

  /// The folder is renamed after the scan has listed it, and before the library looks there.
  @Test func photoWithTwoNamesInAFolderThatLeavesDuringAScanIsTwo() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/x/c.jpg"), .link("/pics/x/c.jpg", to: "/pics/x/b.jpg"), .start,
      .watch(events: 1000, listings: 1000), .rename("/pics/x", to: "/pics/y"), .settle,
    ])
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/z"), .write("/pics/x/c.jpg"),
      .link("/pics/x/c.jpg", to: "/pics/z/b.jpg"), .start, .watch(events: 1000, listings: 1000),
      .rename("/pics/x", to: "/pics/y"), .settle,
    ])
  }

  @Test func secondNameOfAnEmptyFileIsThereWhenTheFileIsWritten() async throws {
    try await expectPasses([
      .start, .makeDirectory("/pics/x"), .create("/pics/x/a.jpg"), .link("/pics/x/a.jpg", to: "/pics/b.jpg"),
      .watch(events: 1000, listings: 1000), .write("/pics/x/a.jpg"), .settle,
    ])
  }

  @Test func secondNameOfAnEmptyFileOnAnEmptyMountPointIsThereWhenTheFileIsWritten() async throws {
    try await expectPasses([
      .unmount("/usb"), .start, .create("/usb/a.jpg"), .link("/usb/a.jpg", to: "/pics/b.jpg"),
      .watch(events: 1000, listings: 1000), .write("/usb/a.jpg"), .settle,
    ])
  }

  @Test func secondNameOfAnEmptyFileIsThereAlthoughAnotherDiskHasTheInode() async throws {
    try await expectPasses(
      [
        .makeDirectory("/pics/x"), .start, .settle, .create("/pics/x/a.jpg"), .link("/pics/x/a.jpg", to: "/pics/b.jpg"),
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      ] + "abcdefgh".map { .write("/usb/\($0).jpg") } + [
        .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .write("/pics/x/a.jpg"), .settle,
      ])
  }
}
