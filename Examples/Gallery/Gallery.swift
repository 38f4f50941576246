import Foundation
import PhotoClient

/// A page of the newest photos, which follows the library: `swift run gallery`. Open `gallery.html` in a browser.
/// `swift run gallery favorite ID` makes a photo a favorite.
@main struct Gallery {
  static func main() async {
    do {
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.isEmpty {
        try await Gallery().show()
      } else if arguments.count == 2, arguments.first == "favorite", let id = arguments.last.flatMap({ AssetID($0) }) {
        try await Gallery().makeFavorite(id)
      } else {
        print("usage: gallery [favorite ID]")
        exit(64)
      }
    } catch {
      print(error)
      exit(1)
    }
  }

  let library = PhotoLibrary(clientName: "gallery")

  func show() async throws {
    let images = ImageManager(of: library)
    var photos = try await library.fetchAssets(with: FetchOptions(fetchLimit: 50))
    try await writePage(photos, images)
    for await change in library.changes(for: [photos]) {
      guard let details = change.details(for: photos) else { continue }
      photos = details.after
      try await writePage(photos, images)
    }
  }

  func writePage(_ photos: FetchResult, _ images: ImageManager) async throws {
    var page = "<!doctype html><meta charset=utf-8><title>\(photos.count) photos</title>\n"
    for photo in try await photos.objects(at: photos.indices) {
      guard let photo else { continue }
      let name = (photo.isFavorite ? "♥ " : "") + escaped(photo.resources[0].filename)
      page += "<figure>\(try await picture(of: photo, images))<figcaption>\(photo.id): \(name)</figcaption></figure>\n"
    }
    try page.write(toFile: "gallery.html", atomically: true, encoding: .utf8)
    print("gallery.html has \(photos.count) photos")
    fflush(nil)
  }

  func picture(of photo: Asset, _ images: ImageManager) async throws -> String {
    do {
      let image = try await images.image(for: photo.id, targetSize: ImageSize(width: 256, height: 256))
      let data = Data(try await images.data(of: image))
      return "<img src='data:\(image.contentType);base64,\(data.base64EncodedString())'>"
    } catch PhotoLibraryError.noImage(_, let message) {
      return "<p>\(escaped(message))</p>"
    }
  }

  /// A file name may contain signs that have a meaning in HTML.
  func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }

  func makeFavorite(_ id: AssetID) async throws {
    try await library.performChanges { changes in
      changes.edit([id]) { photo in photo.isFavorite = true }
    }
  }
}
