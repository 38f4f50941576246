import Foundation
import PhotoModel
import Testing

@testable import photoctl

/// The rules of export and import that need no photod.
@Suite struct TransferTests {
  private typealias Candidate = PhotoMatcher.Candidate

  private func photo(_ id: AssetID, _ path: String, _ size: Int64 = 1, hash: String? = nil) -> ExportedPhoto {
    ExportedPhoto(id: id, path: path, root: "/old", byteCount: size, contentHash: hash)
  }

  /// The matches of photos among candidates in the roots /new and /more.
  ///
  /// - Parameter read: the hash of a candidate's file; nil if it can't be read.
  private func matcher(
    _ photos: [ExportedPhoto], _ candidates: [(AssetID, String, Int64, String?)], isSameLibrary: Bool = false,
    read: (AssetID) -> String? = { _ in nil }
  ) -> PhotoMatcher {
    let found = candidates.map { Candidate(id: $0.0, path: Array($0.1.utf8), byteCount: $0.2, contentHash: $0.3) }
    return PhotoMatcher(
      photos, roots: ["/new", "/more"].map { Array($0.utf8) }, isSameLibrary: isSameLibrary,
      idsByPath: Dictionary(uniqueKeysWithValues: found.map { ($0.path, $0.id) }), candidates: found,
      hashOf: { read($0.id) })
  }

  @Test func hashFindsAPhotoBeforeItsPathDoes() {
    let match = matcher([photo(1, "/old/a", hash: "x")], [(7, "/old/a", 1, nil), (8, "/new/b", 1, "x")])
    #expect(match.matches == [8])
  }

  @Test func copiesAreDistinguishedByTheirPaths() {
    let photos = [photo(1, "/old/a", hash: "x"), photo(2, "/old/b", hash: "x"), photo(3, "/old/c", hash: "x")]
    let match = matcher(photos, [(7, "/new/b", 1, "x"), (8, "/old/a", 1, "x"), (9, "/new/z", 1, "x")])
    #expect(match.matches == [8, 7, 9])
    // Two copies are left on one side.
    let other = matcher(photos, [(7, "/new/b", 1, "x")])
    #expect(other.matches == [nil, 7, nil])
    #expect(
      other.problem(of: 2, lines: [2, 3, 4])
        == "line 3 of the export has the same content, and was matched to the photo here")
    let two = matcher([photo(1, "/old/a", hash: "x")], [(7, "/new/b", 1, "x"), (8, "/new/c", 1, "x")])
    #expect(two.matches == [nil])
    #expect(
      two.problem(of: 0, lines: [2]) == "2 photos here have its content, and none of them has its place")
  }

  @Test func pathBelowARootNeedsTheSameSize() {
    let photos = [photo(1, "/old/d/a", 5), photo(2, "/old/d/b", 5), photo(3, "/old/c", 5)]
    let match = matcher(photos, [(7, "/more/d/a", 5, nil), (8, "/new/d/b", 6, nil)])
    #expect(match.matches == [7, nil, nil])
    #expect(match.problem(of: 1, lines: [2, 3, 4]) == "the photo at its place here is another one")
    #expect(
      match.problem(of: 2, lines: [2, 3, 4])
        == "no photo here has its place, and the export has no hash of its content")
    // Two roots may have the place.
    #expect(matcher([photo(1, "/old/a")], [(7, "/new/a", 1, nil), (8, "/more/a", 1, nil)]).matches == [nil])
  }

  @Test func differentHashesProveDifferentPhotos() {
    let photos = [photo(1, "/old/a", hash: "x"), photo(2, "/old/b", hash: "y")]
    let candidates: [(AssetID, String, Int64, String?)] = [(7, "/old/a", 1, "z"), (8, "/new/b", 1, "z")]
    #expect(matcher(photos, candidates).matches == [nil, nil])
    // In the same library, a file that was edited since is still the same photo.
    #expect(matcher(photos, candidates, isSameLibrary: true).matches == [7, nil])
  }

  @Test func filesOfTheSameSizeAreReadForTheRest() {
    var read: [AssetID] = []
    let match = matcher(
      [photo(1, "/old/a", 5, hash: "x"), photo(2, "/old/b", 6)],
      [(7, "/new/z", 5, nil), (8, "/new/y", 6, nil), (9, "/new/x", 5, "y")]
    ) {
      read.append($0)
      return "x"
    }
    #expect(match.matches == [7, nil] && read == [7])
  }

  /// A camera gives the same names again, so another photo may have the path that the photo had on the other machine.
  @Test func anotherCamerasPhotoAtTheSamePathIsNotThePhoto() {
    let photos = [photo(1, "/old/a", 3, hash: "x")]
    var read: [AssetID] = []
    let other = matcher(photos, [(7, "/old/a", 2, nil), (8, "/more/Laptop/a", 3, nil)]) {
      read.append($0)
      return "x"
    }
    #expect(other.matches == [8] && read == [8])
    // Uncompressed RAW files all have the same size.
    for path in ["/old/a", "/new/a"] {
      let sameSize = matcher(photos, [(7, path, 3, nil), (8, "/more/Laptop/a", 3, nil)]) { $0 == 7 ? "y" : "x" }
      #expect(sameSize.matches == [8], "\(path)")
      let alone = matcher(photos, [(7, path, 3, nil)]) { _ in "y" }
      #expect(
        alone.matches == [nil] && alone.problem(of: 0, lines: [2]) == "the photo at its place here is another one")
    }
    // Without a hash, the size must be the same.
    #expect(matcher([photo(1, "/old/a", 3)], [(7, "/old/a", 2, nil)]).matches == [nil])
    #expect(matcher([photo(1, "/old/a", 3)], [(7, "/old/a", 3, nil)]).matches == [7])
    // In the same library, nothing is read, and a photo that was edited since is still the same.
    let same = matcher(photos, [(7, "/old/a", 2, nil)], isSameLibrary: true) { _ in
      Issue.record("read")
      return nil
    }
    #expect(same.matches == [7])
  }

  @Test func fileThatCannotBeReadIsNotGuessed() {
    var count = 0
    let match = matcher([photo(1, "/old/a", 3, hash: "x")], [(7, "/new/a", 3, nil)]) { _ in
      count += 1
      return nil
    }
    #expect(match.matches == [nil] && count == 1)
    #expect(
      match.problem(of: 0, lines: [2])
        == "the file at its place here can't be read, so its content can't be compared")
  }

  /// The photo at the place belongs to another line, but is no copy.
  @Test func reasonNamesACopyOnlyForTheSameContent() {
    let photos = [photo(1, "/old/a", hash: "x"), photo(2, "/old/b", hash: "y")]
    let match = matcher(photos, [(7, "/old/a", 1, "y")])
    #expect(match.matches == [nil, 7])
    #expect(match.problem(of: 0, lines: [2, 3]) == "the photo at its place here is another one")
  }

  @Test func importNeedsALibraryWithAllPhotos() throws {
    try ImportCommand.check(.live)
    for state in LibraryStatus.State.allCases + [.unknown] where state != .live {
      #expect {
        try ImportCommand.check(state)
      } throws: {
        ($0 as? Failure)?.status == .tryAgain
      }
    }
  }

  @Test func missingPhotosArePlacedBetweenTheOthers() {
    func placements(_ wanted: [AssetID], _ members: [AssetID]) -> [AlbumPlacement] {
      AlbumPlacement.placements(of: wanted, in: members)
    }
    #expect(placements([], [1]) == [])
    #expect(placements([1, 2], [1, 9, 2]) == [])
    #expect(placements([1, 2], []) == [AlbumPlacement(ids: [1, 2])])
    #expect(
      placements([1, 2, 3, 4, 5], [2, 9, 4])
        == [AlbumPlacement(ids: [1], before: 2), AlbumPlacement(ids: [3], before: 4), AlbumPlacement(ids: [5])])
    // Another order takes all of them.
    #expect(placements([1, 2, 3], [2, 9, 1]) == [AlbumPlacement(ids: [1, 2, 3])])
  }

  private func asset(keywords: [String] = []) -> Asset {
    Asset(
      id: 7, mediaType: .image, mediaSubtypes: [], creationDate: PhotoDate(microseconds: 0),
      creationDateSource: .metadata, modificationDate: PhotoDate(microseconds: 0),
      addedDate: PhotoDate(microseconds: 0), pixelWidth: nil, pixelHeight: nil, orientation: nil,
      durationSeconds: nil, location: nil, camera: nil, title: nil, caption: nil, keywords: keywords, rating: nil,
      isFavorite: false, isHidden: false, isTrashed: false, burstIdentifier: nil, available: true, resources: [])
  }

  @Test func editHasOnlyWhatAPhotoLacks() throws {
    var wanted = photo(1, "/old/a")
    (wanted.title, wanted.caption, wanted.rating, wanted.isFavorite) = ("Rome", "", 0, true)
    (wanted.addedKeywords, wanted.removedKeywords) = (["a", "b"], ["c", "d"])
    let current = UserData(assetID: 7, isFavorite: true, title: "Rom", addedKeywords: ["a"])
    let edit = try #require(PhotoEdit(wanted, of: asset(keywords: ["a", "c"]), having: current))
    var request = ChangeRequest.EditAsset(ids: [7])
    (request.title, request.caption, request.rating) = ("Rome", "", 0)
    (request.addKeywords, request.removeKeywords) = (["b"], ["c"])
    #expect(edit.request == request)
    #expect(edit.changes == ["rating 0", "title 'Rom' → 'Rome'", "caption ''", "keyword +b", "keyword -c"])
    let done = UserData(
      assetID: 7, isFavorite: true, rating: 0, title: "Rome", caption: "", addedKeywords: ["a", "b"],
      removedKeywords: ["c"])
    #expect(PhotoEdit(wanted, of: asset(keywords: ["a", "b"]), having: done) == nil)
  }

  /// The export says that the file's keyword does not count, but here a person typed it.
  @Test func typedKeywordIsNotRemoved() throws {
    var wanted = photo(1, "/old/a")
    wanted.removedKeywords = ["sea", "sun"]
    let current = UserData(assetID: 7, addedKeywords: ["sea"])
    #expect(PhotoEdit(wanted, of: asset(keywords: ["sea"]), having: current) == nil)
    let edit = try #require(PhotoEdit(wanted, of: asset(keywords: ["sea", "sun"]), having: current))
    #expect(edit.request.removeKeywords == ["sun"] && edit.changes == ["keyword -sun"])
  }

  @Test(arguments: [
    ("", "f is empty"), ("x", "line 1 of f is no line of an export: it is not JSON"),
    (#"{"kind":"photo","id":1}"#, "f does not begin with the line of an export's library"),
    ("L", "f is incomplete: lines are missing before its end"),
    ("L\n{\"kind\":\"photo\",\"path\":\"/a\"}", "line 2 of f is no line of an export: 'id' is missing"),
    (
      "L\n{\"kind\":\"photo\",\"id\":1,\"path\":\"/a\",\"byteCount\":\"1\"}",
      "line 2 of f is no line of an export: 'byteCount' has a wrong type"
    ),
    (
      "L\n{\"kind\":\"photo\",\"id\":1,\"path\":\"/a\",\"byteCount\":1,\"creationDate\":\"x\"}",
      "line 2 of f is no line of an export: 'creationDate' has a wrong value"
    ),
    (
      "L\n{\"kind\":\"photo\",\"id\":1,\"path\":\"/a\",\"byteCount\":1,\"rating\":9}",
      "line 2 of f: the rating is 9; it must be 0 to 5"
    ),
    (
      "L\n{\"kind\":\"shelf\",\"id\":1,\"title\":\"x\"}",
      "line 2 of f is no line of an export: 'kind' has a wrong value"
    ),
    (
      "L\n{\"kind\":\"album\",\"id\":1,\"title\":\"x\",\"photos\":[5]}\nE1",
      "line 2 of f names the photo 5, which is not in the export"
    ),
    (
      "L\nP\n{\"kind\":\"album\",\"id\":1,\"title\":\"x\",\"photos\":[],\"keyPhoto\":5}\nE11",
      "line 3 of f has the cover 5, which is not one of its photos"
    ),
    (
      "L\n{\"kind\":\"album\",\"id\":1,\"title\":\"x\",\"parentID\":3}\nE1",
      "line 2 of f is in the folder 3, which is not before it"
    ),
    ("L\nE\nL", "line 3 of f follows the end of the export"),
    (#"{"kind":"library","format":2,"library":"l","roots":[]}"#, "f is an export of another version of photoctl"),
  ])
  func wrongExportIsRefusedWithItsLine(_ text: String, _ problem: String) {
    let lines = text.split(separator: "\n").map { line in
      switch line {
      case "L": #"{"kind":"library","format":1,"library":"l","roots":[]}"#
      case "E": #"{"kind":"end","photoCount":0,"collectionCount":0}"#
      case "E1": #"{"kind":"end","photoCount":0,"collectionCount":1}"#
      case "E11": #"{"kind":"end","photoCount":1,"collectionCount":1}"#
      case "P": #"{"kind":"photo","id":5,"path":"/a","byteCount":1}"#
      default: String(line)
      }
    }
    #expect {
      _ = try ExportFile(Array(lines.joined(separator: "\n").utf8), name: "f")
    } throws: { error in
      let failure = error as? Failure
      #expect(failure?.problem == problem)
      return failure?.status == .data
    }
  }

  @Test func summaryNamesWhatChanged() {
    var report = ImportReport()
    #expect(report.summary == "Nothing changed.")
    report.unchangedPhotoCount = 1
    #expect(report.summary == "Nothing changed. 1 photo has everything already.")
    report.edited = [.init(id: 1, path: "/a\u{1B}", changes: ["favorite", "rating 4"])]
    report.created = [.init(ExportedCollection(kind: .smartAlbum, id: 1, title: "S"), [])]
    report.reordered = [nil]
    report.isDryRun = true
    #expect(
      report.summary
        == "1 photo would be edited, 1 album would be made, 1 folder of albums would be put in order. "
        + "1 photo has everything already.")
    #expect(
      report.lines
        == "~ /a?  favorite, rating 4\n+ The smart album 'S'\n~ The top level  another order\n")
  }
}
