import Foundation
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoServer

/// Requests of PerformChanges: their rules, and the calls.
@Suite struct ChangeRequestTests {
  private func parse(_ json: String) throws -> LibraryChange {
    try LibraryChange(try JSONDecoder().decode(ChangeRequest.self, from: Data(json.utf8)), index: 3)
  }

  @Test func requestIsParsedToOneChange() throws {
    var edit = AssetEdit(isFavorite: true)
    (edit.rating, edit.title, edit.caption) = (5, "", "a\nb")
    (edit.addedKeywords, edit.removedKeywords) = (["sea"], ["sun"])
    edit.creationDate = .set(PhotoDate("2024-07-21T10:00:00+02:00")!)
    edit.location = .set(Location(latitude: -90, longitude: 180))
    edit.cleared = [.isHidden]
    #expect(
      try parse(
        #"{"editAsset":{"ids":[1,2],"isFavorite":true,"rating":5,"title":"","caption":"a\nb","addKeywords":["sea"],"#
          + #""removeKeywords":["sun"],"creationDate":"2024-07-21T10:00:00+02:00","#
          + #""location":{"latitude":-90,"longitude":180},"clear":["isHidden"]}}"#) == .editAssets([1, 2], edit))
    var shift = AssetEdit()
    (shift.creationDate, shift.location) = (.shift(seconds: -3600.5), .remove)
    #expect(
      try parse(#"{"editAsset":{"ids":[1],"shiftCreationDate":-3600.5,"removeLocation":true}}"#)
        == .editAssets([1], shift))
    #expect(
      try parse(#"{"createAlbum":{"title":"Rome","assetIDs":[3],"parentID":-1}}"#)
        == .createAlbum(title: "Rome", assets: [3], parent: -1))
    #expect(try parse(#"{"createFolder":{"title":"T","parentID":0}}"#) == .createFolder(title: "T", parent: nil))
    #expect(
      try parse(
        #"{"createSmartAlbum":{"title":"S","text":"sea","sortDescriptors":[{"key":"id","ascending":true}],"fetchLimit":9}}"#
      )
        == .createSmartAlbum(
          title: "S", SmartAlbumQuery(text: "sea", sortDescriptors: [.init(key: "id", ascending: true)], fetchLimit: 9),
          parent: nil))
    var album = AlbumEdit()
    (album.title, album.placed, album.before, album.removed, album.keyAsset) = ("R", [1], 2, [3], 4)
    #expect(
      try parse(
        #"{"editAlbum":{"id":9,"title":"R","placeAssetIDs":[1],"beforeAssetID":2,"removeAssetIDs":[3],"keyAssetID":4}}"#
      )
        == .editAlbum(9, album))
    var beforeItself = AlbumEdit()
    (beforeItself.placed, beforeItself.before) = ([1, 2], 2)
    #expect(
      try parse(#"{"editAlbum":{"id":9,"placeAssetIDs":[1,2],"beforeAssetID":2}}"#) == .editAlbum(9, beforeItself))
    var place = CollectionEdit()
    place.place = CollectionPlacement(parent: .top, position: .end)
    #expect(try parse(#"{"editCollection":{"id":9,"parentID":0}}"#) == .editCollection(9, place))
    place.place = CollectionPlacement(parent: .same, position: .before(7))
    #expect(try parse(#"{"editCollection":{"id":9,"beforeID":7}}"#) == .editCollection(9, place))
    #expect(try parse(#"{"deleteAlbum":9}"#) == .deleteCollection(9))
  }

  @Test(arguments: [
    ("{}", "It has none of editAsset"),
    (#"{"deleteAlbum":1,"createFolder":{"title":"A"}}"#, "It has createFolder, deleteAlbum of"),
    (#"{"editAsset":{"ids":[1]}}"#, "editAsset changes nothing"),
    (#"{"editAsset":{"ids":[1],"rating":-1}}"#, "rating is -1. Give a number from 0 to 5."),
    (#"{"editAsset":{"ids":[1],"title":"a\nb"}}"#, "title has a control character"),
    (#"{"editAsset":{"ids":[1],"addKeywords":["a"," "]}}"#, "addKeywords has an empty keyword"),
    (#"{"editAsset":{"ids":[1],"addKeywords":["a"],"removeKeywords":["a"]}}"#, "The keyword 'a' is both"),
    (#"{"editAsset":{"ids":[1],"creationDate":"yesterday"}}"#, "creationDate is 'yesterday', which is no date."),
    (#"{"editAsset":{"ids":[1],"creationDate":"2024-01-01","shiftCreationDate":1}}"#, "can't both be set"),
    (#"{"editAsset":{"ids":[1],"location":{"latitude":91,"longitude":0}}}"#, "location is 91.0, 0.0. A latitude"),
    (#"{"editAsset":{"ids":[1],"location":{"latitude":1,"longitude":0},"removeLocation":true}}"#, "can't both be set"),
    (
      #"{"editAsset":{"ids":[1],"clear":["colour"]}}"#,
      "clear has 'colour', which is no field. The fields are isFavorite"
    ),
    (#"{"editAsset":{"ids":[1],"title":"a","clear":["title"]}}"#, "title can't be both set and cleared"),
    (#"{"createAlbum":{"title":" \t"}}"#, "The title is empty"),
    (#"{"createFolder":{"title":"a\u0000"}}"#, "title has a control character"),
    (#"{"createSmartAlbum":{"title":"a"}}"#, "needs a predicate or a text"),
    (#"{"createSmartAlbum":{"title":"a","text":"b","fetchLimit":0}}"#, "fetchLimit is 0"),
    (#"{"editAlbum":{"id":1}}"#, "editAlbum changes nothing"),
    (#"{"editAlbum":{"id":1,"placeAssetIDs":[1],"removeAssetIDs":[1]}}"#, "both placed and removed"),
    (#"{"editAlbum":{"id":1,"beforeAssetID":1}}"#, "beforeAssetID needs placeAssetIDs"),
    (#"{"editAlbum":{"id":1,"placeAssetIDs":[1],"beforeAssetID":2,"removeAssetIDs":[2]}}"#, "The photo 2 is removed"),
    (#"{"editCollection":{"id":1}}"#, "editCollection changes nothing"),
    (#"{"editCollection":{"id":1,"beforeID":1}}"#, "can't be placed before itself"),
  ])
  func wrongRequestIsRejected(_ request: String, _ message: String) throws {
    do {
      Issue.record("accepted: \(try parse(request))")
    } catch LibraryError.changeRejected(let index, let text) {
      #expect(index == 3 && text.contains(message), "\(text)")
    }
  }

  /// All predicates of a call are compiled in one transaction.
  @Test func predicatesOfACallAreBoundedTogether() async throws {
    struct Parameters: Encodable { var requests: [ChangeRequest] }
    let fixture = try ServerFixture()
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      func perform(_ predicates: [String]) async throws -> ChangeResult {
        let requests = predicates.map { ChangeRequest(createSmartAlbum: .init(title: "S", predicate: $0)) }
        return try await client.call(
          "org.photod.library.PerformChanges", Parameters(requests: requests), returning: ChangeResult.self)
      }
      func predicate(_ byteCount: Int) -> String {
        let start = "title == '"
        return start + String(repeating: "t", count: byteCount - start.utf8.count - 1) + "'"
      }
      #expect(try await perform([predicate(65_000), predicate(500)]).createdCollectionIDs.count == 2)
      do {
        _ = try await perform([predicate(65_000), predicate(500), predicate(500)])
        Issue.record("not refused")
      } catch let error as VarlinkError {
        #expect(error.name == "org.photod.library.ChangeRejected")
        #expect("\(error)".contains("more than 65536 bytes together"), "\(error)")
      }
      #expect(try fixture.catalog.read { try $0.collections() }.count { $0.title == "S" } == 2)
      await client.close()
    }
  }

  /// A text is stored for each photo that gets it.
  @Test func textsOfACallAreBoundedForAllItsPhotosTogether() async throws {
    struct Parameters: Encodable { var requests: [ChangeRequest] }
    let fixture = try ServerFixture()
    let ids = try fixture.insert(70)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      func edit(_ ids: ArraySlice<AssetID>, captionLength: Int) async throws {
        var edit = ChangeRequest.EditAsset(ids: Array(ids))
        (edit.caption, edit.addKeywords) = (String(repeating: "c", count: captionLength), ["sea"])
        _ = try await client.call(
          "org.photod.library.PerformChanges", Parameters(requests: [.init(editAsset: edit)]),
          returning: ChangeResult.self)
      }
      try await edit(ids[...], captionLength: 1_000)
      do {
        try await edit(ids[...], captionLength: 60_000)
        Issue.record("not refused")
      } catch let error as VarlinkError {
        #expect(error.name == "org.photod.library.ChangeRejected")
        #expect("\(error)".contains("more than 4 MiB for all of its photos together"), "\(error)")
      }
      await client.close()
    }
  }

  @Test func callsOfOneGroupAreUndoneTogether() async throws {
    struct Parameters: Encodable {
      var requests: [ChangeRequest]
      var clientName: String
      var undoGroup: String?
    }
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      @discardableResult
      func perform(_ request: ChangeRequest, as name: String, group: String?) async throws -> ChangeResult {
        try await client.call(
          "org.photod.library.PerformChanges",
          Parameters(requests: [request], clientName: name, undoGroup: group), returning: ChangeResult.self)
      }
      func changes(_ origin: String? = nil) async throws -> [UndoableChange] {
        let reply = try await client.call(
          "org.photod.library.FetchUndoableChanges", FetchUndoableChangesRequest(origin: origin),
          returning: UndoableChangesReply.self)
        return reply.changes
      }
      func rejection(_ id: Int) async -> String? {
        do {
          let undo = UndoChangeRequest(id: id, clientName: "undoer")
          _ = try await client.call("org.photod.library.UndoChange", undo, returning: TokenReply.self)
          return nil
        } catch {
          return "\(error)"
        }
      }
      #expect(try await changes().isEmpty)
      let album = try await perform(.init(createAlbum: .init(title: "Rome")), as: "a", group: "1")
        .createdCollectionIDs[0]
      try await perform(.init(editAlbum: .init(id: album, placeAssetIDs: ids)), as: "a", group: "1")
      var edit = ChangeRequest.EditAsset(ids: [ids[0]])
      edit.isFavorite = true
      try await perform(.init(editAsset: edit), as: "b", group: "1")
      // This makes no difference, so there is nothing to undo.
      try await perform(.init(editAsset: edit), as: "b", group: nil)
      edit.rating = 3
      try await perform(.init(editAsset: edit), as: "b", group: nil)
      let all = try await changes()
      #expect(all.map(\.origin) == ["client:b", "client:b", "client:a"])
      #expect(all.map(\.assetCount) == [1, 1, 3] && all.map(\.collections) == [[], [], ["Rome"]])
      #expect(try await changes("client:a") == [all[2]])

      #expect(await rejection(all[1].id)?.contains("was edited again since") ?? false)
      #expect(await rejection(0)?.contains("There is no change 0") ?? false)
      #expect(try await changes() == all)
      #expect(await rejection(all[2].id) == nil)
      #expect(try fixture.catalog.read { try $0.collections() }.allSatisfy { $0.title != "Rome" })
      #expect(await rejection(all[0].id) == nil)
      #expect(await rejection(all[1].id) == nil)
      let asset = try #require(try fixture.catalog.read { try $0.assets([ids[0]]) }.assets.first)
      #expect(!asset.isFavorite && asset.rating == nil)
      #expect(try await changes().isEmpty)
      await client.close()
    }
  }

  /// The changes that photod keeps are bounded in number and size.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func onlyTheLastChangesCanBeUndone() throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(1)
    var log = UndoLog()
    func append(_ id: Int64, titleLength: Int, group: String? = nil) throws {
      var edit = AssetEdit()
      edit.title = String(repeating: "t", count: titleLength) + "\(id)"
      let recording = try fixture.catalog.write { try $0.performRecorded([.editAssets(ids, edit)]).1 }
      log.append(.init(id: id, date: .now, origin: "client:a", group: group, recording: recording))
    }
    for id in 1...150 as ClosedRange<Int64> { try append(id, titleLength: 1) }
    #expect(log.entries.map(\.id) == Array(51...150))
    // The values before and after are kept, so each takes some 8 MB.
    for id in 151...160 as ClosedRange<Int64> { try append(id, titleLength: 1 << 22) }
    #expect(1...4 ~= log.entries.count && log.entries.last?.id == 160, "\(log.entries.count)")
    // No part of a group is undone. The group after it is kept.
    for id in 161...170 as ClosedRange<Int64> { try append(id, titleLength: 1 << 22, group: "large") }
    #expect(log.entries.map(\.id) == [161] && log.entries[0].problem?.contains("too large") == true)
    // The photo counts once for the four calls until the change was too large, and then once for each call.
    #expect(log.entries[0].byteCount < 1_000 && log.entries[0].assetCount == 7)
    for id in 171...180 as ClosedRange<Int64> { try append(id, titleLength: 10, group: "small") }
    #expect(log.entries.map(\.id) == [161, 171] && log.entries[1].recording.assetCount == 1)
    #expect(log.entries[1].problem == nil)
  }

  @Test func callsChangeTheLibraryForAllClients() async throws {
    struct Parameters: Encodable {
      var requests: [ChangeRequest]
      var clientName: String?
      var ifUnchangedSince: String?
    }
    struct Ids: Decodable { let total: Int }
    struct Options: Encodable {
      struct Fetch: Encodable { let collection: String }
      let options: Fetch
    }
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      func perform(_ requests: ChangeRequest..., since: String? = nil) async throws -> ChangeResult {
        try await client.call(
          "org.photod.library.PerformChanges",
          Parameters(requests: requests, clientName: "test", ifUnchangedSince: since), returning: ChangeResult.self)
      }
      let created = try await perform(
        .init(createFolder: .init(title: "Trips")),
        .init(createAlbum: .init(title: "Rome", assetIDs: ids, parentID: -1)))
      #expect(created.createdCollectionIDs.count == 2 && created.changedAssetCount == 3)
      let list = try await client.call(
        "org.photod.library.Fetch", Options(options: .init(collection: "album:rome")), returning: Ids.self)
      #expect(list.total == 3)
      // A change since the token refuses the next call.
      var title = ChangeRequest.EditAsset(ids: [ids[0]])
      title.title = "Trevi"
      _ = try await perform(.init(editAsset: title), since: created.token)
      title.title = "Trevi 2"
      do {
        _ = try await perform(.init(editAsset: title), since: created.token)
        Issue.record("not refused")
      } catch let error as VarlinkError {
        #expect(error.name == "org.photod.library.ChangeRejected")
      }
      title.ids = [ids[1]]
      _ = try await perform(.init(editAsset: title), since: created.token)
      let album = created.createdCollectionIDs[1]
      let favorite = ChangeRequest(editAsset: .init(ids: [ids[0]], isFavorite: true))
      #expect(try await perform(favorite).changedAssetCount == 1)
      #expect(try await perform(favorite).changedAssetCount == 0)
      let placed = ChangeRequest(editAlbum: .init(id: album, placeAssetIDs: [ids[0]], beforeAssetID: ids[1]))
      #expect(try await perform(placed).changedAssetCount == 0)
      let all = ChangeRequest(editAsset: .init(ids: ids, isFavorite: true))
      #expect(try await perform(all).changedAssetCount == 2)
      #expect(try await perform(.init(editAsset: .init(ids: ids, isFavorite: false))).changedAssetCount == 3)
      // The same request again changes nothing.
      let folder = created.createdCollectionIDs[0]
      for request: ChangeRequest in [
        .init(editCollection: .init(id: album, title: "Roma")), .init(editAlbum: .init(id: album, keyAssetID: ids[2])),
        .init(editCollection: .init(id: album, parentID: CollectionID(rawValue: 0))),
        .init(editCollection: .init(id: album, parentID: folder)),
        .init(editAlbum: .init(id: album, placeAssetIDs: [ids[0]])),
        .init(editAlbum: .init(id: album, removeAssetIDs: [ids[1]])), favorite,
      ] {
        #expect(try await perform(request).changed == true, "\(request)")
        #expect(try await perform(request).changed == false, "\(request)")
      }
      let access = try await client.call(
        "org.photod.library.AuthorizationStatus", VarlinkEmpty(), returning: Authorization.self)
      #expect(access.status == .authorized && !access.client.isEmpty)
      await client.close()
    }
  }
}
