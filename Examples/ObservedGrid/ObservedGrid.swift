import Foundation
import PhotoClient

/// A grid of photos that follows the library: `swift run ObservedGridExample [ALBUM]`.
///
/// SwiftPM builds the examples if the environment has `PHOTOD_EXAMPLES=1`.
///
/// It applies the removals, insertions and moves of a change as one batch, and then shows the changed photos again. If a
/// change has no details, it reloads the grid.
@main struct ObservedGrid {
  static func main() async {
    do {
      let options = FetchOptions(collection: CommandLine.arguments.dropFirst().first)
      try await follow(PhotoLibrary(clientName: "observed-grid"), options)
    } catch {
      print(error)
      exit(1)
    }
  }

  private static func follow(_ library: PhotoLibrary, _ options: FetchOptions) async throws {
    var photos = try await library.fetchAssets(with: options)
    var grid = TextGrid()
    grid.reload(try await cells(of: photos))
    for await change in library.changes(for: [photos]) {
      guard let details = change.details(for: photos) else { continue }
      photos = details.after
      if details.hasIncrementalChanges {
        var batch = TextGrid.Batch()
        batch.deletions = details.removedIndexes
        for (index, photo) in zip(details.insertedIndexes.positions, try await details.insertedObjects()) {
          batch.insertions[index] = cell(for: photo)
        }
        details.enumerateMoves { from, to in batch.moves[to] = from }
        // Cells are shown again after the batch, and never inside it, because their indexes are those of the list after.
        var updates: [Int: String] = [:]
        for (index, photo) in zip(details.changedIndexes.positions, try await details.changedObjects()) {
          updates[index] = cell(for: photo)
        }
        grid.performBatchUpdates(batch)
        grid.reconfigure(updates)
      } else {
        grid.reload(try await cells(of: photos))
      }
    }
  }

  private static func cells(of photos: FetchResult) async throws -> [String] {
    try await photos.objects(at: photos.indices).map(cell)
  }

  /// The text of a photo. A photo that was deleted meanwhile has an empty cell, until its removal arrives.
  private static func cell(for photo: Asset?) -> String {
    guard let photo else { return "" }
    return photo.resources[0].filename + (photo.isFavorite ? "♥" : "")
  }
}

extension RangeSet<Int> {
  fileprivate var positions: [Int] { ranges.flatMap { $0 } }
}
