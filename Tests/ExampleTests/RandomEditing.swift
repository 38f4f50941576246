import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport

/// A person who edits photos and one album, and other programs that change files.
struct RandomEditing {
  let fixture: DaemonFixture
  let library: PhotoLibrary
  private var random: SeededGenerator
  private var album: CollectionID = 0
  private var lastFile = 100

  init(fixture: DaemonFixture, library: PhotoLibrary, seed: Int) {
    (self.fixture, self.library) = (fixture, library)
    random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
  }

  mutating func makeAlbum() async throws -> CollectionID {
    let ids = try await library.fetchAssets().ids
    var placeholder: CollectionPlaceholder?
    let performed = try await library.performChanges { changes in
      placeholder = changes.createAlbum(title: "Mine", assets: Array(ids.prefix(12)))
    }
    album = performed[try require(placeholder, "an album is created")]
    return album
  }

  /// Does one thing, which is in the library when it returns.
  ///
  /// - Returns: its name.
  mutating func step() async throws -> String {
    let photos = try await library.fetchAssets()
    let ids = try await photos.ids
    let chosen = ids.filter { _ in random.once(in: 5) }
    let dice = Int.random(in: 0..<10, using: &random)
    switch dice {
    case 0, 1:
      let isFavorite = Bool.random(using: &random)
      try await library.performChanges { $0.edit(chosen) { $0.isFavorite = isFavorite } }
      return "favorites"
    case 2:
      let hours = Int.random(in: -50...50, using: &random)
      try await library.performChanges { $0.edit(chosen) { $0.shiftCreationDate(by: .seconds(hours * 3600)) } }
      return "dates"
    case 3, 4:
      let other = try await library.fetchAssets(with: FetchOptions(collection: "id:\(album)")).ids
        .randomElement(using: &random)
      try await library.performChanges { changes in
        changes.editAlbum(album) { $0.insertAssets(chosen.filter { $0 != other }, before: other) }
      }
      return "places in the album"
    case 5:
      try await library.performChanges { changes in changes.editAlbum(album) { $0.removeAssets(chosen) } }
      return "removals from the album"
    case 6 where ids.count > 15:
      for photo in try await photos.objects(at: photos.indices.prefix(3)) {
        if let photo { unlink(photo.resources[0].path) }
      }
    case 7:
      guard let photo = try await photos.asset(at: Int.random(in: photos.indices, using: &random)) else { break }
      lastFile += 1
      try fixture.move(photo.resources[0].filename, "\(lastFile).jpg")
    case 8:
      guard let photo = try await photos.asset(at: Int.random(in: photos.indices, using: &random)) else { break }
      try fixture.write(photo.resources[0].filename, lastFile)
    default:
      guard ids.count < 60 else { break }
      for _ in 0..<3 {
        lastFile += 1
        try fixture.write("\(lastFile).jpg", lastFile)
      }
    }
    try await fixture.synchronize()
    return "files (\(dice))"
  }
}
