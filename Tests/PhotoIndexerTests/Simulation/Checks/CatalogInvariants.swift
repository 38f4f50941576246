@testable import PhotoCatalog

/// The conditions that hold in every catalog after every transaction, whatever happened to the disk.
enum CatalogInvariants {
  /// Each query finds a contradiction.
  private static let contradictions = [
    (
      "an asset without its first file",
      """
      SELECT a.id FROM asset a LEFT JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
      WHERE r.asset_id IS NOT a.id OR r.position IS NOT 0
      """
    ),
    (
      "a file of no asset",
      "SELECT r.asset_id FROM resource r LEFT JOIN asset a ON a.id = r.asset_id WHERE a.id IS NULL"
    ),
    (
      "an asset that differs from its first file",
      """
      SELECT a.id FROM asset a JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
      WHERE r.read_time <> 0 AND a.byte_count <> r.byte_count
      """
    ),
    (
      "a folder in no folder and no root",
      """
      SELECT d.id FROM directory d LEFT JOIN directory p ON p.id = d.parent_id LEFT JOIN root r ON r.id = d.root_id
      WHERE (p.id IS NULL) = (r.id IS NULL)
      """
    ),
    (
      "a folder that is below itself",
      """
      WITH RECURSIVE below(id) AS (SELECT id FROM directory WHERE root_id IS NOT NULL
        UNION SELECT d.id FROM below b JOIN directory d ON d.parent_id = b.id)
      SELECT id FROM directory WHERE id NOT IN below
      """
    ),
    (
      "a folder without an album, or an album without a folder",
      """
      SELECT d.id FROM directory d LEFT JOIN collection c ON c.directory_id = d.id WHERE c.id IS NULL
      UNION ALL SELECT c.id FROM collection c LEFT JOIN directory d ON d.id = c.directory_id
        WHERE c.kind = 2 AND d.id IS NULL
      """
    ),
    ("an asset that is a tombstone too", "SELECT t.asset_id FROM tombstone t JOIN asset a ON a.id = t.asset_id"),
    (
      "a keyword of no asset",
      "SELECT k.asset_id FROM asset_keyword k LEFT JOIN asset a ON a.id = k.asset_id WHERE a.id IS NULL"
    ),
    (
      "a wrong flag of a duplicate",
      """
      SELECT a.id FROM asset a WHERE a.is_duplicate <> EXISTS (
        SELECT 1 FROM resource f JOIN resource o ON o.fingerprint = f.fingerprint AND o.byte_count = f.byte_count
          AND o.hash = f.hash AND (f.hash <> x'' OR o.sample = f.sample) AND o.asset_id <> f.asset_id
        WHERE f.directory_id = a.directory_id AND f.name = a.name AND f.proof_state IN (2, -2)
          AND o.proof_state IN (2, -2) AND EXISTS (SELECT 1 FROM asset WHERE directory_id = o.directory_id AND name = o.name))
      """
    ),
    (
      "an id beyond those that were given away",
      """
      SELECT max(id) FROM asset HAVING max(id) > (SELECT seq FROM sqlite_sequence WHERE name = 'asset')
      """
    ),
  ]

  /// - Throws: ``SimulationFailure`` with the first contradiction.
  static func check(_ catalog: Catalog) throws {
    try catalog.read { reader in
      for (what, sql) in contradictions {
        let statement = try RawStatement(reader.database, sql)
        if let id = try statement.firstRow({ statement.int64(0) }) {
          throw SimulationFailure("the catalog has \(what): \(id)")
        }
      }
    }
    guard try catalog.pool.write({ try TextIndex.isWhole($0) }) else {
      throw SimulationFailure("the index of words is not what the assets say")
    }
  }
}
