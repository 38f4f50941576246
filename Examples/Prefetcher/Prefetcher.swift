import Foundation
import PhotoClient

/// Pictures that are prepared in the direction of scrolling: `swift run PrefetcherExample ROW...` scrolls a list to these rows,
/// one after another.
///
/// SwiftPM builds the examples if the environment has `PHOTOD_EXAMPLES=1`.
@main struct PrefetcherExample {
  private static let rowsOnScreen = 10

  static func main() async {
    do {
      let library = PhotoLibrary(clientName: "prefetcher")
      let photos = try await library.fetchAssets()
      let prefetcher = Prefetcher(images: ImageManager(of: library))
      for row in CommandLine.arguments.dropFirst().compactMap({ Int($0) }) {
        let visible = (row..<row + rowsOnScreen).clamped(to: photos.indices)
        try await prefetcher.update(visible: visible, of: photos)
        for try await (index, photo) in photos.enumerate(in: visible) {
          print("row \(index): \(photo.resources[0].filename), \(try await prefetcher.picture(of: photo))")
        }
      }
      prefetcher.reset()
    } catch {
      print(error)
      exit(1)
    }
  }
}

/// Prepares the pictures of two screens ahead, and of half a screen behind. Pictures that are farther away are no longer
/// prepared.
final class Prefetcher {
  private static let size = ImageSize(width: 256, height: 256)

  private let images: ImageManager
  private var visible = 0..<0
  /// The positions that are prepared, those on the screen included.
  private var cached = RangeSet<Int>()

  init(images: ImageManager) { self.images = images }

  /// Notes which rows are on the screen.
  func update(visible: Range<Int>, of photos: FetchResult) async throws {
    let isDown = visible.lowerBound >= self.visible.lowerBound
    let (ahead, behind) = (2 * visible.count, visible.count / 2)
    let window = visible.lowerBound - (isDown ? behind : ahead)..<visible.upperBound + (isDown ? ahead : behind)
    let wanted = RangeSet(window.clamped(to: photos.indices))
    let (stopped, started) = (cached.subtracting(wanted), wanted.subtracting(cached))
    (self.visible, cached) = (visible, wanted)
    for range in stopped.ranges {
      print("stop \(range)")
      images.stopCachingImages(for: try await photos.ids(at: range), targetSize: Self.size, contentMode: .aspectFill)
    }
    for range in started.ranges {
      print("\(isDown ? "down" : "up"): start \(range)")
      images.startCachingImages(for: try await photos.ids(at: range), targetSize: Self.size, contentMode: .aspectFill)
    }
  }

  /// The text of a picture, which is shown in its place.
  func picture(of photo: Asset) async throws -> String {
    do {
      let picture = try await images.image(for: photo.id, targetSize: Self.size, contentMode: .aspectFill)
      return "\(picture.width)×\(picture.height)"
    } catch PhotoLibraryError.noImage(_, let message) {
      return "no picture: \(message)"
    }
  }

  /// Ends all preparations, for example because another list is shown.
  func reset() {
    images.stopCachingImagesForAllAssets()
    cached = RangeSet()
  }
}
