import GRDB
import PhotoModel

/// What can be written in one transaction. Only inside the closure that it was given to.
///
/// New assets are gathered and written several at a time (see ``AssetInsertions``), at the latest before anything else is
/// asked of ``database`` or the transaction ends: nobody sees that they are late, but an error may come later.
package final class CatalogWriter {
  private let connection: Database
  private var insertions = AssetInsertions()
  /// Where what a person typed is kept beside; nil while the catalog itself is brought up to it.
  let journal: UserDataJournal?
  /// What of it this transaction changes.
  var journalRecords: [UserDataRecord] = []

  /// About what this transaction adds to history, without its rows' own overhead.
  var historyBytes = 0

  init(connection: Database, journal: UserDataJournal? = nil) {
    self.connection = connection
    self.journal = journal
  }

  /// The connection, with every asset that was inserted until now. Ask for it each time: what was prepared before an
  /// insertion must not run after it.
  package var database: Database {
    get throws {
      try insertions.flush(into: connection)
      return connection
    }
  }

  /// Adds an asset of one file.
  ///
  /// - Parameters:
  ///   - row: the file; its `assetID` is ignored. Its directory has no file of that name.
  ///   - addedDate: microseconds since 1970.
  /// - Returns: the new asset's id, larger than any that there was before.
  package func insertAsset(_ content: AssetContent, file row: FileRow, addedDate: Int64) throws -> Int64 {
    try insertions.add(content, row, addedDate: addedDate, to: connection)
  }

  /// Adds an asset under the id that it had before (see ``restore(_:content:file:)``).
  func insertFormerAsset(_ id: Int64, _ content: AssetContent, file row: FileRow, addedDate: Int64) throws {
    try keepingWords(of: id) {
      _ = try insertions.add(content, row, addedDate: addedDate, formerID: id, to: connection)
    }
  }

  /// No new asset gets this id, nor a smaller one.
  func reserveIDs(through id: Int64) throws {
    try insertions.reserve(through: id, in: connection)
  }

  /// As any lookup, but of what was gathered it knows without writing it: each file of a burst is looked up before it is
  /// inserted.
  package func file(_ directoryID: Int64, _ name: [UInt8]) throws -> FileRow? {
    try insertions.file(directoryID, name) ?? file(directoryID, name, in: connection)
  }

  /// Writes what was gathered: the last thing in a transaction.
  func finish() throws {
    try insertions.flush(into: connection)
  }
}
