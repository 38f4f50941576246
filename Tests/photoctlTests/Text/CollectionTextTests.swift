import ChangeDetails
import Foundation
import PhotoContract
import PhotoModel
import Testing

@testable import photoctl

struct CollectionTextTests {
  private static func observation(
    _ token: String, after previous: String? = nil, _ ids: [CollectionID]
  ) -> CollectionObservation {
    CollectionObservation(
      token: token, previousToken: previous, count: ids.count, digest: ListDigest(of: ids.map(\.element)).description)
  }

  @Test func theTotalOfAFolderHasTheFoldersBelowIt() throws {
    func folder(_ id: CollectionID, _ path: String, _ count: Int) -> AssetCollection {
      AssetCollection(id: id, kind: .folderAlbum, title: "t", path: path, count: count)
    }
    let folders = [
      folder(1, "/p", 0), folder(2, "/p/2024", 0), folder(3, "/p/2024/07", 5), folder(4, "/p/2024b", 7),
      folder(5, "file:///p/%FF", 2), folder(6, "/q", 0),
    ]
    let smart = AssetCollection(id: 9, kind: .smartAlbum, title: "Recents", count: 14)
    #expect(ListedAlbum.list([smart] + folders).map(\.totalCount) == [14, 14, 5, 5, 7, 2, 0])
    #expect(ListedAlbum.list([folders[1]], folders: folders).map(\.totalCount) == [5])
    #expect(ListedAlbum.list([folder(1, "/", 3), folder(2, "/a", 4)]).map(\.totalCount) == [7, 4])
    var renderer = ListRenderer<ListedAlbum>(format: .jsonl)
    #expect(
      String(decoding: try renderer.page(ListedAlbum.list([folders[1]], folders: folders)), as: UTF8.self)
        == "{\"count\":0,\"id\":2,\"kind\":\"folderAlbum\",\"path\":\"/p/2024\",\"title\":\"t\",\"totalCount\":5}\n")
  }

  @Test func foldersOfAlbumsAreATree() throws {
    func item(_ id: CollectionID, _ kind: AssetCollection.Kind, _ title: String, in parent: CollectionID? = nil)
      -> AssetCollection
    {
      AssetCollection(id: id, kind: kind, title: title, parentID: parent, count: 0)
    }
    let albums = [
      item(1, .smartAlbum, "Recents"), item(2, .folder, "Archive"), item(3, .folder, "Trips"),
      item(4, .folder, "2023", in: 3), item(5, .album, "Paris", in: 4), item(6, .album, "Rome\u{1B}", in: 4),
      item(7, .folder, "2024", in: 3), item(8, .album, "Oslo", in: 7), item(9, .album, "Best"),
    ]
    func table(_ albums: [AssetCollection], folders: [AssetCollection]? = nil) throws -> [Substring] {
      var renderer = ListRenderer<ListedAlbum>(format: .table)
      let page = try renderer.page(ListedAlbum.list(albums, folders: folders))
      let lines = String(decoding: page, as: UTF8.self).split(separator: "\n")
      let title = try #require(lines[0].range(of: "TITLE")?.lowerBound)
      return lines.dropFirst().map { $0.dropFirst(lines[0].distance(from: lines[0].startIndex, to: title)) }
    }
    #expect(
      try table(albums) == [
        "Recents", "Archive", "Trips", "├─ 2023", "│  ├─ Paris", "│  └─ Rome?", "└─ 2024", "   └─ Oslo", "Best",
      ])
    // A list without the folder has the path.
    let folders = albums.filter { $0.kind == .folder }
    #expect(try table([albums[4], albums[8]], folders: folders) == ["Trips/2023/Paris", "Best"])
    #expect(try table([albums[4]]) == ["Paris"])
    // The title in JSON is only the title.
    var renderer = ListRenderer<ListedAlbum>(format: .jsonl)
    let line = String(decoding: try renderer.page([ListedAlbum.list(albums)[4]]), as: UTF8.self)
    #expect(line.contains("\"parentID\":4") && line.contains("\"title\":\"Paris\""), "\(line)")
  }

  @Test func albumsWithTheSameTitleAreToldApart() {
    let trips = AssetCollection(id: 1, kind: .folder, title: "Trips", count: 0)
    let italy = AssetCollection(id: 2, kind: .folder, title: "Italy", parentID: 1, count: 0)
    let albums = [
      AssetCollection(id: 123, kind: .album, title: "Rome", parentID: 2, count: 3),
      AssetCollection(id: 125, kind: .album, title: "Rome", count: 0),
      AssetCollection(id: 126, kind: .smartAlbum, title: "Rome", count: 1),
      AssetCollection(id: 127, kind: .folder, title: "Rome", parentID: 1, count: 0),
    ]
    #expect(
      AssetCollection.distinctions(albums, among: albums + [trips, italy])
        == "id:123 (3 photos, in Trips/Italy), id:125 (no photos), id:126 (smart album, 1 photo), id:127 (folder of albums, in Trips)"
    )
  }

  @Test func anAlbumOfTheWrongKindIsExplained() {
    let smart = AssetCollection(id: 1, kind: .smartAlbum, title: "My iPhone", count: 3)
    let added = smart.failure(named: "My iPhone", expecting: [.album])
    #expect(added.problem == "'My iPhone' is a smart album; its query decides which photos it has")
    #expect(
      added.remedy == "Choose another album, or change the query with `photoctl albums smart --edit 'My iPhone'`.")
    #expect(smart.failure(named: "x", expecting: [.folder]).problem == "'x' is a smart album, and no folder of albums")
    let album = AssetCollection(id: 1, kind: .album, title: "Rome", count: 3)
    #expect(album.failure(named: "Rome", expecting: [.smartAlbum]).problem == "'Rome' is an album, and has no query")
    let folder = AssetCollection(id: 1, kind: .folder, title: "Trips", count: 0)
    #expect(
      folder.failure(named: "Trips", expecting: [.album]).problem
        == "'Trips' is a folder of albums, and has no photos of its own")
  }

  @Test func albumsAreATableFollowedByTheirChanges() throws {
    var text = CollectionText()
    let recents = AssetCollection(id: 1, kind: .smartAlbum, subtype: "recents", title: "Recents", count: 12)
    let rome = AssetCollection(id: 7, kind: .album, title: "Rome", count: 2)
    let folder = AssetCollection(id: 9, kind: .folderAlbum, title: "p", path: "/p", count: 12)
    var list = Self.observation("l.1.1", [1, 7, 9])
    (list.offset, list.collections, list.complete) = (0, [recents, rome, folder], true)
    let table = try text.text(list, at: "10:15:02")
    #expect(table.split(separator: "\n").count == 4 && table.contains("Rome"))

    var (more, renamed) = (recents, rome)
    more.count = 13
    renamed.title = "Roma"
    let new = AssetCollection(id: 10, kind: .folderAlbum, title: "q", path: "/p/q\u{1b}", count: 1)
    var change = Self.observation("l.1.2", after: "l.1.1", [1, 7, 10])
    change.details = FetchResultChangeDetails(
      countBefore: 3, countAfter: 3, removedBefore: [IndexRange(start: 2, count: 1)],
      deletedBefore: [IndexRange(start: 2, count: 1)], insertedAfter: [IndexRange(start: 2, count: 1)],
      insertedIDs: [10], changedBefore: [IndexRange(start: 0, count: 2)],
      changedAfter: [IndexRange(start: 0, count: 2)], changedFields: ["title", "count"])
    (change.inserted, change.updated, change.deleted) = ([new], [more, renamed], [9])
    #expect(
      try text.text(change, at: "10:15:02") == """
        10:15:02  +1 ~2 -1  3 albums  title count
                  + /p/q?  1
                  ~ Recents  12 → 13
                  ~ Rome → Roma  2
                  - /p

        """)
    // The same change does not fit this list again.
    #expect(throws: Failure.self) { try text.text(change) }
  }
}
