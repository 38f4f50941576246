import ChangeDetails
import PhotoContract
import PhotoModel
import Testing

@testable import photoctl

struct WatchTextTests {
  private let time = "10:15:02"

  private func asset(_ id: AssetID, _ path: String) -> Asset {
    let date = PhotoDate(microseconds: 0)
    return Asset(
      id: id, mediaType: .image, creationDate: date, creationDateSource: .metadata, modificationDate: date,
      addedDate: date,
      resources: [Resource(kind: .photo, path: path, filename: "", byteCount: 1, contentType: "image/jpeg")])
  }

  /// The time is left out, because it depends on the time zone.
  private func text(
    _ change: PersistentChange, named: [Asset], albums: [AssetCollection] = [], in history: inout HistoryText
  ) -> String {
    let now = WatchText.now
    var change = change
    change.date = now
    return String(history.text(change, named: named, albums: albums).dropFirst(8))
  }

  private func text(_ change: PersistentChange, named: [Asset] = []) -> String {
    var history = HistoryText()
    return text(change, named: named, in: &history)
  }

  private func change(_ edit: (inout PersistentChange) -> Void) -> PersistentChange {
    var change = PersistentChange(token: "l.1.1", date: PhotoDate(microseconds: 0), origin: "watcher")
    edit(&change)
    return change
  }

  @Test func aChangeNamesTheAssetsThatItTouched() {
    let change = change {
      $0.insertedAssets = [1]
      $0.updatedAssets = [2]
      $0.deletedAssets = [3]
      $0.updatedCollections = [1, 2]
    }
    #expect(
      text(change, named: [asset(1, "/p/a.jpg")]) == """
          watcher   +1 ~1 -1
                  + /p/a.jpg
                  ~ asset 2
                  - asset 3

        """)
  }

  @Test func aSeenAssetIsNamedByItsPathWhenItIsRemovedOrMoves() {
    var history = HistoryText()
    _ = text(
      change { $0.insertedAssets = [1, 2] }, named: [asset(1, "/p/a.jpg"), asset(2, "/p/d/b.jpg")], in: &history)
    #expect(
      text(change { $0.updatedAssets = [1] }, named: [asset(1, "/p/c.jpg")], in: &history)
        .hasSuffix("+0 ~1 -0\n          ~ /p/a.jpg → /p/c.jpg\n"))
    #expect(
      text(change { $0.updatedAssets = [1] }, named: [asset(1, "/p/c.jpg")], in: &history)
        .hasSuffix("          ~ /p/c.jpg\n"))
    _ = text(
      change { $0.renamedDirectories = [RenamedDirectory(fromPath: "/p/d", toPath: "/p/e")] }, named: [], in: &history)
    #expect(
      text(change { $0.deletedAssets = [1, 2, 3] }, named: [], in: &history)
        .hasSuffix("          - /p/c.jpg\n          - /p/e/b.jpg\n          - asset 3\n"))
  }

  /// photod first takes a deleted file that comes back for a new photo, and then recognises it.
  @Test func aPhotoThatIsBackReplacesItsNewID() {
    var history = HistoryText()
    _ = text(change { $0.insertedAssets = [7] }, named: [asset(7, "/p/a.jpg")], in: &history)
    _ = text(change { $0.deletedAssets = [7] }, named: [], in: &history)
    #expect(
      text(change { $0.insertedAssets = [8] }, named: [asset(8, "/p/a.jpg")], in: &history)
        .hasSuffix("+1 ~0 -0\n          + /p/a.jpg\n"))
    let back = change { ($0.insertedAssets, $0.deletedAssets) = ([7], [8]) }
    #expect(
      text(back, named: [asset(7, "/p/a.jpg")], in: &history) == """
          watcher   +1 ~0 -1
                  + /p/a.jpg  (a deleted photo is back)
                  - /p/a.jpg  (another photo has this path now)

        """)
  }

  /// A photo continues in its copy, or a file was renamed over another.
  @Test func aRemovedPhotoWhosePathAnotherPhotoHasIsMarked() {
    var history = HistoryText()
    _ = text(
      change { $0.insertedAssets = [1, 2] }, named: [asset(1, "/p/a.jpg"), asset(2, "/p/copy.jpg")], in: &history)
    #expect(
      text(
        change { ($0.updatedAssets, $0.deletedAssets) = ([1], [2]) }, named: [asset(1, "/p/copy.jpg")], in: &history
      )
      .hasSuffix("~ /p/a.jpg → /p/copy.jpg\n          - /p/copy.jpg  (another photo has this path now)\n"))
  }

  /// The history from before the start of the watch has photos whose paths were read at the start.
  @Test func photosOfTheHistoryAreNotBack() {
    var history = HistoryText()
    history.remember([asset(1, "/p/a.jpg"), asset(9, "/p/i.jpg")], readAfter: "l.1.5")
    #expect(
      text(change { $0.insertedAssets = [1] }, named: [asset(1, "/p/a.jpg")], in: &history)
        .hasSuffix("          + /p/a.jpg\n"))
  }

  /// The folder got the name of another one that was renamed before.
  @Test func oldRenamesDoNotChangePresentPaths() {
    var history = HistoryText()
    history.remember([asset(1, "/p/a/1.jpg")], readAfter: "l.1.1")
    history.remember([AssetCollection(id: 6, kind: .folderAlbum, title: "a", path: "/p/a", count: 1)])
    let rename = change { $0.renamedDirectories = [RenamedDirectory(fromPath: "/p/a", toPath: "/p/b")] }
    #expect(text(rename, named: [], in: &history) == "  watcher   renamed /p/a to /p/b\n")
    var later = rename
    later.token = "l.1.2"
    var renamed = history
    _ = text(later, named: [], in: &renamed)
    let deletion = change { ($0.deletedAssets, $0.deletedCollections) = ([1], [6]) }
    #expect(text(deletion, named: [], in: &history).hasSuffix("- folder /p/a\n          - /p/a/1.jpg\n"))
    #expect(text(deletion, named: [], in: &renamed).hasSuffix("- folder /p/b\n          - /p/b/1.jpg\n"))
  }

  @Test func textOfAChangeNamesFieldsAndAlbums() {
    var history = HistoryText()
    history.remember([
      AssetCollection(id: 5, kind: .album, title: "Rome\u{1B}", count: 0),
      AssetCollection(id: 6, kind: .folderAlbum, title: "2024", path: "/p/2024", count: 0),
    ])
    let favorite = change {
      $0.updatedAssets = [1]
      $0.changedFields = ["metadata", "favorite"]
    }
    #expect(
      text(favorite, named: [asset(1, "/p/a.jpg")], in: &history)
        == "  watcher   +0 ~1 -0  metadata favorite\n          ~ /p/a.jpg\n")
    let albums = change {
      $0.insertedCollections = [5]
      $0.deletedCollections = [6, 7]
    }
    #expect(
      text(albums, named: [], in: &history)
        == "  watcher   albums +1 ~0 -2\n          + album Rome?\n          - folder /p/2024\n")
    // A deleted album is forgotten.
    #expect(text(change { $0.deletedCollections = [6] }, named: [], in: &history).hasSuffix("albums +0 ~0 -1\n"))
  }

  /// A folder that was renamed, and everything in it, has its new path when it goes.
  @Test func aRenamedFolderIsNamedByItsNewPath() {
    var history = HistoryText()
    history.remember([
      AssetCollection(id: 6, kind: .folderAlbum, title: "aa", path: "/p/aa", count: 0),
      AssetCollection(id: 7, kind: .folderAlbum, title: "in", path: "/p/aa/in", count: 0),
      AssetCollection(id: 8, kind: .folderAlbum, title: "aab", path: "/p/aab", count: 0),
      AssetCollection(id: 9, kind: .folderAlbum, title: "%FF", path: "file:///p/aa/%FF", count: 0),
    ])
    // The name of this photo is not UTF-8, so its path is a URI.
    history.remember([asset(1, "file:///p/aa/%FF.jpg")])
    _ = text(
      change { $0.renamedDirectories = [RenamedDirectory(fromPath: "/p/aa", toPath: "/p/bb")] }, named: [], in: &history
    )
    #expect(
      text(change { $0.deletedCollections = [6, 7, 8, 9] }, named: [], in: &history).hasSuffix(
        """
                  - folder /p/bb
                  - folder /p/bb/in
                  - folder /p/aab
                  - folder file:///p/bb/%FF

        """))
    #expect(
      text(change { $0.deletedAssets = [1] }, named: [], in: &history).hasSuffix("- file:///p/bb/%FF.jpg\n"))
  }

  @Test func aChangedAlbumIsNamedWithItsDifferences() {
    var history = HistoryText()
    let trips = AssetCollection(id: 4, kind: .folder, title: "Trips", count: 0)
    var rome = AssetCollection(id: 5, kind: .album, title: "Rome", count: 3)
    history.remember([trips, rome])
    let updated = change { $0.updatedCollections = [5] }
    #expect(HistoryText.needsAlbums(updated))
    rome.title = "Roma\u{1B}"
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history)
        == "  watcher   albums +0 ~1 -0\n          ~ album Rome → Roma?\n")
    (rome.title, rome.count) = ("Roma", 1_204)
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history)
        .hasSuffix("~ album Roma? → Roma  3 → 1,204 photos\n"))
    rome.parentID = 4
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history)
        .hasSuffix("~ album Roma  to the folder of albums Trips\n"))
    rome.parentID = nil
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history).hasSuffix("~ album Roma  to the top level\n"))
    // Its order or its cover changed.
    #expect(text(updated, named: [], albums: [trips, rome], in: &history).hasSuffix("~ album Roma\n"))
    // Every changed photo updates the albums that count it.
    let photo = change { ($0.updatedAssets, $0.updatedCollections) = ([1], [5]) }
    #expect(!HistoryText.needsAlbums(photo))
    #expect(text(photo, named: [asset(1, "/p/a.jpg")], in: &history) == "  watcher   +0 ~1 -0\n          ~ /p/a.jpg\n")
    // Such a commit may have changed the count, so the next one must not be taken for the cause.
    (rome.title, rome.count) = ("Rom", 1_200)
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history).hasSuffix("~ album Roma → Rom\n"))
    // The cause is not known, so the number is named.
    let duplicates = AssetCollection(id: 6, kind: .smartAlbum, subtype: "duplicates", title: "Duplicates", count: 2)
    _ = text(photo, named: [asset(1, "/p/a.jpg")], in: &history)
    #expect(
      text(change { $0.updatedCollections = [6] }, named: [], albums: [trips, rome, duplicates], in: &history)
        .hasSuffix("~ album Duplicates  2 photos now\n"))
    rome.count = 1_199
    #expect(
      text(updated, named: [], albums: [trips, rome], in: &history).hasSuffix("~ album Rom  1,200 → 1,199 photos\n"))
  }

  @Test func theNumberOfRememberedPathsIsBounded() {
    var seen = SeenPaths(capacity: 3)
    for id in AssetID(1)...5 { seen.note(asset(id, "/\(id)")) }
    #expect((1...5).map { seen[$0] } == [nil, nil, "/3", "/4", "/5"])
    seen.note(asset(4, "/four"))
    #expect(seen[3] == "/3" && seen[4] == "/four")
  }

  @Test func aPhotoThatReturnsIsRememberedOnce() {
    var seen = SeenPaths(capacity: 3)
    for id in AssetID(1)...3 { seen.note(asset(id, "/\(id)")) }
    seen.forget([1])
    seen.note(asset(1, "/back"))
    #expect(seen[1] == "/back")
    // The next two new paths evict one entry each, the oldest first.
    seen.note(asset(4, "/4"))
    #expect((1...4).map { seen[$0] } == [nil, "/2", "/3", "/4"])
    seen.note(asset(5, "/5"))
    #expect((1...5).map { seen[$0] } == [nil, nil, "/3", "/4", "/5"])
  }

  @Test func aLineHasThePathsOfItsPhotos() throws {
    let change = change { ($0.insertedAssets, $0.deletedAssets) = ([12, 3], [7]) }
    let line = try JSONText.line(change, adding: "paths", [12: "/p/a \"b\".jpg", 3: "/p/c.jpg"])
    #expect(String(decoding: line, as: UTF8.self).hasSuffix(#","paths":{"3":"/p/c.jpg","12":"/p/a \"b\".jpg"}}"#))
    let plain = try JSONText.line(change)
    #expect(line.starts(with: plain.dropLast()))
    let empty = try JSONText.line(change, adding: "paths", [:])
    #expect(String(decoding: empty, as: UTF8.self).hasSuffix(#","paths":{}}"#))
  }

  @Test func signsHaveColoursIfTheyAreWanted() {
    var history = HistoryText(style: Style(isColored: true))
    let text = text(change { $0.insertedAssets = [1] }, named: [asset(1, "/p/a.jpg")], in: &history)
    #expect(text.hasSuffix("          \u{1B}[32m+ /p/a.jpg\u{1B}[0m\n"))
  }

  @Test func manyAssetsAreOnlyCounted() {
    #expect(text(change { $0.insertedAssets = Array(1...11) }) == "  watcher   +11 ~0 -0\n")
    #expect(text(change { $0.updatedAssets = Array(1...1_204) }) == "  watcher   +0 ~1,204 -0\n")
  }

  @Test func manyRemovedAssetsAreNamedByTheirFolder() {
    func removed(_ paths: [String], of count: AssetID) -> String {
      var history = HistoryText()
      history.remember(zip(1..., paths).map { asset($0, $1) })
      return text(change { $0.deletedAssets = Array(1...count) }, named: [], in: &history)
    }
    let paths = (1...12).map { "/p/trip/\($0 % 2 == 0 ? "a" : "b")/\($0).jpg" }
    #expect(removed(paths, of: 12) == "  watcher   +0 ~0 -12\n          - 12 assets in /p/trip\n")
    #expect(removed(paths, of: 20).hasSuffix("          - 20 assets, 12 of them in /p/trip\n"))
    #expect(removed(["/a/1.jpg", "/b/2.jpg"], of: 11).hasSuffix("          - 11 assets, 2 of them in /\n"))
    #expect(removed([], of: 11) == "  watcher   +0 ~0 -11\n")
  }

  @Test func aRenamedFolderIsOneLine() {
    let change = change {
      $0.renamedDirectories = [RenamedDirectory(fromPath: "/p/a", toPath: "/p/b")]
      $0.updatedCollections = [5]
    }
    #expect(text(change) == "  watcher   renamed /p/a to /p/b\n")
  }

  @Test func textNamesARootThatWentOffline() {
    let change = change {
      $0.origin = "mount"
      $0.rootAvailability = [RootAvailability(path: "/card", available: false)]
    }
    #expect(text(change) == "  mount     /card is offline\n")
  }

  @Test func anEmptyChangeIsNoTrap() {
    #expect(text(change { _ in }) == "  watcher   albums +0 ~0 -0\n")
  }

  @Test func observationsNameTheRemovedAssets() throws {
    var lines = ObservationText()
    let list = Observation(
      token: "l.1.0", count: 3, digest: ListDigest(of: [1, 2, 3]).description, offset: 0, ids: [1, 2, 3],
      complete: true)
    #expect(try lines.text(list, at: time) == "10:15:02  the list has 3 assets\n")
    let details = FetchResultChangeDetails(
      countBefore: 3, countAfter: 3, removedBefore: [IndexRange(start: 1, count: 1)],
      insertedAfter: [IndexRange(start: 0, count: 1)], insertedIDs: [9],
      changedBefore: [IndexRange(start: 0, count: 1)], changedAfter: [IndexRange(start: 1, count: 1)],
      changedFields: ["favorite"])
    let observation = Observation(
      token: "l.1.1", previousToken: "l.1.0", count: 3, digest: ListDigest(of: [9, 1, 3]).description,
      origin: "client:photoctl", details: details, insertedAssets: [asset(9, "/p/i.jpg")],
      changedAssets: [asset(1, "/p/a.jpg")])
    #expect(
      try lines.text(observation, at: time) == """
        10:15:02  client:photoctl  +1 ~1 -1  3 assets  favorite
                  + /p/i.jpg
                  ~ /p/a.jpg
                  - asset 2

        """)
    // The same observation does not follow from the new state.
    #expect(throws: Failure.self) { try lines.text(observation, at: time) }
  }

  @Test func aRememberedAssetIsNamedByItsPathWhenItIsRemoved() throws {
    var lines = ObservationText()
    let list = Observation(
      token: "l.1.0", count: 2, digest: ListDigest(of: [1, 2]).description, offset: 0, ids: [1, 2], complete: true)
    _ = try lines.text(list, at: time)
    #expect(lines.unseen == [1, 2])
    lines.remember([asset(1, "/p/a.jpg")])
    #expect(lines.unseen == [2])
    let details = FetchResultChangeDetails(
      countBefore: 2, countAfter: 0, removedBefore: [IndexRange(start: 0, count: 2)])
    let gone = Observation(
      token: "l.1.1", previousToken: "l.1.0", count: 0, digest: ListDigest().description, details: details)
    #expect(try lines.text(gone, at: time).hasSuffix("          - /p/a.jpg\n          - asset 2\n"))
  }

  @Test func aDeletedAlbumIsToldFromAnEmptyOne() throws {
    var lines = ObservationText()
    func same(_ token: Int, isDeleted: Bool) -> Observation {
      Observation(
        token: "l.1.\(token)", previousToken: "l.1.\(token - 1)", count: 0, digest: ListDigest().description,
        collectionDeleted: isDeleted ? true : nil)
    }
    let details = FetchResultChangeDetails(
      countBefore: 1, countAfter: 0, removedBefore: [IndexRange(start: 0, count: 1)])
    var gone = same(1, isDeleted: true)
    gone.details = details
    #expect(
      try lines.text(gone, at: time)
        == "10:15:02  several   +0 ~0 -1  0 assets\n\(Self.nameless)10:15:02  the album of the list was deleted\n")
    let back = try lines.text(same(2, isDeleted: false), at: time)
    #expect(back == "10:15:02  the album of the list is back: 0 assets\n")
    #expect(try lines.text(same(3, isDeleted: true), at: time) == "10:15:02  the album of the list was deleted\n")
  }

  @Test func differencesSinceATokenArePrintedWithoutTheList() throws {
    var lines = ObservationText()
    let same = Observation(token: "l.1.1", previousToken: "l.1.0", count: 2, digest: "0")
    #expect(try lines.text(same, at: time) == "10:15:02  the list has not changed: 2 assets\n")
    let details = FetchResultChangeDetails(
      countBefore: 2, countAfter: 1, removedBefore: [IndexRange(start: 0, count: 1)])
    let gone = Observation(token: "l.1.2", previousToken: "l.1.1", count: 1, digest: "0", details: details)
    #expect(try lines.text(gone, at: time) == "10:15:02  several   +0 ~0 -1  1 asset\n" + Self.nameless)
  }

  private static let nameless =
    "          - 1 asset. To see which, also give the ids of the list (--since-ids).\n"

  @Test func differencesSinceATokenNameRemovedAssetsIfTheIDsAreKnown() throws {
    var lines = ObservationText(since: "l.1.0", ids: [4, 7, 9])
    var paths = SeenPaths()
    paths.note(7, "/p/a.jpg")
    lines.remember(paths)
    let details = FetchResultChangeDetails(
      countBefore: 3, countAfter: 1, removedBefore: [IndexRange(start: 1, count: 2)])
    let gone = Observation(
      token: "l.1.1", previousToken: "l.1.0", count: 1, digest: ListDigest(of: [4]).description, details: details)
    #expect(
      try lines.text(gone, at: time) == """
        10:15:02  several   +0 ~0 -2  1 asset
                  - /p/a.jpg
                  - asset 9

        """)
  }

  /// As after a restart of photod: later differences continue from its token.
  @Test func anUnchangedListIsContinued() throws {
    var lines = ObservationText()
    let digest = ListDigest(of: [1, 2]).description
    _ = try lines.text(
      Observation(token: "l.1.0", count: 2, digest: digest, offset: 0, ids: [1, 2], complete: true), at: time)
    _ = try lines.text(Observation(token: "l.1.1", previousToken: "l.1.0", count: 2, digest: digest), at: time)
    let details = FetchResultChangeDetails(
      countBefore: 2, countAfter: 1, removedBefore: [IndexRange(start: 0, count: 1)])
    let gone = Observation(
      token: "l.1.2", previousToken: "l.1.1", count: 1, digest: ListDigest(of: [2]).description, details: details)
    #expect(try lines.text(gone, at: time).hasSuffix("          - asset 1\n"))
  }

  @Test func anotherDayHasItsDate() {
    let now = WatchText.now
    #expect(WatchText.clock(now, now: now).count == 8)
    let earlier = PhotoDate(microseconds: now.microseconds - 3 * 86_400_000_000)
    #expect(WatchText.clock(earlier, now: now).count == 19)
  }
}

extension HistoryText {
  fileprivate mutating func remember(_ assets: [Asset], readAfter token: String? = nil) {
    var paths = SeenPaths(readAfter: token)
    for asset in assets { paths.note(asset) }
    remember(paths)
  }
}
