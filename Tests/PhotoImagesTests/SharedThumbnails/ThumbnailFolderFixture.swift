import Foundation
import Glibc
import PhotoModel
import TestTools
import Testing
import WatchRecords

@testable import PhotoImages

extension EngineFixture {
  /// An engine that has shared the photos 1 to `count` at 512 pixels.
  static func sharing(
    _ count: AssetID = 1, in folder: TemporaryFolder? = nil, onThumbnailChange: @escaping @Sendable () -> Void = {}
  ) async throws -> EngineFixture {
    let fixture = try EngineFixture(isSharing: true, in: folder, onThumbnailChange: onThumbnailChange)
    fixture.assets.add(1...count, pixelSize: ImageFrame(width: 3000, height: 2000))
    let session = try fixture.session()
    for id in 1...count { _ = try await fixture.picture(id, .square(512), in: session, as: id) }
    session.close()
    try await fixture.waitUntilIdle()
    return fixture
  }

  /// The thumbnails in the shared folder: `large/NAME.png` and so on.
  var sharedFiles: Set<String> {
    let all = FileManager.default.enumerator(atPath: thumbnails)?.compactMap { $0 as? String } ?? []
    return Set(all.filter { $0.contains(".png") })
  }

  /// The records of the files that were shared.
  var recordCount: Int {
    let all = FileManager.default.enumerator(atPath: cache + "/shared")?.compactMap { $0 as? String } ?? []
    return all.count { $0.contains("-") }
  }

  /// The names of the thumbnails of a file, in these folders.
  static func names(_ path: String, _ folders: [String]) -> Set<String> {
    Set(folders.map { "\($0)/\(ThumbnailURI(path: Array(path.utf8)).fileName)" })
  }

  func facts(_ name: String) throws -> ThumbnailFacts? {
    ThumbnailFacts([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(thumbnails)/\(name)"))))
  }

  func move(_ id: AssetID, to path: String) {
    assets.change(id) { $0.files[0].path = Array(path.utf8) }
    engine.filesChanged([id])
  }

  /// Writes a thumbnail as another program does, or photod if it names an asset and its revision.
  @discardableResult
  func writeThumbnail(
    _ path: String, _ size: ImageFrame, in folder: String, modified: String = "1700000000", assetID: AssetID? = nil,
    revision: String? = nil
  ) throws -> String {
    let uri = ThumbnailURI(path: Array(path.utf8))
    let name = "\(folder)/\(uri.fileName)"
    try FileManager.default.createDirectory(atPath: "\(thumbnails)/\(folder)", withIntermediateDirectories: true)
    var texts = [("Thumb::URI", uri.text), ("Thumb::MTime", modified)]
    if let assetID { texts.append(("X-photod::Asset", "\(assetID)")) }
    if let revision { texts.append(("X-photod::Revision", revision)) }
    let bytes = FakePNG.bytes(size, texts: texts)
    try Data(bytes).write(to: URL(fileURLWithPath: "\(thumbnails)/\(name)"))
    return name
  }
}
