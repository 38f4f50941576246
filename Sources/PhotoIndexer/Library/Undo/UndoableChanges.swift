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
        collections: try reader.titles(of: entry.recording, limit: Self.mostTitles), problem: entry.problem)
    }
  }
}
