import GRDB
import PhotoModel

extension CatalogWriter {
  /// Marks the files as unread that have a failure and were read by an older reader, so that the next scan reads them
  /// again. Files without a failure stay as they are.
  ///
  /// - Returns: how many files were marked.
  /// - Complexity: O(n) in the number of assets with a failure.
  @discardableResult
  package func forgetFailures(ofReadersBefore version: Int64) throws -> Int {
    let select = try RawStatement(
      database,
      """
      SELECT r.directory_id, r.name FROM asset a
      CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
      WHERE a.failure IS NOT NULL AND r.reader_version < ? AND r.read_time <> 0
      """)
    select.bind(1, version)
    var places: [(directoryID: DirectoryID, name: [UInt8])] = []
    try select.forEachRow { places.append((select.directoryID(0), select.bytes(1))) }
    for place in places {
      let update = try RawStatement(database, "UPDATE resource SET read_time = 0 WHERE directory_id = ? AND name = ?")
      update.bind(1, place.directoryID)
      update.bind(2, text: place.name)
      try update.run()
    }
    return places.count
  }
}
