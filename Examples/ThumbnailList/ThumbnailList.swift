import Foundation
import PhotoClient

/// A list of ten rows that scrolls fast: `swift run ThumbnailListExample ROW...` scrolls to these rows one after another.
///
/// SwiftPM builds the examples if the environment has `PHOTOD_EXAMPLES=1`.
///
/// The cells are reused. A cell that gets another photo cancels its request, so the picture of the photo before never
/// arrives in it.
@main @MainActor struct ThumbnailList {
  static func main() async {
    do {
      let library = PhotoLibrary(clientName: "thumbnail-list")
      var status = try await library.authorizationStatus(for: .readWrite)
      if status == .notDetermined { status = try await library.requestAuthorization(for: .readWrite) }
      guard status == .authorized || status == .limited else {
        print("This program has no access to your photos (\(status)).")
        exit(1)
      }
      let list = ThumbnailList(photos: try await library.fetchAssets(), images: ImageManager(of: library))
      for row in CommandLine.arguments.dropFirst().compactMap({ Int($0) }) { try await list.scroll(to: row) }
      for cell in list.cells { await cell.finish() }
    } catch {
      print(error)
      exit(1)
    }
  }

  let photos: FetchResult
  let images: ImageManager
  let cells = (0..<10).map { ThumbnailCell(number: $0) }

  /// Shows the rows from this one on.
  func scroll(to row: Int) async throws {
    let first = max(0, min(row, photos.count - cells.count))
    let visible = first..<min(first + cells.count, photos.count)
    for (row, photo) in zip(visible, try await photos.objects(at: visible)) {
      // A row that stays visible keeps its cell. The other cells are reused.
      cells[row % cells.count].show(photo, images)
    }
  }
}

/// One cell of the list.
@MainActor final class ThumbnailCell {
  private static let size = ImageSize(width: 128, height: 128)

  private let number: Int
  private var photo: Asset?
  private var request: Task<Void, Never>?

  init(number: Int) { self.number = number }

  /// Shows another photo: its name at once, and its picture when it arrives.
  func show(_ photo: Asset?, _ images: ImageManager) {
    guard photo != self.photo else { return }
    // After this line, the task gets no more pictures.
    request?.cancel()
    request = nil
    self.photo = photo
    print("cell \(number): \(photo?.resources[0].filename ?? "empty")")
    guard let photo else { return }
    request = Task { await load(photo, images) }
  }

  private func load(_ photo: Asset, _ images: ImageManager) async {
    let name = photo.resources[0].filename
    do {
      let pictures = images.requestImage(for: photo.id, targetSize: Self.size, contentMode: .aspectFill)
      for try await picture in pictures {
        print("cell \(number): \(picture.isFinal ? "picture" : "preview") of \(name)")
      }
    } catch is CancellationError {
      // The cell shows another photo now.
    } catch {
      print("cell \(number): no picture of \(name). \(error)")
    }
  }

  /// Returns when the cell has its picture.
  func finish() async { await request?.value }
}
