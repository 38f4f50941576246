import Foundation
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// Checks the contract's rules for queries, pages and errors with a spawned daemon.
@Suite struct ContractTests {
  /// Starts a daemon with the generated library of the fixtures.
  private func withLibrary(_ body: (DaemonFixture) async throws -> Void) async throws {
    try await DaemonFixture.with { fixture in
      let made = SourceTree.tests.appendingPathComponent("Fixtures/made")
      try fixture.copyFolder(made, to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      try await body(fixture)
    }
  }

  @Test func predicatesSelectTheMatchingAssets() async throws {
    try await withLibrary { fixture in
      let all = try await fixture.assets()
      let cases: [(String, (Asset) -> Bool)] = [
        ("camera.make == 'Apple'", { $0.camera?.make == "Apple" }),
        ("NOT camera.make == 'Apple'", { $0.camera?.make != "Apple" }),
        ("rating >= 4 OR mediaType == 'video'", { ($0.rating ?? -1) >= 4 || $0.mediaType == .video }),
        (
          "filename BEGINSWITH 'DSC' AND camera.iso < 400",
          {
            $0.resources[0].filename.hasPrefix("DSC") && ($0.camera?.iso).map { $0 < 400 } ?? false
          }
        ),
        ("creationDate >= '2018-01-01'", { $0.creationDate.description >= "2018-01-01" }),
        ("location.latitude != nil", { $0.location != nil }),
        ("camera.model CONTAINS 'iPhone'", { $0.camera?.model?.contains("iPhone") ?? false }),
        ("orientation IN {6, 8}", { [6, 8].contains($0.orientation) }),
        ("path CONTAINS '/2011/'", { $0.resources[0].path.contains("/2011/") }),
      ]
      for (predicate, holds) in cases {
        let found = try await fixture.assets(FetchOptions(predicate: predicate))
        #expect(Set(found.map(\.id)) == Set(all.filter(holds).map(\.id)), "\(predicate)")
        #expect(!found.isEmpty, "\(predicate) tests nothing")
      }
    }
  }

  @Test func collectionsCountWhatAFetchReturns() async throws {
    try await withLibrary { fixture in
      struct Reply: Decodable {
        let token: String
        let collections: [AssetCollection]
      }
      while true {
        let reply = try await fixture.call("FetchCollections", returning: Reply.self)
        #expect(reply.collections.filter { $0.kind == .smartAlbum }.count == 15)
        var lists: [CollectionID: [Asset]] = [:]
        for collection in reply.collections {
          lists[collection.id] = try await fixture.assets(FetchOptions(collection: "id:\(collection.id)"))
        }
        // photod compares copies once it is idle, which changes the album Duplicates.
        guard try await fixture.call("FetchCollections", returning: Reply.self).token == reply.token else { continue }
        for collection in reply.collections {
          #expect(lists[collection.id]?.count == collection.count, "\(collection.title)")
          #expect(lists[collection.id]?.first?.id == collection.keyAssetID, "\(collection.title)")
        }
        break
      }
    }
  }

  @Test func pagesJoinToTheWholeList() async throws {
    try await withLibrary { fixture in
      struct Parameters: Encodable {
        let offset: Int
        let count = 50
      }
      struct Page: Decodable {
        let total: Int
        let assets: [Asset]
      }
      let all = try await fixture.assets()
      var joined: [Asset] = []
      while joined.count < all.count {
        let page = try await fixture.call("Fetch", Parameters(offset: joined.count), returning: Page.self)
        #expect(page.total == all.count && !page.assets.isEmpty)
        joined += page.assets
      }
      #expect(joined == all)
    }
  }

  @Test func wrongCallsGetTheErrorsOfTheContract() async throws {
    try await withLibrary { fixture in
      func refusal(_ method: String, _ parameters: String) async throws -> String {
        let client = try await fixture.connect()
        do {
          _ = try await client.call(
            "org.photod.library." + method, encoded: VarlinkEncoded(Array(parameters.utf8)))
          return "none"
        } catch let error as VarlinkError {
          return String(error.name.split(separator: ".").last ?? "")
        }
      }
      let cases = [
        ("Fetch", #"{"options":{"predicate":"rating >"}}"#, "InvalidPredicate"),
        ("Fetch", #"{"options":{"predicate":"raiting > 3"}}"#, "InvalidPredicate"),
        ("Fetch", #"{"options":{"text":"sea \"sun"}}"#, "InvalidText"),
        ("Fetch", #"{"options":{"text":"-"}}"#, "InvalidText"),
        ("Fetch", #"{"options":{"sortDescriptors":[{"key":"size","ascending":true}]}}"#, "UnknownSortKey"),
        ("ListValues", #"{"key":"size"}"#, "UnknownValueKey"),
        ("ListValues", #"{"key":"year","limit":0}"#, "InvalidParameter"),
        ("ListValues", #"{"key":"year","options":{"predicate":"rating >"}}"#, "InvalidPredicate"),
        ("ListValues", "{}", "InvalidParameter"),
        ("Fetch", #"{"options":{"collection":"Nowhere"}}"#, "NoSuchCollection"),
        ("Fetch", #"{"options":{"fetchLimit":-1}}"#, "InvalidParameter"),
        ("Fetch", #"{"offset":-1}"#, "InvalidParameter"),
        ("Fetch", #"{"count":99999999999999999999}"#, "InvalidParameter"),
        ("Fetch", #"{"options":[]}"#, "InvalidParameter"),
        ("FetchIDs", "{}", "ExpectedMore"),
        ("Observe", "{}", "ExpectedMore"),
        ("FetchPersistentChanges", #"{"follow":true}"#, "ExpectedMore"),
        ("FetchPersistentChanges", #"{"since":"other.1.1"}"#, "ChangeTokenExpired"),
        ("FetchPersistentChanges", #"{"since":"nonsense"}"#, "InvalidParameter"),
        ("GetAssets", #"{"ids":"1"}"#, "InvalidParameter"),
        ("Synchronize", #"{"timeoutSeconds":-1}"#, "InvalidParameter"),
        ("Explain", #"{"path":"relative.jpg"}"#, "InvalidParameter"),
        ("Rescan", #"{"path":"/nowhere"}"#, "NotInLibrary"),
        ("PerformChanges", #"{"requests":[{"editAsset":{"ids":[999999],"isFavorite":true}}]}"#, "NoSuchAsset"),
        ("PerformChanges", #"{"requests":[{}]}"#, "ChangeRejected"),
        ("PerformChanges", #"{"requests":[{"createAlbum":{"title":" "}}]}"#, "ChangeRejected"),
        ("PerformChanges", #"{"requests":[{"createAlbum":{"title":"A","assetIDs":[999999]}}]}"#, "NoSuchAsset"),
        ("PerformChanges", #"{"requests":[{"createAlbum":{"title":"A","parentID":999999}}]}"#, "NoSuchCollection"),
        ("PerformChanges", #"{"requests":[{"editAsset":{"ids":[],"rating":6}}]}"#, "ChangeRejected"),
        ("PerformChanges", #"{"requests":[{"editAsset":{"ids":[],"tilte":"A"}}]}"#, "InvalidParameter"),
        ("PerformChanges", #"{"requests":[{"deleteAlbum":1}]}"#, "NoSuchCollection"),
        ("PerformChanges", #"{"requests":[],"ifUnchangedSince":"nonsense"}"#, "InvalidParameter"),
        ("PerformChanges", #"{"requests":[],"ifUnchangedSince":"other.1.1"}"#, "ChangeTokenExpired"),
        ("PerformChanges", #"{"requests":[{"trashAssets":[1]}]}"#, "MethodNotImplemented"),
        (
          "PerformChanges", #"{"requests":[{"createSmartAlbum":{"title":"A","predicate":"rating >"}}]}"#,
          "ChangeRejected"
        ),
        ("ObserveCollections", "{}", "ExpectedMore"),
        ("RequestAuthorization", #"{"accessLevel":"everything"}"#, "InvalidParameter"),
        ("Frobnicate", "{}", "MethodNotFound"),
      ]
      for (method, parameters, expected) in cases {
        let name = try await refusal(method, parameters)
        #expect(name == expected, "\(method) \(parameters)")
      }
      #expect(try await fixture.status().state == .live)
    }
  }

  /// These parameters are decoded where all calls are answered. Decoding 16 MiB there would stop all calls for seconds,
  /// so photod refuses them.
  @Test(arguments: [
    ("org.photod.library.FetchPersistentChanges", "since"), ("org.photod.library.Synchronize", "timeoutSeconds"),
    ("org.photod.manage.Backup", "path"), ("org.photod.manage.Restore", "path"), ("org.photod.manage.Check", "deep"),
    ("org.photod.manage.Events", "follow"), ("org.varlink.service.GetInterfaceDescription", "interface"),
  ])
  func aMethodWithoutListsRefusesLongParameters(_ method: String, _ member: String) async throws {
    try await withLibrary { fixture in
      let client = try await fixture.connect()
      let list = Array(repeating: "1", count: 70_000).joined(separator: ",")
      let parameters = VarlinkEncoded(Array(#"{"\#(member)":[\#(list)]}"#.utf8))
      let error = await #expect(throws: VarlinkError.self) { _ = try await client.call(method, encoded: parameters) }
      #expect(error.map { String(decoding: $0.parameters, as: UTF8.self) } == #"{"parameter":"parameters"}"#)
    }
  }

  @Test func hiddenAssetsLeaveEveryListThatDoesNotAskForThem() async throws {
    try await withLibrary { fixture in
      struct Parameters: Encodable { let requests: [ChangeRequest] }
      let id = try #require(try await fixture.ids().ids.first)
      _ = try await fixture.call(
        "PerformChanges", Parameters(requests: [ChangeRequest(editAsset: .init(ids: [id], isHidden: true))]))
      #expect(try await !fixture.ids().ids.contains(id))
      #expect(try await fixture.ids(FetchOptions(includeHidden: true)).ids.contains(id))
    }
  }

  @Test func explainNamesTheRule() async throws {
    try await withLibrary { fixture in
      struct Parameters: Encodable { let path: String }
      struct Reply: Decodable {
        let state: String
        let assetID: AssetID?
      }
      func state(_ path: String) async throws -> String {
        let reply = try await fixture.call("Explain", Parameters(path: path), returning: Reply.self)
        return reply.state
      }
      try fixture.write(".hidden/a.jpg")
      try "x".write(toFile: fixture.path("notes.txt"), atomically: false, encoding: .utf8)
      try "".write(toFile: fixture.path("empty.jpg"), atomically: false, encoding: .utf8)
      try "no photo at all".write(toFile: fixture.path("broken.jpg"), atomically: false, encoding: .utf8)
      try await fixture.synchronize()
      #expect(try await state(fixture.path("made/IMG_0001.jpg")) == "indexed")
      #expect(try await state(fixture.path(".hidden/a.jpg")) == "ignored")
      #expect(try await state(fixture.path("notes.txt")) == "notMedia")
      #expect(try await state(fixture.path("empty.jpg")) == "empty")
      #expect(try await state(fixture.path("broken.jpg")) == "unreadable")
      #expect(try await state(fixture.path("missing.jpg")) == "missing")
      #expect(try await state("/etc/passwd") == "outside")
      #expect(try await fixture.status().failedCount == 1)
    }
  }
}
