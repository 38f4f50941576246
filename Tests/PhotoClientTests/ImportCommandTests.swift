import Foundation
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// Imports into a library that does not accept a part of the export, or that changes meanwhile.
@Suite struct ImportCommandTests {
  private struct Report: Decodable {
    struct Collection: Decodable, Equatable {
      let title: String
      var details: [String] = []
    }
    struct Photo: Decodable, Equatable { let id: AssetID }
    struct Missing: Decodable, Equatable {
      let path: String
      let reason: String
    }
    let edited: [Photo]
    let created: [Collection]
    let changed: [Collection]
    let rejected: [Collection]
    let notFound: [Missing]
  }

  private static let library = LibraryStatus(
    state: .live, library: "l", token: "l.1.1", version: "1",
    roots: [LibraryStatus.Root(path: "/photos", state: .online)])

  /// The photos of the library.
  private static let ids: [String: AssetID] = ["/photos/a.jpg": 7, "/photos/b.jpg": 8]

  private static func asset(_ path: String, _ id: AssetID) -> Asset {
    Asset(
      id: id, mediaType: .image, mediaSubtypes: [], creationDate: PhotoDate(microseconds: 0),
      creationDateSource: .metadata, modificationDate: PhotoDate(microseconds: 0),
      addedDate: PhotoDate(microseconds: 0), pixelWidth: nil, pixelHeight: nil, orientation: nil, durationSeconds: nil,
      location: nil, camera: nil, title: nil, caption: nil, keywords: [], rating: nil, isFavorite: false,
      isHidden: false,
      isTrashed: false, burstIdentifier: nil, available: true,
      resources: [.init(kind: .photo, path: path, filename: "a.jpg", byteCount: 1, contentType: "image/jpeg")])
  }

  private final class Accepted: Sendable {
    let requests = Mutex<[ChangeRequest]>([])
    /// Whether photod has got a change.
    let isChanging = Mutex(false)
    let outcome = Mutex<(Report, String, Int32)?>(nil)
  }

  private struct Rejection: Encodable {
    let requestIndex = 0
    let message: String
  }
  private struct NoSuchAsset: Encodable { let ids: [AssetID] }
  private struct NoSuchCollection: Encodable {
    let collection: String
    let similar: [String] = []
  }

  /// Imports these lines into a library with two photos.
  ///
  /// - Parameters:
  ///   - collections: those of the library.
  ///   - reject: the reason why photod rejects a request; nil if it carries it out.
  /// - Returns: the requests that photod accepted, and what photoctl reported.
  private func importing(
    _ lines: [String], into collections: [AssetCollection] = [],
    rejecting reject: @escaping @Sendable (ChangeRequest) -> String?
  ) async throws -> (accepted: [ChangeRequest], report: Report, status: Int32) {
    let (accepted, report, _, status) = try await importing(lines, into: collections) { requests in
      if let reason = requests.compactMap(reject).first {
        throw VarlinkError("org.photod.library.ChangeRejected", Rejection(message: reason))
      }
    }
    return (accepted, report, status)
  }

  /// - Parameters:
  ///   - gone: the photos that have left the library when photod gets the first change.
  ///   - check: throws the error with which photod answers a call of these requests.
  private func importing(
    _ lines: [String], into collections: [AssetCollection] = [], gone: Set<AssetID> = [],
    checking check: @escaping @Sendable ([ChangeRequest]) throws -> Void
  ) async throws -> (accepted: [ChangeRequest], report: Report, errors: String, status: Int32) {
    let folder = try TemporaryFolder("import")
    defer { withExtendedLifetime(folder) {} }
    let head = [
      #"{"kind":"library","format":1,"library":"other","roots":["/photos"]}"#,
      #"{"kind":"photo","id":1,"path":"/photos/a.jpg","byteCount":1,"rating":4}"#,
      #"{"kind":"photo","id":2,"path":"/photos/b.jpg","byteCount":1,"rating":5}"#,
    ]
    let end = #"{"kind":"end","photoCount":2,"collectionCount":\#(lines.count)}"#
    let file = folder.path + "/export.jsonl"
    try (head + lines + [end]).joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let accepted = Accepted()
    let answers: [String: ScriptedDaemon.Answer] = [
      "Status": { try await $0.reply(StatusReply(status: Self.library)) },
      "FindAssets": { call in
        let paths = try call.parameters(FindAssetsRequest.self).paths
        try await call.reply(FindAssetsReply(token: "l.1.1", ids: paths.map { Self.ids[$0] ?? 0 }))
      },
      "GetAssets": { call in
        let asked = try call.parameters(GetAssetsRequest.self).ids
        let missing = accepted.isChanging.withLock { $0 } ? gone : []
        let assets = Self.ids.filter { asked.contains($0.value) && !missing.contains($0.value) }.map(Self.asset)
        try await call.reply(GetAssetsReply(token: "l.1.1", assets: assets, missing: asked.filter(missing.contains)))
      },
      "FetchUserData": {
        let data = Self.ids.values.map { UserData(assetID: $0) }
        try await $0.reply(UserDataPage(token: "l.1.1", assets: data, next: nil))
      },
      "FetchCollections": { try await $0.reply(CollectionPage(token: "l.1.1", collections: collections)) },
      "FetchIDs": { try await $0.reply(AssetIDPage(token: "l.1.1", total: 0, offset: 0, ids: [])) },
      "PerformChanges": { call in
        let requests = try call.parameters(PerformChangesRequest.self).requests
        accepted.isChanging.withLock { $0 = true }
        for request in requests {
          let named = (request.editAsset?.ids ?? []) + (request.editAlbum?.placeAssetIDs ?? [])
          let missing = named.filter(gone.contains)
          if !missing.isEmpty { throw VarlinkError("org.photod.library.NoSuchAsset", NoSuchAsset(ids: missing)) }
        }
        try check(requests)
        let count = accepted.requests.withLock { accepted in
          accepted += requests
          return accepted.count
        }
        let created = requests.filter { $0.createAlbum != nil || $0.createFolder != nil }.indices.map {
          CollectionID(rawValue: Int64(100 + count + $0))
        }
        try await call.reply(ChangeResult(token: "l.1.2", createdCollectionIDs: created))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let ended = try await daemon.photoctl(["import", "--json", file])
      let report = try JSONDecoder().decode(Report.self, from: ended.output)
      accepted.outcome.withLock { $0 = (report, ended.errors, ended.status) }
    }
    let (report, errors, status) = try #require(accepted.outcome.withLock { $0 })
    return (accepted.requests.withLock { $0 }, report, errors, status)
  }

  @Test func contentsOfARejectedFolderAreNotMadeAtTheTopLevel() async throws {
    let (accepted, report, status) = try await importing([
      #"{"kind":"folder","id":1,"title":"Trips"}"#, #"{"kind":"folder","id":2,"title":"2024","parentID":1}"#,
      #"{"kind":"album","id":3,"title":"Rome","parentID":2,"photos":[1]}"#,
      #"{"kind":"album","id":4,"title":"Best","photos":[1]}"#,
    ]) { $0.createFolder?.title == "Trips" ? "It is too deep." : nil }
    #expect(accepted.compactMap(\.createAlbum).map(\.title) == ["Best"])
    #expect(accepted.allSatisfy { $0.createFolder == nil })
    #expect(report.created.map(\.title) == ["Best"] && report.changed.isEmpty && status == 65)
    #expect(
      report.rejected == [
        .init(title: "Trips", details: ["It is too deep."]),
        .init(title: "2024", details: ["Its folder was not accepted."]),
        .init(title: "Rome", details: ["Its folder was not accepted."]),
      ])
  }

  @Test func albumWhosePhotosAreRejectedIsInOneListOfTheReport() async throws {
    let existing = AssetCollection(id: 50, kind: .album, title: "Old", count: 0)
    let (accepted, report, status) = try await importing(
      [
        #"{"kind":"album","id":1,"title":"Old","photos":[1]}"#, #"{"kind":"album","id":2,"title":"New","photos":[1]}"#,
        #"{"kind":"album","id":3,"title":"Empty","photos":[]}"#,
      ], into: [existing]
    ) { $0.editAlbum == nil ? nil : "No." }
    #expect(accepted.compactMap(\.createAlbum).map(\.title) == ["New", "Empty"])
    #expect(report.created.map(\.title) == ["Empty"] && report.changed.isEmpty && status == 65)
    #expect(
      report.rejected == [
        .init(title: "Old", details: ["Its photos were not all accepted. No."]),
        .init(title: "New", details: ["It was made, but its photos were not all accepted. No."]),
      ])
  }

  private static let albums = [
    #"{"kind":"album","id":1,"title":"Old","photos":[1,2]}"#, #"{"kind":"album","id":2,"title":"New","photos":[2,1]}"#,
  ]
  private static let old = AssetCollection(id: 50, kind: .album, title: "Old", count: 0)

  /// The other photo gets its edit and its albums.
  @Test func photoThatLeavesTheLibraryMeanwhileIsNotFound() async throws {
    let (accepted, report, _, status) = try await importing(Self.albums, into: [Self.old], gone: [8]) { _ in }
    #expect(accepted.compactMap(\.editAsset).map(\.ids) == [[7]])
    #expect(accepted.compactMap(\.editAlbum).compactMap(\.placeAssetIDs) == [[7], [7]])
    #expect(report.edited.map(\.id) == [7] && report.rejected.isEmpty && status == 66)
    #expect(report.changed.map(\.details) == [["1 photo more"]])
    #expect(report.created.map(\.details) == [["1 photo"]])
    #expect(
      report.notFound == [.init(path: "/photos/b.jpg", reason: "the photo here has left the library during the import")]
    )
  }

  @Test func albumThatIsDeletedMeanwhileIsNotAccepted() async throws {
    let (_, report, errors, status) = try await importing(Self.albums, into: [Self.old]) { requests in
      guard requests.contains(where: { $0.editAlbum?.id == 50 }) else { return }
      throw VarlinkError("org.photod.library.NoSuchCollection", NoSuchCollection(collection: "id:50"))
    }
    #expect(report.edited.count == 2 && report.created.map(\.title) == ["New"] && status == 65)
    #expect(
      report.rejected == [
        .init(
          title: "Old", details: ["Its photos were not all accepted. It was deleted during the import."])
      ])
    #expect(errors.contains("All else was imported."), "\(errors)")
  }

  /// The photos and one album are done when the disk is full.
  @Test func errorInTheMiddleIsReportedWithWhatWasDone() async throws {
    let (accepted, report, errors, status) = try await importing(Self.albums, into: [Self.old]) { requests in
      guard requests.contains(where: { $0.editAlbum != nil && $0.editAlbum?.id != 50 }) else { return }
      throw VarlinkError("org.photod.library.StorageFull", ["message": "The disk is full. Nothing was changed."])
    }
    #expect(accepted.count == 4, "two edits, the photos of one album, and the other album")
    #expect(report.edited.count == 2 && report.changed.map(\.title) == ["Old"] && status == 74)
    #expect(report.rejected == [.init(title: "New", details: ["It was made, but it lacks photos."])])
    #expect(errors.contains("The import has changed what is reported above\n"), "\(errors)")
    #expect(errors.contains("2 photos were edited, 1 album was changed."), "\(errors)")
    #expect(errors.contains("When the cause is removed, repeat the command."), "\(errors)")
  }
}
