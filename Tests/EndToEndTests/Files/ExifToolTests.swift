import Foundation
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

/// A person's edits stay while ExifTool, which replaces files by a rename, writes metadata to the same photos.
@Suite struct ExifToolTests {
  private static let exifTool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/exiftool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(.enabled(if: exifTool != nil, "exiftool is not installed"), .timeLimit(.minutes(60)))
  func editsStayWhileFilesAreTouchedAndWritten() async throws {
    let count = effort("PHOTOD_EXIFTOOL_PHOTOS", 60)
    try await DaemonFixture.with { fixture in
      for index in 0..<count { try fixture.write("\(index / 200)/\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "test")
      let ids = try await fixture.ids().ids
      #expect(ids.count == count)
      let own = try await library.assets([ids[0]])[0].creationDate
      for chunk in Self.chunks(ids) {
        var edit = ChangeRequest.EditAsset(ids: chunk, isFavorite: true)
        (edit.rating, edit.title, edit.caption, edit.addKeywords) = (4, "typed", "", ["family"])
        (edit.creationDate, edit.location) = ("2001-02-03T04:05:06+01:00", Location(latitude: 41.5, longitude: 12.25))
        _ = try await library.performChanges([ChangeRequest(editAsset: edit)])
      }
      let edited = try await Self.fields(library, ids)

      var token = try await library.synchronize(timeout: .seconds(1_200))
      for index in 0..<count { try #require(utimes(fixture.path("\(index / 200)/\(index).jpg"), nil) == 0) }
      token = try await Self.expectChanges(since: token, of: [], fields: ["content"], library)
      #expect(try await Self.fields(library, ids) == edited)

      let written = [
        "-XMP-dc:Title=written", "-XMP-dc:Description=from the file", "-Rating=2", "-Keywords=boat",
        "-DateTimeOriginal=2010:11:12 13:14:15", "-OffsetTimeOriginal=+02:00", "-GPSLatitude*=-10.5",
        "-GPSLongitude*=20.5",
      ]
      try await Self.write(["-overwrite_original"] + written, to: fixture.photos)
      token = try await Self.expectChanges(since: token, of: ids, fields: ["content", "keywords"], library)
      for asset in try await Self.fields(library, ids).values {
        #expect(asset.keywords == ["boat", "family"] && asset.title == "typed" && asset.caption == nil)
        #expect(asset.rating == 4 && asset.creationDate == edited[asset.id]?.creationDate)
        #expect(asset.location == Location(latitude: 41.5, longitude: 12.25) && asset.isFavorite)
      }
      // ExifTool now writes into the same file, and only a tag that no field of an asset shows.
      try await Self.write(["-overwrite_original_in_place", "-Software=another"], to: fixture.photos)
      token = try await Self.expectChanges(since: token, of: ids, fields: ["content"], library)

      // When the edits are cleared, the assets get the values that the files have now.
      for chunk in Self.chunks(ids) {
        var edit = ChangeRequest.EditAsset(ids: chunk)
        edit.clear = ["title", "caption", "rating", "keywords", "creationDate", "location"]
        _ = try await library.performChanges([ChangeRequest(editAsset: edit)])
      }
      let cleared = try await Self.fields(library, ids)
      #expect(cleared.count == count)
      for asset in cleared.values {
        #expect(asset.keywords == ["boat"] && asset.title == "written" && asset.caption == "from the file")
        #expect(asset.rating == 2 && asset.isFavorite)
        #expect(asset.creationDate != own && asset.creationDate.description.hasPrefix("2010-11-12T13:14:15"))
        #expect(asset.location == Location(latitude: -10.5, longitude: 20.5))
      }
    }
  }

  private static func chunks(_ ids: [AssetID]) -> [[AssetID]] {
    stride(from: 0, to: ids.count, by: 1_000).map { Array(ids[$0..<min($0 + 1_000, ids.count)]) }
  }

  /// The assets without the fields that any write to their files changes.
  private static func fields(_ library: PhotoLibrary, _ ids: [AssetID]) async throws -> [AssetID: Asset] {
    var fields: [AssetID: Asset] = [:]
    for chunk in chunks(ids) {
      for var asset in try await library.assets(chunk) {
        (asset.modificationDate, asset.revision, asset.resources) = (asset.addedDate, "", [])
        fields[asset.id] = asset
      }
    }
    return fields
  }

  /// Synchronizes, and expects commits that update assets, and change only these fields of them.
  ///
  /// - Parameter ids: the assets that must be updated, and no others. If there are none, any assets may be updated, or
  ///   none.
  /// - Returns: the current token.
  private static func expectChanges(
    since token: String, of ids: [AssetID], fields: Set<String>, _ library: PhotoLibrary
  ) async throws -> String {
    let now = try await library.synchronize(timeout: .seconds(1_200))
    var updated: Set<AssetID> = []
    for try await page in library.persistentChanges(since: token) {
      for change in page.changes {
        #expect(change.insertedAssets.isEmpty && change.deletedAssets.isEmpty, "\(change)")
        #expect(fields.isSuperset(of: try #require(change.changedFields)), "\(change)")
        updated.formUnion(change.updatedAssets)
      }
    }
    if !ids.isEmpty { #expect(updated == Set(ids)) }
    return now
  }

  private static func write(_ arguments: [String], to folder: String) async throws {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: try #require(exifTool))
    // Messages are suppressed (-q -q), because the exit status also shows errors.
    process.arguments = ["-q", "-q", "-m", "-r"] + arguments + [folder]
    try process.run()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        process.waitUntilExit()
        continuation.resume()
      }
    }
    try #require(process.terminationStatus == 0)
  }
}
