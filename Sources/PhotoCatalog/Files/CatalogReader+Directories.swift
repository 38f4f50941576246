import GRDB
import PhotoModel

extension CatalogReader {
  package func roots() throws -> [RootRow] {
    var rows: [RootRow] = []
    let select = try RawStatement(database, "SELECT id, path, is_available FROM root ORDER BY id")
    try select.forEachRow {
      rows.append(RootRow(id: select.rootID(0), path: select.bytes(1), isAvailable: select.bool(2)))
    }
    return rows
  }

  /// The identity of each volume, by its id.
  package func volumes() throws -> [VolumeID: String] {
    var identities: [VolumeID: String] = [:]
    let select = try RawStatement(database, "SELECT id, identity FROM volume")
    try select.forEachRow { identities[select.volumeID(0)] = select.text(1) }
    return identities
  }

  /// The identity of the volume that holds a directory.
  package func volumeIdentity(ofDirectory id: DirectoryID) throws -> String? {
    let select = try RawStatement(
      database, "SELECT volume.identity FROM directory JOIN volume ON volume.id = volume_id WHERE directory.id = ?")
    select.bind(1, id)
    return try select.firstRow { select.text(0) }
  }

  /// When each unavailable root went offline. Dates before the oldest commit in the history are missing.
  package func offlineDates() throws -> [RootID: WallTime] {
    var dates: [RootID: WallTime] = [:]
    let select = try RawStatement(
      database,
      """
      SELECT root.id, max(history.date) FROM root JOIN history_root ON history_root.root_id = root.id
      JOIN history ON history.sequence = history_root.sequence
      WHERE root.is_available = 0 AND history_root.is_available = 0 AND history_root.directory_id IS NULL
      GROUP BY root.id
      """)
    try select.forEachRow { dates[select.rootID(0)] = select.date(1) }
    return dates
  }

  /// Every directory, ordered by id. A parent comes before children that were made later. The library builds its tree
  /// in memory from this.
  package func directories() throws -> [DirectoryRow] {
    var rows: [DirectoryRow] = []
    let select = try RawStatement(
      database,
      "SELECT id, parent_id, root_id, name, volume_id, inode, birth_time, is_available, parked_id FROM directory ORDER BY id"
    )
    try select.forEachRow {
      var row = DirectoryRow(
        id: select.directoryID(0), parentID: select.optionalDirectoryID(1), rootID: select.optionalRootID(2),
        name: select.bytes(3), volumeID: select.volumeID(4), inode: UInt64(bitPattern: select.int64(5)),
        birthTime: select.time(6), isAvailable: select.bool(7))
      row.isParked = select.bool(8)
      rows.append(row)
    }
    return rows
  }
}
