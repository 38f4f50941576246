import Testing

/// Photos that exchange their names with renameat2(2). The simulation found each of these scripts.
@Suite struct SimulationExchangeTests {
  @Test func exchangedPhotosAreBothThere() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/e.jpg"), .write("/pics/y/a.jpg"), .settle,
      .exchange("/pics/y/a.jpg", with: "/pics/e.jpg"), .settle,
    ])
  }

  @Test func exchangedPhotoStaysWhenTheOtherIsRemovedAtOnce() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .makeDirectory("/pics/z"), .write("/pics/y/c.jpg"), .write("/pics/z/c.jpg"), .settle,
      .exchange("/pics/y/c.jpg", with: "/pics/z/c.jpg"), .remove("/pics/y/c.jpg"), .settle,
    ])
  }

  @Test func photoThatIsSavedAndExchangedKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/e.jpg"), .write("/pics/y/a.jpg"), .settle,
      .save("/pics/y/a.jpg", beside: ".new"), .exchange("/pics/y/a.jpg", with: "/pics/e.jpg"), .settle,
    ])
  }

  @Test func photoThatIsExchangedWithOneOfAnEmptyMountPointIsThere() async throws {
    try await expectPasses([
      .makeDirectory("/pics/z"), .write("/pics/c.jpg"), .write("/pics/z/d.jpg"), .settle, .unmount("/usb"),
      .watch(events: 2, listings: 0), .rename("/pics/c.jpg", to: "/pics/z/a.jpg"),
      .rename("/pics/z/a.jpg", to: "/usb/c.jpg"), .exchange("/usb/c.jpg", with: "/pics/z/d.jpg"), .settle,
    ])
  }

  @Test func photoThatIsSavedAndThenExchangedKeepsItsId() async throws {
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .write("/usb/d.jpg"), .write("/usb/x/d.jpg"), .settle,
        .save("/usb/d.jpg", beside: "new.part"), .exchange("/usb/x/d.jpg", with: "/usb/d.jpg"), .settle,
      ])
  }

  @Test func photoThatIsExchangedWithANewFileKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/x/c.jpg"), .settle,
      .write("/pics/y/a.jpg"), .exchange("/pics/y/a.jpg", with: "/pics/x/c.jpg"), .settle,
    ])
  }

  @Test func photoThatIsExchangedWithAYoungOneKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/x/c.jpg"), .settle,
      .write("/pics/y/a.jpg"), .watch(events: 1000, listings: 1000), .exchange("/pics/y/a.jpg", with: "/pics/x/c.jpg"),
      .settle,
    ])
  }

  @Test func photoThatIsExchangedWithASavedOneIsThere() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/usb/z"), .write("/usb/z/d.jpg"), .write("/usb/z/c.jpg"), .settle,
        .save("/usb/z/d.jpg", beside: "new.jpg"), .exchange("/usb/z/d.jpg", with: "/usb/z/c.jpg"),
        .watch(events: 6, listings: 1), .rename("/usb/z/c.jpg", to: "/usb/c.jpg"), .settle,
      ])
  }

  @Test(arguments: SimulatedDisk.Kind.allCases)
  func aPhotoThatIsExchangedWithANewOneAndBackKeepsItsId(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/x"), .write("/pics/b.jpg"), .write("/pics/c.jpg"), .start, .settle,
        .favorite("/pics/b.jpg", true), .write("/pics/x/d.jpg"), .exchange("/pics/x/d.jpg", with: "/pics/b.jpg"),
        .settle,
        .exchange("/pics/x/d.jpg", with: "/pics/b.jpg"), .settle,
      ])
  }

  @Test func photoThatIsExchangedAndMissedLaterIsNotTheOther() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/x"), .write("/pics/b.jpg"), .settle, .write("/pics/x/d.jpg"),
        .exchange("/pics/x/d.jpg", with: "/pics/b.jpg"), .settle, .write("/pics/x/d.jpg"), .watcherDies(losing: 0),
        .rename("/pics/x/d.jpg", to: "/pics/e.jpg"), .settle,
      ])
  }

  /// Pages of one scanner that were written within two seconds have equal sizes and dates on FAT.
  @Test func pagesThatExchangeTheirNamesAreBothThere() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .scan("/usb/e.jpg"), .scan("/usb/d.jpg"), .settle, .exchange("/usb/e.jpg", with: "/usb/d.jpg"),
        .watch(events: 1000, listings: 1000), .sync, .watch(events: 2, listings: 0), .take(1000, records: 1000),
      ])
  }

  @Test func exchangedPageThatWasScannedAnewChangesItsMetadata() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .write("/pics/b.jpg"), .scan("/pics/\u{f7ff}.jpg"), .settle, .scan("/pics/\u{f7ff}.jpg"),
        .exchange("/pics/b.jpg", with: "/pics/\u{f7ff}.jpg"), .settle,
      ])
  }

  /// The copy is not taken for the photo, which is only out of its place.
  @Test func photoWithACopyThatIsExchangedIsNotTheCopy() async throws {
    try await expectPasses(
      main: .old, usb: .fat,
      [
        .makeDirectory("/pics/y"), .write("/pics/y/a.jpg"), .write("/pics/d.jpg"), .settle,
        .copyExactly("/pics/y/a.jpg", to: "/usb/e.jpg"), .settle, .pass(milliseconds: 600_000), .due,
        .exchange("/pics/d.jpg", with: "/pics/y/a.jpg"), .settle,
      ])
    try await expectPasses(
      usb: .old,
      [
        .makeDirectory("/usb/x"), .write("/usb/x/a.jpg"), .write("/usb/b.jpg"), .settle,
        .copy("/usb/b.jpg", to: "/usb/c.jpg"), .settle, .exchange("/usb/x/a.jpg", with: "/usb/b.jpg"),
        .watch(events: 1000, listings: 1000), .take(2, records: 2), .settle,
      ])
  }

  /// The watcher does not see the other photo in its new place, because that photo was removed.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsSavedAndExchangedWithOneThatIsRemovedStays(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/y"), .write("/pics/a.jpg"), .write("/pics/y/b.jpg"), .settle,
        .save("/pics/y/b.jpg", beside: ".new"), .exchange("/pics/y/b.jpg", with: "/pics/a.jpg"),
        .remove("/pics/y/b.jpg"), .settle,
      ])
  }

  /// The watcher sees a new photo in the place of the removed one.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsSavedAndExchangedWithOneThatIsReplacedStays(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .makeDirectory("/pics/y"), .write("/pics/a.jpg"), .write("/pics/y/b.jpg"), .settle,
        .save("/pics/y/b.jpg", beside: ".new"), .exchange("/pics/y/b.jpg", with: "/pics/a.jpg"),
        .remove("/pics/y/b.jpg"), .write("/pics/y/b.jpg"), .settle,
      ])
  }

  /// The scan of their root waits for that of the drive. Meanwhile an event reports one of them again.
  @Test func photosThatExchangedUnseenKeepTheirIdsIfOneIsWrittenBeforeTheScanIsDecided() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/b.jpg"), .unmount("/usb"), .begin("/pics/\u{f7ff}.jpg"), .settle,
        .save("/pics/\u{f7ff}.jpg", beside: ".new"), .exchange("/pics/x/b.jpg", with: "/pics/\u{f7ff}.jpg"), .kill,
        .start, .mount(2, at: "/usb"), .watch(events: 1000, listings: 1000), .edit("/pics/x/b.jpg"), .settle,
      ])
  }

  /// A program still writes the file, so the library knows it only by its place.
  @Test func halfWrittenPhotoThatIsExchangedKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .makeDirectory("/pics/z"), .write("/pics/y/c.jpg"), .begin("/pics/z/b.jpg"), .settle,
      .exchange("/pics/y/c.jpg", with: "/pics/z/b.jpg"), .settle,
    ])
  }

  /// photod-watch looks at the photo's name after another file has it, and so reports that file for the save.
  @Test func photoThatIsSavedAndRenamedKeepsItsIdFromTheFileThatGetsItsName() async throws {
    try await expectPasses(
      main: .ext4, usb: .old,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/x"), .write("/usb/x/\u{f7ff}.jpg"), .write("/pics/a.jpg"),
        .settle, .save("/pics/a.jpg", beside: ".new"), .copy("/usb/x/\u{f7ff}.jpg", to: "/pics/x/\u{f7ff}.jpg"), .sync,
        .rename("/pics/a.jpg", to: "/pics/x/e.jpg"), .copy("/pics/x/\u{f7ff}.jpg", to: "/pics/a.jpg"), .settle,
      ])
  }

  /// photod-watch looks at the new name of a photo after another file has it. Then the photo leaves by that name.
  @Test func photoThatIsExchangedAfterItsRenameLeavesTheOtherFile() async throws {
    try await expectPasses(
      main: .ext4, usb: .old,
      [
        .makeDirectory("/pics/x"), .write("/pics/x/\u{f7ff}.jpg"), .start, .unmount("/usb"),
        .makeDirectory("/pics/\u{f7c3}\u{f7a9}y"), .write("/pics/\u{f7c3}\u{f7a9}y/c.jpg"),
        .copyExactly("/pics/x/\u{f7ff}.jpg", to: "/usb/d.jpg"), .watch(events: 1000, listings: 1000),
        .rename("/pics/x", to: "/pics/y"), .rename("/pics/\u{f7c3}\u{f7a9}y/c.jpg", to: "/pics/y/d.jpg"),
        .exchange("/usb/d.jpg", with: "/pics/y/d.jpg"), .settle,
      ])
  }

  @Test func photoThatIsExchangedWithANewFileAndRenamedAtOnceKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/z"), .write("/pics/z/c.jpg"), .settle, .write("/pics/x/d.jpg"),
      .exchange("/pics/x/d.jpg", with: "/pics/z/c.jpg"), .rename("/pics/x/d.jpg", to: "/pics/x/e.jpg"), .settle,
    ])
  }

  @Test func photoThatIsExchangedTwiceKeepsItsId() async throws {
    try await expectPasses([
      .write("/pics/e.jpg"), .write("/pics/c.jpg"), .settle, .write("/pics/b.jpg"),
      .exchange("/pics/e.jpg", with: "/pics/c.jpg"), .exchange("/pics/b.jpg", with: "/pics/e.jpg"), .settle,
    ])
  }

  @Test func secondNameThatIsExchangedWithAPhotoStays() async throws {
    try await expectPasses([
      .makeDirectory("/pics/y"), .write("/pics/d.jpg"), .write("/pics/y/b.jpg"),
      .link("/pics/d.jpg", to: "/pics/b.jpg"), .settle, .exchange("/pics/b.jpg", with: "/pics/y/b.jpg"), .sync,
      .rename("/pics/d.jpg", to: "/pics/b.jpg"),
      .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .settle,
    ])
  }

  @Test func savedPhotoThatIsExchangedWithANewOneKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/y/b.jpg"), .write("/pics/d.jpg"),
      .rename("/pics/y/b.jpg", to: "/pics/x/c.jpg"), .settle, .rename("/pics/x/c.jpg", to: "/outside/a.jpg"),
      .rename("/outside/a.jpg", to: "/pics/d.jpg"), .save("/pics/d.jpg", beside: "new.jpg"),
      .rename("/pics/d.jpg", to: "/pics/x/a.jpg"), .write("/pics/a.jpg"),
      .exchange("/pics/x/a.jpg", with: "/pics/a.jpg"), .settle,
    ])
  }

  @Test func photoThatWasRenamedOverAnotherAndExchangedWithANewOneKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/y/b.jpg"), .write("/pics/d.jpg"),
      .rename("/pics/y/b.jpg", to: "/pics/x/c.jpg"), .settle, .rename("/pics/x/c.jpg", to: "/outside/a.jpg"),
      .rename("/outside/a.jpg", to: "/pics/d.jpg"), .rename("/pics/d.jpg", to: "/pics/x/a.jpg"),
      .write("/pics/a.jpg"), .exchange("/pics/x/a.jpg", with: "/pics/a.jpg"), .settle,
    ])
  }

  @Test func savedPhotoThatReplacesASecondNameAndIsExchangedKeepsItsId() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .makeDirectory("/pics/y"), .write("/pics/y/b.jpg"), .write("/pics/d.jpg"),
      .rename("/pics/y/b.jpg", to: "/pics/x/c.jpg"), .link("/pics/x/c.jpg", to: "/pics/x/a.jpg"), .settle,
      .rename("/pics/x/c.jpg", to: "/outside/a.jpg"), .rename("/outside/a.jpg", to: "/pics/d.jpg"),
      .save("/pics/d.jpg", beside: "new.jpg"), .rename("/pics/d.jpg", to: "/pics/x/a.jpg"), .write("/pics/a.jpg"),
      .exchange("/pics/x/a.jpg", with: "/pics/a.jpg"), .settle,
    ])
  }

  @Test func photoThatIsExchangedTwiceAndReplacedKeepsItsId() async throws {
    try await expectPasses([
      .write("/pics/e.jpg"), .write("/pics/c.jpg"), .write("/pics/b.jpg"), .settle, .remove("/pics/b.jpg"),
      .write("/pics/b.jpg"), .exchange("/pics/e.jpg", with: "/pics/c.jpg"),
      .exchange("/pics/b.jpg", with: "/pics/e.jpg"), .settle,
    ])
  }

  @Test func savedPhotoThatIsExchangedAfterAnOverflowIsNotTheNextFile() async throws {
    try await expectPasses(
      main: .old,
      [
        .makeDirectory("/pics/y"), .write("/pics/y/c.jpg"), .write("/pics/y/e.jpg"), .settle,
        .rename("/pics/y/e.jpg", to: "/pics/e.jpg"), .overflow, .save("/pics/y/c.jpg", beside: "new.jpg"),
        .exchange("/pics/e.jpg", with: "/pics/y/c.jpg"), .watch(events: 5, listings: 1),
        .rename("/pics/y/c.jpg", to: "/pics/b.jpg"), .remove("/pics/b.jpg"), .begin("/pics/b.jpg"), .settle,
      ])
  }

  @Test func photoThatIsWrittenAfterAnExchangeLeavesItsCopyAlone() async throws {
    try await expectPasses([
      .makeDirectory("/usb/z"), .write("/pics/b.jpg"), .write("/pics/a.jpg"), .settle,
      .copy("/pics/a.jpg", to: "/usb/z/d.jpg"), .settle, .exchange("/pics/b.jpg", with: "/pics/a.jpg"),
      .write("/pics/b.jpg"), .settle,
    ])
  }

  @Test func photoThatIsRenamedOverAnotherAndOnWithALinkBackKeepsItsId() async throws {
    try await expectPasses([
      .write("/pics/p.jpg"), .write("/pics/s.jpg"), .start, .settle, .favorite("/pics/p.jpg", true), .settle,
      .pass(milliseconds: 3000), .rename("/pics/p.jpg", to: "/pics/s.jpg"), .rename("/pics/s.jpg", to: "/pics/t.jpg"),
      .link("/pics/t.jpg", to: "/pics/s.jpg"), .settle,
    ])
  }

  @Test func photoThatIsRenamedWhileANewFileTakesItsPlaceIsNotItsCopy() async throws {
    try await expectPasses([
      .write("/pics/a.jpg"), .write("/pics/d.jpg"), .start, .settle, .copyExactly("/pics/a.jpg", to: "/usb/a.jpg"),
      .settle, .pass(milliseconds: 3000), .rename("/pics/a.jpg", to: "/pics/b.jpg"),
      .rename("/pics/b.jpg", to: "/pics/c.jpg"), .rename("/pics/c.jpg", to: "/pics/f.jpg"), .write("/pics/new.jpg"),
      .rename("/pics/new.jpg", to: "/pics/b.jpg"), .pass(milliseconds: 50), .rename("/pics/d.jpg", to: "/pics/c.jpg"),
      .settle,
    ])
  }

  @Test(arguments: [true, false]) func photoThatReturnsAndIsEditedKeepsItsId(isEdited: Bool) async throws {
    try await expectPasses(
      [
        .write("/pics/a.jpg"), .start, .settle, .favorite("/pics/a.jpg", true), .settle, .pass(milliseconds: 3000),
        .rename("/pics/a.jpg", to: "/pics/b.jpg"), .save("/pics/b.jpg", beside: ".new"),
        .rename("/pics/b.jpg", to: "/pics/a.jpg"), .write("/pics/.n"), .rename("/pics/.n", to: "/pics/b.jpg"),
      ] + (isEdited ? [.edit("/pics/a.jpg")] : []) + [.settle])
  }

  @Test func photoThatIsRenamedOverTheOtherOfAnExchangeIsGone() async throws {
    try await expectPasses([
      .makeDirectory("/pics/x"), .write("/pics/a.jpg"), .write("/pics/c.jpg"), .settle,
      .exchange("/pics/a.jpg", with: "/pics/c.jpg"), .rename("/pics/a.jpg", to: "/pics/c.jpg"),
      .rename("/pics/c.jpg", to: "/pics/x/a.jpg"), .settle,
    ])
  }

  /// The exchanged photo is not taken for its copy, although it has left its new name when the watcher looks.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func exchangedPhotoWithACopyThatIsRenamedAtOnceKeepsItsId(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .write("/pics/a.jpg"), .write("/pics/b.jpg"), .settle, .copyExactly("/pics/b.jpg", to: "/pics/c.jpg"), .settle,
        .exchange("/pics/a.jpg", with: "/pics/b.jpg"), .rename("/pics/a.jpg", to: "/pics/d.jpg"), .settle,
      ])
  }

  /// Two renames that are no exchange.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedOverAnotherAndBackKeepsItsId(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .write("/pics/a.jpg"), .write("/pics/b.jpg"), .settle, .rename("/pics/a.jpg", to: "/pics/b.jpg"),
        .rename("/pics/b.jpg", to: "/pics/a.jpg"), .settle,
      ])
    try await expectPasses(
      main: main,
      [
        .write("/pics/a.jpg"), .write("/pics/b.jpg"), .settle, .rename("/pics/a.jpg", to: "/pics/b.jpg"),
        .rename("/pics/b.jpg", to: "/pics/a.jpg"), .rename("/pics/a.jpg", to: "/pics/c.jpg"), .write("/pics/a.jpg"),
        .settle,
      ])
  }

  /// The file that a program saves beside the photo is in the library for a moment.
  @Test(arguments: SimulatedDisk.Kind.allCases, [".new", "new.jpg"])
  func photoThatIsSavedExchangedAndRenamedKeepsItsId(main: SimulatedDisk.Kind, beside: String) async throws {
    let photos: [SimulatedStep] = [.write("/pics/a.jpg"), .write("/pics/b.jpg"), .settle]
    let scripts: [[SimulatedStep]] = [
      [.save("/pics/a.jpg", beside: beside), .exchange("/pics/a.jpg", with: "/pics/b.jpg")],
      [
        .exchange("/pics/a.jpg", with: "/pics/b.jpg"), .save("/pics/a.jpg", beside: beside),
        .rename("/pics/b.jpg", to: "/pics/c.jpg"),
      ],
      [
        .exchange("/pics/a.jpg", with: "/pics/b.jpg"), .save("/pics/b.jpg", beside: beside),
        .rename("/pics/a.jpg", to: "/pics/c.jpg"),
      ],
      [
        .rename("/pics/a.jpg", to: "/pics/c.jpg"), .rename("/pics/c.jpg", to: "/pics/a.jpg"),
        .rename("/pics/a.jpg", to: "/pics/c.jpg"), .save("/pics/c.jpg", beside: beside),
      ],
      [.exchange("/pics/a.jpg", with: "/pics/b.jpg"), .edit("/pics/b.jpg"), .remove("/pics/a.jpg")],
      [
        .exchange("/pics/a.jpg", with: "/pics/b.jpg"), .edit("/pics/b.jpg"),
        .rename("/pics/a.jpg", to: "/outside/c.jpg"),
      ],
      [
        .exchange("/pics/a.jpg", with: "/pics/b.jpg"), .edit("/pics/a.jpg"),
        .rename("/pics/a.jpg", to: "/outside/c.jpg"),
      ],
    ]
    for script in scripts { try await expectPasses(main: main, photos + script + [.settle]) }
  }

  /// The watcher sees the second exchange when it looks for the first one.
  @Test(arguments: SimulatedDisk.Kind.allCases, [".new", "new.jpg"])
  func photoThatIsSavedAndExchangedThereAndBackKeepsItsId(main: SimulatedDisk.Kind, beside: String) async throws {
    for (one, other) in [("/pics/a.jpg", "/pics/t.jpg"), ("/pics/t.jpg", "/pics/a.jpg")] {
      try await expectPasses(
        main: main,
        [
          .write("/pics/c.jpg"), .write("/pics/t.jpg"), .settle, .pass(milliseconds: 3000),
          .rename("/pics/c.jpg", to: "/pics/a.jpg"), .save("/pics/a.jpg", beside: beside),
          .exchange("/pics/a.jpg", with: "/pics/t.jpg"), .exchange(one, with: other), .settle,
        ])
    }
  }

  /// The two renames have the events of an exchange, but no photo had the other name.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func photoThatIsRenamedThereAndBackAndLinkedKeepsItsId(main: SimulatedDisk.Kind) async throws {
    try await expectPasses(
      main: main,
      [
        .write("/pics/a.jpg"), .settle, .rename("/pics/a.jpg", to: "/pics/b.jpg"),
        .rename("/pics/b.jpg", to: "/pics/a.jpg"), .link("/pics/a.jpg", to: "/pics/b.jpg"), .settle,
      ])
  }

  /// The photo is renamed over another one and back, and then moved on without a rename that the watcher sees. A new file
  /// has its name. It is not the photo that was overwritten.
  @Test(arguments: SimulatedDisk.Kind.allCases)
  func newFileAfterRenamesThereAndBackIsAPhotoOfItsOwn(main: SimulatedDisk.Kind) async throws {
    let moves: [[SimulatedStep]] = [
      [.makeDirectory("/pics/z"), .rename("/pics/a.jpg", to: "/pics/z/a.jpg")],
      [.rename("/pics/a.jpg", to: "/outside/c.jpg"), .rename("/outside/c.jpg", to: "/pics/c.jpg")],
    ]
    for move in moves {
      try await expectPasses(
        main: main,
        [
          .write("/pics/a.jpg"), .write("/pics/b.jpg"), .settle, .favorite("/pics/b.jpg", true), .settle,
          .pass(milliseconds: 3000), .rename("/pics/a.jpg", to: "/pics/b.jpg"),
          .rename("/pics/b.jpg", to: "/pics/a.jpg"),
        ] + move + [.write("/pics/a.jpg"), .settle])
    }
  }
}
