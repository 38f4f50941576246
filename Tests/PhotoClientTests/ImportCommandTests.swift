import Foundation
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// Imports into a library that does not accept a part of the export.
@Suite struct ImportCommandTests {
  private struct Report: Decodable {
    struct Collection: Decodable, Equatable {
      let title: String
      var details: [String] = []
    }
    let created: [Collection]
    let changed: [Collection]
    let rejected: [Collection]
  }

  private static let library = LibraryStatus(
    state: .live, library: "l", token: "l.1.1", version: "1",
    roots: [LibraryStatus.Root(path: "/photos", state: .online)])

  private static let asset = Asset(
    id: 7, mediaType: .image, mediaSubtypes: [], creationDate: PhotoDate(microseconds: 0),
    creationDateSource: .metadata, modificationDate: PhotoDate(microseconds: 0),
    addedDate: PhotoDate(microseconds: 0), pixelWidth: nil, pixelHeight: nil, orientation: nil, durationSeconds: nil,
    location: nil, camera: nil, title: nil, caption: nil, keywords: [], rating: nil, isFavorite: false, isHidden: false,
    isTrashed: false, burstIdentifier: nil, available: true,
    resources: [.init(kind: .photo, path: "/photos/a.jpg", filename: "a.jpg", byteCount: 1, contentType: "image/jpeg")])

  private final class Accepted: Sendable {
    let requests = Mutex<[ChangeRequest]>([])
    let outcome = Mutex<(Report, Int32)?>(nil)
  }

  private struct Rejection: Encodable {
    let requestIndex = 0
    let message: String
  }

  /// Imports these lines into a library with one photo.
  ///
  /// - Parameters:
  ///   - collections: those of the library.
  ///   - reject: the reason why photod rejects a request; nil if it carries it out.
  /// - Returns: the requests that photod accepted, and what photoctl reported.
  private func importing(
    _ lines: [String], into collections: [AssetCollection] = [],
    rejecting reject: @escaping @Sendable (ChangeRequest) -> String?
  ) async throws -> (accepted: [ChangeRequest], report: Report, status: Int32) {
    let folder = try TemporaryFolder("import")
    defer { withExtendedLifetime(folder) {} }
    let head = [
      #"{"kind":"library","format":1,"library":"other","roots":["/photos"]}"#,
      #"{"kind":"photo","id":1,"path":"/photos/a.jpg","byteCount":1}"#,
    ]
    let end = #"{"kind":"end","photoCount":1,"collectionCount":\#(lines.count)}"#
    let file = folder.path + "/export.jsonl"
    try (head + lines + [end]).joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let accepted = Accepted()
    let answers: [String: ScriptedDaemon.Answer] = [
      "Status": { try await $0.reply(StatusReply(status: Self.library)) },
      "FindAssets": { call in
        let paths = try call.parameters(FindAssetsRequest.self).paths
        try await call.reply(FindAssetsReply(token: "l.1.1", ids: paths.map { $0 == "/photos/a.jpg" ? 7 : 0 }))
      },
      "GetAssets": { try await $0.reply(GetAssetsReply(token: "l.1.1", assets: [Self.asset], missing: [])) },
      "FetchUserData": {
        try await $0.reply(UserDataPage(token: "l.1.1", assets: [UserData(assetID: 7)], next: nil))
      },
      "FetchCollections": { try await $0.reply(CollectionPage(token: "l.1.1", collections: collections)) },
      "FetchIDs": { try await $0.reply(AssetIDPage(token: "l.1.1", total: 0, offset: 0, ids: [])) },
      "PerformChanges": { call in
        let requests = try call.parameters(PerformChangesRequest.self).requests
        if let reason = requests.compactMap(reject).first {
          throw VarlinkError("org.photod.library.ChangeRejected", Rejection(message: reason))
        }
        let count = accepted.requests.withLock { accepted in
          accepted += requests
          return accepted.count
        }
        let created = requests.filter { $0.editAlbum == nil }.indices.map {
          CollectionID(rawValue: Int64(100 + count + $0))
        }
        try await call.reply(ChangeResult(token: "l.1.2", createdCollectionIDs: created))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let ended = try await daemon.photoctl(["import", "--json", file])
      let report = try JSONDecoder().decode(Report.self, from: ended.output)
      accepted.outcome.withLock { $0 = (report, ended.status) }
    }
    let (report, status) = try #require(accepted.outcome.withLock { $0 })
    return (accepted.requests.withLock { $0 }, report, status)
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
}
