import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// Commands that change many assets.
@Suite struct ChangeCommandTests {
  private final class Requests: Sendable {
    let all = Mutex<[[ChangeRequest]]>([])
  }

  private static func answers(_ requests: Requests, failing call: Int?) -> [String: ScriptedDaemon.Answer] {
    [
      "GetAssets": { call in
        let date = PhotoDate(microseconds: 0)
        let assets = try call.parameters(GetAssetsRequest.self).ids.map { id in
          Asset(
            id: id, mediaType: .image, creationDate: date, creationDateSource: .metadata, modificationDate: date,
            addedDate: date, resources: [])
        }
        try await call.reply(GetAssetsReply(token: "l.1.1", assets: assets, missing: []))
      },
      "FetchCollections": {
        let album = AssetCollection(id: 42, kind: .album, title: "Rome", count: 0)
        try await $0.reply(CollectionPage(token: "l.1.1", collections: [album]))
      },
      "FetchIDs": { try await $0.reply(AssetIDPage(token: "l.1.1", total: 0, offset: 0, ids: [])) },
      "PerformChanges": { asked in
        let sent = try asked.parameters(PerformChangesRequest.self).requests
        let number = requests.all.withLock { all in
          all.append(sent)
          return all.count
        }
        if number == call {
          throw VarlinkError(
            "org.photod.library.StorageFull",
            ["message": "The disk that holds the catalog is full. Nothing was changed. Make room, and try again."])
        }
        try await asked.reply(ChangeResult(token: "l.1.2", createdCollectionIDs: [42]))
      },
    ]
  }

  /// An album without its photos would stay if the second of two calls fails.
  @Test func anAlbumIsMadeWithItsPhotosInOneCall() async throws {
    let requests = Requests()
    try await ScriptedDaemon.with(Self.answers(requests, failing: 2)) { daemon in
      let made = try await daemon.photoctl(["albums", "create", "Rome", "3", "1"])
      #expect(made.status == 0 && String(decoding: made.output, as: UTF8.self) == "id:42\n", "\(made.errors)")
      let failed = try await daemon.photoctl(["albums", "create", "Oslo", "2"])
      #expect(failed.status == 74)
      #expect(failed.errors.contains("Nothing was changed."), "\(failed.errors)")
    }
    #expect(
      requests.all.withLock { $0 } == [
        [ChangeRequest(createAlbum: .init(title: "Rome", assetIDs: [3, 1]))],
        [ChangeRequest(createAlbum: .init(title: "Oslo", assetIDs: [2]))],
      ])
  }

  /// The asset before which they are placed is one of them, and it may be in any of the calls.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: [1, 1_500, 2_500, 3_000])
  func manyAssetsArePlacedBeforeOneOfThem(_ next: Int64) async throws {
    let requests = Requests()
    let ids = Array((1...2_500).map(AssetID.init(rawValue:)).reversed())
    try await ScriptedDaemon.with(Self.answers(requests, failing: nil)) { daemon in
      let arguments = ["albums", "add", "id:42", "--before", "\(next)"] + ids.map { "\($0)" }
      let placed = try await daemon.photoctl(arguments)
      #expect(placed.status == 0, "\(placed.errors)")
    }
    // The rule of the contract.
    var members = (1...3_200).map(AssetID.init(rawValue:))
    let sent = requests.all.withLock { $0 }.map { $0[0].editAlbum }
    #expect(sent.count == 3 && sent.allSatisfy { $0?.placeAssetIDs?.count ?? 0 <= 1_000 })
    for edit in sent {
      let placed = try #require(edit?.placeAssetIDs)
      let before = try #require(edit?.beforeAssetID)
      let start = try #require(members.firstIndex(of: before))
      let set = Set(placed)
      let following = members[start...].first { !set.contains($0) }
      members.removeAll(where: set.contains)
      members.insert(contentsOf: placed, at: following.flatMap(members.firstIndex) ?? members.count)
    }
    let rest = (2_501...3_200).map(AssetID.init(rawValue:))
    let split = next > 2_500 ? Int(next) - 2_501 : 0
    #expect(members == rest[..<split] + ids + rest[split...])
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aFailureAfterTheFirstCallSaysWhatWasChanged() async throws
  {
    let requests = Requests()
    let ids = (1...2_500).map(String.init)
    try await ScriptedDaemon.with(Self.answers(requests, failing: 3)) { daemon in
      let failed = try await daemon.photoctl(["albums", "create", "Rome"] + ids)
      #expect(failed.status == 74)
      #expect(
        failed.errors.hasPrefix(
          """
          photoctl: The disk that holds the catalog is full. The change was made for the first 2,000 of 2,500 photos
            `photoctl undo` takes that back, unless `photoctl undo --list` has a reason against it. When the cause is removed, repeat the command.
          """), "\(failed.errors)")
    }
    let sent = requests.all.withLock { $0 }
    #expect(
      sent.map { $0[0].createAlbum?.assetIDs?.count ?? $0[0].editAlbum?.placeAssetIDs?.count } == [1_000, 1_000, 500])
    #expect(sent.dropFirst().allSatisfy { $0[0].editAlbum?.id == 42 })
  }
}
