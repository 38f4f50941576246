import Foundation
import PhotoClient

/// An image picker with the newest photos first: `swift run ImagePickerExample ROW... [pick NUMBER]` scrolls its grid to these
/// rows, and picks a photo by its number.
///
/// SwiftPM builds the examples if the environment has `PHOTOD_EXAMPLES=1`.
///
/// The pictures of the next screen are prepared while a person looks at this one. If the person scrolls elsewhere, their
/// preparation is cancelled.
@main @MainActor final class ImagePicker {
  static func main() async {
    do {
      let library = PhotoLibrary(clientName: "image-picker")
      // The newest photos come first by default.
      let picker = ImagePicker(photos: try await library.fetchAssets(), images: ImageManager(of: library))
      var words = CommandLine.arguments.dropFirst().makeIterator()
      while let word = words.next() {
        if let row = Int(word) {
          try await picker.scroll(to: row)
        } else if word == "pick", let number = words.next().flatMap({ Int($0) }) {
          try await picker.pick(number)
        } else {
          print("'\(word)' is neither a row nor 'pick'.")
        }
      }
    } catch {
      print(error)
      exit(1)
    }
  }

  private static let thumbnail = ImageSize(width: 256, height: 256)
  private static let columns = 4
  private static let rows = 3

  private let photos: FetchResult
  private let images: ImageManager
  /// The positions whose pictures are being prepared.
  private var prefetched = 0..<0

  init(photos: FetchResult, images: ImageManager) {
    self.photos = photos
    self.images = images
  }

  func scroll(to row: Int) async throws {
    let visible = positions(ofRows: row..<row + Self.rows)
    // The requests of all cells begin together.
    let cells = try await photos.objects(at: visible).map { photo in Task { try await cell(for: photo) } }
    for (position, cell) in zip(visible, cells) { print("\(position): \(try await cell.value)") }
    try await prefetch(positions(ofRows: row + Self.rows..<row + 2 * Self.rows))
  }

  /// The text of a cell, in place of its picture.
  private func cell(for photo: Asset?) async throws -> String {
    guard let photo else { return "deleted" }
    do {
      let picture = try await images.image(for: photo.id, targetSize: Self.thumbnail, contentMode: .aspectFill)
      return "\(photo.resources[0].filename), \(picture.width)×\(picture.height)"
    } catch PhotoLibraryError.noImage(_, let message) {
      return "\(photo.resources[0].filename), no picture: \(message)"
    }
  }

  /// Prepares the pictures at these positions, and no others.
  private func prefetch(_ wanted: Range<Int>) async throws {
    let (old, new) = (Set(prefetched), Set(wanted))
    let cancelled = try await ids(old.subtracting(new))
    let started = try await ids(new.subtracting(old))
    images.stopCachingImages(for: cancelled, targetSize: Self.thumbnail, contentMode: .aspectFill)
    images.startCachingImages(for: started, targetSize: Self.thumbnail, contentMode: .aspectFill)
    prefetched = wanted
  }

  private func ids(_ positions: Set<Int>) async throws -> [AssetID] {
    var ids: [AssetID] = []
    for position in positions.sorted() { ids += try await photos.ids(at: position..<position + 1) }
    return ids
  }

  private func positions(ofRows rows: Range<Int>) -> Range<Int> {
    (rows.lowerBound * Self.columns..<rows.upperBound * Self.columns).clamped(to: photos.indices)
  }

  /// Ends the preparations, and shows the chosen photo in its own size.
  private func pick(_ position: Int) async throws {
    images.stopCachingImagesForAllAssets()
    prefetched = 0..<0
    guard photos.indices.contains(position), let photo = try await photos[position] else {
      return print("There is no photo \(position).")
    }
    let picture = try await images.image(for: photo.id, targetSize: nil)
    print("picked \(photo.resources[0].path), \(picture.width)×\(picture.height)")
  }
}
