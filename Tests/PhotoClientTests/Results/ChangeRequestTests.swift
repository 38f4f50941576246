import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

struct ChangeRequestTests {
  @Test func requestsKeepTheirOrderAndPlaceholdersNameTheCollections() async throws {
    let received = Mutex<PerformChangesRequest?>(nil)
    let answer: ScriptedDaemon.Answer = { call in
      let request = try call.parameters(PerformChangesRequest.self)
      received.withLock { $0 = request }
      try await call.reply(ChangeResult(token: "l.1.9", createdCollectionIDs: [70, 71, 72]))
    }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      var made: [CollectionPlaceholder] = []
      let performed = try await daemon.library(clientName: "app").performChanges(
        ifUnchangedSince: "l.1.8", undoGroup: "g"
      ) { changes in
        let folder = changes.createFolder(title: "Travel")
        let album = changes.createAlbum(title: "Rome", assets: [1, 2], in: folder.id)
        changes.edit([1, 2]) { photo in
          photo.isFavorite = true
          photo.rating = 4
          photo.addKeywords(["sun", "rain"])
          photo.removeKeywords(["rain"])
          photo.shiftCreationDate(by: .milliseconds(-1_500))
          photo.removeLocation()
          photo.revert([.title, .caption])
        }
        changes.editAlbum(album.id) { album in
          album.title = "Roma"
          album.removeAssets([1])
          album.insertAssets([3, 4], before: 2)
          album.keyAsset = 3
        }
        let smart = changes.createSmartAlbum(title: "Best", query: SmartAlbumQuery(predicate: "rating > 3"))
        changes.moveCollection(smart.id, to: folder.id, before: album.id)
        changes.deleteCollection(42)
        // This edit changes nothing, so no request is made of it.
        changes.edit([9]) { _ in }
        made = [folder, album, smart]
      }
      #expect(performed.token == "l.1.9")
      #expect(made.map { performed[$0] } == [70, 71, 72])
      var edit = ChangeRequest.EditAsset(ids: [1, 2], isFavorite: true)
      (edit.rating, edit.addKeywords, edit.removeKeywords) = (4, ["sun"], ["rain"])
      (edit.shiftCreationDate, edit.removeLocation, edit.clear) = (-1.5, true, ["title", "caption"])
      let request = try #require(received.withLock { $0 })
      #expect(request.clientName == "app" && request.ifUnchangedSince == "l.1.8" && request.undoGroup == "g")
      #expect(
        request.requests == [
          ChangeRequest(createFolder: .init(title: "Travel")),
          ChangeRequest(createAlbum: .init(title: "Rome", assetIDs: [1, 2], parentID: -1)),
          ChangeRequest(editAsset: edit),
          ChangeRequest(editAlbum: .init(id: -2, removeAssetIDs: [1])),
          ChangeRequest(editAlbum: .init(id: -2, placeAssetIDs: [3, 4], beforeAssetID: 2)),
          ChangeRequest(editAlbum: .init(id: -2, title: "Roma", keyAssetID: 3)),
          ChangeRequest(createSmartAlbum: .init(title: "Best", SmartAlbumQuery(predicate: "rating > 3"))),
          ChangeRequest(editCollection: .init(id: -3, parentID: -1, beforeID: -2)),
          ChangeRequest(deleteAlbum: 42),
        ])
    }
  }

  @Test func aCancelledTaskSendsNoChanges() async throws {
    let answer: ScriptedDaemon.Answer = { try await $0.reply(ChangeResult(token: "l.1.9", createdCollectionIDs: [])) }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      let library = daemon.library()
      for _ in 0..<20 {
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          try await library.performChanges { $0.edit([1]) { $0.isFavorite = true } }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      try await library.performChanges { $0.edit([1]) { $0.isFavorite = true } }
      #expect(daemon.calls == ["PerformChanges"])
    }
  }

  /// In the contract, a negative id names a collection of the same transaction, whatever the app meant.
  @Test func aPlaceholderOfAnotherTransactionIsAnErrorAtTheCall() async throws {
    let answer: ScriptedDaemon.Answer = { call in
      let count = try call.parameters(PerformChangesRequest.self).requests.count {
        $0.createAlbum != nil || $0.createFolder != nil || $0.createSmartAlbum != nil
      }
      try await call.reply(
        ChangeResult(token: "l.1.9", createdCollectionIDs: (0..<count).map { CollectionID(rawValue: Int64(70 + $0)) }))
    }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      let library = daemon.library()
      var made: CollectionPlaceholder?
      try await library.performChanges { made = $0.createFolder(title: "Travel") }
      let foreign = try #require(made)
      #expect(daemon.calls.count == 1)
      let uses: [@Sendable (inout PendingChanges, CollectionID) -> Void] = [
        { _ = $0.createAlbum(title: "a", in: $1) }, { _ = $0.createFolder(title: "a", in: $1) },
        { _ = $0.createSmartAlbum(title: "a", query: SmartAlbumQuery(text: "a"), in: $1) },
        { changes, id in changes.editAlbum(id) { $0.title = "a" } },
        { $0.editSmartAlbum($1, query: SmartAlbumQuery(text: "a")) }, { $0.moveCollection($1, to: nil) },
        { $0.moveCollection(42, to: $1) }, { $0.moveCollection(42, to: nil, before: $1) },
        { $0.deleteCollection($1) },
      ]
      for use in uses {
        for id in [foreign.id, -1, CollectionID(rawValue: .min)] {
          let error = await #expect(throws: PhotoLibraryError.self) {
            try await library.performChanges { changes in
              // A collection of this transaction has the number that the foreign placeholder has in its own.
              _ = changes.createFolder(title: "Work")
              use(&changes, id)
            }
          }
          guard case .changeRejected(requestIndex: 1, let message) = error else {
            Issue.record("\(String(describing: error))")
            continue
          }
          #expect(message.contains("placeholder of another transaction"))
        }
      }
      // No call was made for them. Equal requests of one transaction are fine.
      #expect(daemon.calls.count == 1)
      try await library.performChanges { changes in
        let folder = changes.createFolder(title: "Work")
        for use in uses { use(&changes, folder.id) }
        #expect(changes.requests.dropFirst().first == ChangeRequest(createAlbum: .init(title: "a", parentID: -1)))
      }
    }
  }

  /// The state of a window.
  @MainActor private final class Model {
    var chosen: [AssetID] = [1, 2]

    func makeTrip(in library: PhotoLibrary) async throws -> CollectionID? {
      var trip: CollectionPlaceholder?
      let performed = try await library.performChanges { changes in
        changes.edit(chosen) { $0.isFavorite = true }
        trip = changes.createAlbum(title: "Trip", assets: chosen)
      }
      return trip.map { performed[$0] }
    }
  }

  @Test func theClosureRunsOnTheActorOfTheCaller() async throws {
    let answer: ScriptedDaemon.Answer = { call in
      try await call.reply(ChangeResult(token: "l.1.9", createdCollectionIDs: [70]))
    }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      let trip = try await Model().makeTrip(in: daemon.library())
      #expect(trip == 70)
    }
  }

  @Test func theResultOfAnotherTransactionEndsTheProgram() async throws {
    await #expect(processExitsWith: .failure) {
      var one = PendingChanges()
      var other = PendingChanges()
      let placeholder = other.createFolder(title: "Travel")
      _ = one.createFolder(title: "Work")
      let result = PerformedChanges(token: "l.1.9", createdCollectionIDs: [70], transaction: one.transaction)
      _ = result[placeholder]
    }
  }

  @Test func anErrorOfTheClosureMakesNoCall() async throws {
    struct Refused: Error {}
    try await ScriptedDaemon.with([:]) { daemon in
      await #expect(throws: Refused.self) {
        try await daemon.library().performChanges { changes in
          changes.deleteCollection(1)
          throw Refused()
        }
      }
      #expect(daemon.calls.isEmpty)
    }
  }

  @Test func aReplyWithoutTheCreatedCollectionsIsAnError() async throws {
    let answer: ScriptedDaemon.Answer = {
      try await $0.reply(ChangeResult(token: "l.1.9", createdCollectionIDs: []))
    }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      await #expect(throws: PhotoLibraryError.malformedReply("PerformChanges replied with 0 ids for 1 collections")) {
        try await daemon.library().performChanges { _ = $0.createAlbum(title: "Trip") }
      }
    }
  }
}
