import PhotoCatalog
import PhotoModel

/// The undo log at one moment.
package struct UndoableChanges: Sendable {
  let entries: [UndoLog.Entry]

  /// At most this many collections of a change are named.
  static let mostTitles = 20

  /// The changes for a client, newest first.
  ///
  /// - Complexity: one look-up for each collection that was not edited itself, at most 20 for each change.
  package func described(by reader: CatalogReader) throws -> [UndoableChange] {
    try entries.reversed().map { entry in
      UndoableChange(
        id: Int(entry.id), date: PhotoDate(entry.date), origin: entry.origin, assetCount: entry.assetCount,
        collections: try reader.titles(of: entry.recording, limit: Self.mostTitles), problem: entry.problem,
        actions: entry.actions, filename: try filename(of: entry, reader))
    }
  }

  /// The name of the only asset's file. nil if the asset has left the library.
  private func filename(of entry: UndoLog.Entry, _ reader: CatalogReader) throws -> String? {
    guard let id = entry.recording.onlyAsset else { return nil }
    return try reader.assets([id]).assets.first?.resources.first?.filename
  }
}
