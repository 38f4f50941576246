import GRDB
import PhotoContract
import PhotoModel

// Checks whether the catalog satisfies its invariants.

extension Catalog {
  /// One invariant, with a query for the number of violations and the first of them.
  private struct Rule {
    let severity: CatalogCheck.Finding.Severity
    /// The text after a count of 1, such as `photo has no file`; `many` is its plural.
    let one: String
    let many: String
    let table: String
    /// Returns the number of violations and the smallest id.
    let sql: String

    init(
      _ one: String, _ many: String, in table: String, _ sql: String, severity: CatalogCheck.Finding.Severity = .error
    ) {
      (self.severity, self.one, self.many, self.table, self.sql) = (severity, one, many, table, sql)
    }
  }

  private static let rules = [
    Rule(
      "photo has no first file in its folder", "photos have no first file in their folders", in: "asset",
      """
      SELECT count(*), min(a.id) FROM asset a LEFT JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
        AND r.asset_id = a.id AND r.position = 0 WHERE r.asset_id IS NULL
      """),
    Rule(
      "file belongs to no photo", "files belong to no photo", in: "resource",
      "SELECT count(*), min(r.asset_id) FROM resource r LEFT JOIN asset a ON a.id = r.asset_id WHERE a.id IS NULL"),
    Rule(
      "file is in no folder", "files are in no folder", in: "resource",
      """
      SELECT count(*), min(r.directory_id) FROM resource r LEFT JOIN directory d ON d.id = r.directory_id
      WHERE d.id IS NULL
      """),
    Rule(
      "folder is below no root", "folders are below no root", in: "directory",
      """
      WITH RECURSIVE below(id) AS (SELECT d.id FROM directory d JOIN root ON root.id = d.root_id WHERE d.parent_id IS NULL
        UNION SELECT d.id FROM below JOIN directory d ON d.parent_id = below.id)
      SELECT count(*), min(id) FROM directory WHERE id NOT IN (SELECT id FROM below)
      """),
    Rule(
      "folder has both a root and a parent, or neither", "folders have both a root and a parent, or neither",
      in: "directory",
      "SELECT count(*), min(id) FROM directory WHERE (parent_id IS NULL) = (root_id IS NULL)"),
    Rule(
      "folder is on no volume", "folders are on no volume", in: "directory",
      """
      SELECT count(*), min(d.id) FROM directory d LEFT JOIN volume v ON v.id = d.volume_id WHERE v.id IS NULL
      """),
    Rule(
      "folder has no album of its own", "folders have no album of their own", in: "directory",
      """
      SELECT count(*), min(d.id) FROM directory d LEFT JOIN collection c ON c.directory_id = d.id WHERE c.id IS NULL
      """),
    Rule(
      "album belongs to a folder that does not exist", "albums belong to folders that do not exist", in: "collection",
      """
      SELECT count(*), min(c.id) FROM collection c LEFT JOIN directory d ON d.id = c.directory_id
      WHERE c.directory_id IS NOT NULL AND d.id IS NULL
      """),
    Rule(
      "photo in an album does not exist", "photos in albums do not exist", in: "album_asset",
      """
      SELECT count(*), min(m.asset_id) FROM album_asset m LEFT JOIN asset a ON a.id = m.asset_id
        LEFT JOIN collection c ON c.id = m.collection_id WHERE a.id IS NULL OR c.id IS NULL
      """),
    Rule(
      "album is in a folder of albums that does not exist", "albums are in folders of albums that do not exist",
      in: "collection",
      """
      SELECT count(*), min(c.id) FROM collection c LEFT JOIN collection p ON p.id = c.parent_id AND p.kind = 3
      WHERE c.parent_id IS NOT NULL AND p.id IS NULL
      """),
    Rule(
      "edit belongs to a photo that does not exist", "edits belong to photos that do not exist", in: "asset_edit",
      """
      SELECT count(*), min(e.asset_id) FROM asset_edit e LEFT JOIN asset a ON a.id = e.asset_id
        LEFT JOIN tombstone t ON t.asset_id = e.asset_id
      WHERE iif(e.file IS NULL, t.asset_id, a.id) IS NULL
      """),
    Rule(
      "keyword belongs to a photo that does not exist", "keywords belong to photos that do not exist",
      in: "asset_keyword",
      """
      SELECT count(*), min(k.asset_id) FROM asset_keyword k LEFT JOIN asset a ON a.id = k.asset_id
        LEFT JOIN keyword w ON w.id = k.keyword_id WHERE a.id IS NULL OR w.id IS NULL
      """),
    Rule(
      "keyword has no photo", "keywords have no photo", in: "keyword",
      "SELECT count(*), min(id) FROM keyword WHERE id NOT IN (SELECT keyword_id FROM asset_keyword)", severity: .warning
    ),
    Rule(
      "photo exists and is recorded as deleted", "photos exist and are recorded as deleted", in: "tombstone",
      "SELECT count(*), min(t.asset_id) FROM tombstone t JOIN asset a ON a.id = t.asset_id"),
    Rule(
      "photo has an id that has not been assigned yet", "photos have ids that have not been assigned yet", in: "asset",
      """
      SELECT count(*), min(id) FROM (SELECT id FROM asset UNION ALL SELECT asset_id FROM tombstone)
      WHERE id > ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'asset'), 0)
      """),
  ]

  private static let tables = [
    "assets": "asset", "files": "resource", "folders": "directory", "collections": "collection", "keywords": "keyword",
    "commits": "history", "deleted photos": "tombstone",
  ]

  static let remedy =
    "Restore a backup. Or stop photod and move the catalog away: photod then rebuilds it, with your favorites, albums and edits."

  static let remedyOfDamage =
    "photod rebuilds it now, with your favorites, albums and edits. `photoctl status` has the result."

  /// See ``LibraryBackups/check(deep:)``. It blocks the calling thread. The library can write meanwhile, except during
  /// the comparison with the journal.
  package func check(deep: Bool) throws -> CheckReport {
    var report: CheckReport
    do {
      report = try checkDatabase(deep: deep)
      try checkText(deep: deep, &report)
    } catch  where Self.isDamage(error) {
      let fault = CheckReport.Finding(
        .error, "SQLite can't read all of the catalog: \(CatalogOpening.short(error))", place: files.catalog,
        remedy: Self.remedyOfDamage)
      return CheckReport(findings: [fault], counts: [:])
    }
    try checkJournal(&report)
    report.findings.sort { $0.severity == .error && $1.severity != .error }
    return report
  }

  private func checkDatabase(deep: Bool) throws -> CheckReport {
    try read { reader in
      var report = CheckReport(findings: [], counts: [:])
      let database = reader.database
      let lines = try String.fetchAll(database, sql: deep ? "PRAGMA integrity_check" : "PRAGMA quick_check")
      // A check that was interrupted proves nothing.
      try WorkBudget.check()
      if lines != ["ok"] {
        report.findings.append(
          .init(
            .error, "SQLite finds \(counted(lines.count, "fault", "faults")): \(Self.oneLine(lines[0]))",
            place: files.catalog, remedy: Self.remedyOfDamage))
        damaged.yield(Self.oneLine(lines[0]))
      }
      for rule in Self.rules {
        guard let row = try Row.fetchOne(database, sql: rule.sql), let count = row[0] as Int?, count > 0 else {
          continue
        }
        report.findings.append(
          .init(
            rule.severity, counted(count, rule.one, rule.many), place: "\(rule.table) \(row[1] as Int64? ?? 0)",
            remedy: rule.severity == .error ? Self.remedy : "This does no harm. The next change removes it."))
      }
      for (name, table) in Self.tables {
        report.counts[name] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
      }
      try checkHistory(reader, &report)
      return report
    }
  }

  /// Puts a report of SQLite on one line.
  static func oneLine(_ text: String) -> String { text.split(separator: "\n").joined(separator: ": ") }

  /// Rebuilds the index of words if it does not match the assets. The index can be rebuilt, because all of its words
  /// come from the assets.
  ///
  /// A `deep` check also compares the words. SQLite does that in a write transaction, so it compares those of a copy.
  private func checkText(deep: Bool, _ report: inout CheckReport) throws {
    var isWhole = try read { try TextIndex.hasItsAssets($0.database) }
    if isWhole && deep {
      isWhole = try withCopy { copy in try ReadInterruption.watching(copy) { try TextIndex.isWhole(copy) } }
    }
    guard !isWhole else { return }
    try noticing { try pool.write { try TextIndex.reset($0) } }
    // It is rebuilt in pieces, so that no caller waits long for the writer. Until it is complete, searches also read
    // the assets that it does not have.
    while try noticing({ try indexText(limit: 2_000) }) {}
    report.findings.append(
      .init(
        .error, "the index of words does not match the photos", place: files.catalog,
        remedy: "photod has rebuilt it. Nothing was lost."))
  }

  private func checkHistory(_ reader: CatalogReader, _ report: inout CheckReport) throws {
    let rows = try RawStatement(
      reader.database,
      "SELECT sequence, inserted_assets, updated_assets, deleted_assets, inserted_collections, updated_collections, "
        + "deleted_collections FROM history")
    var (count, first) = (0, Int64.max)
    try rows.forEachRow {
      do {
        for column: Int32 in [1, 3, 4, 5, 6] { _ = try PackedIDs.unpack(rows.bytes(column)) as [AssetID] }
        _ = try PackedIDs.unpackFields(rows.bytes(2))
      } catch is PhotoError {
        count += 1
        first = min(first, rows.int64(0))
      }
    }
    guard count > 0 else { return }
    report.findings.append(
      .init(
        .error, "\(counted(count, "commit", "commits")) can't be read", place: "history \(first)",
        remedy: Self.remedy))
  }

  private func checkJournal(_ report: inout CheckReport) throws {
    guard let journal else { return }
    let remedy = "The next change of a favorite writes it again, and so does a restart of photod."
    let findings = try noticing {
      try pool.write { database in
        let writer = CatalogWriter(connection: database, journal: journal)
        let typed = try writer.userData(
          others: journal.others(of:), alsoOf: journal.idsWithOthers, keeping: journal.otherMembers)
        report.counts["user data"] = typed.count
        func finding(_ what: String, _ place: String = files.journal) -> CheckReport.Finding {
          journal.mustRewrite = true
          return .init(.error, what, place: place, remedy: remedy)
        }
        guard let contents = try UserDataJournal.read(files.journal, after: 0), !journal.hasLostItsName else {
          return [finding("the journal of user data is gone, or another file is in its place")]
        }
        var findings: [CheckReport.Finding] = []
        if contents.isDamaged {
          let count = max(contents.damagedLineCount, 1)
          findings.append(
            finding(
              "\(counted(count, "line", "lines")) of the journal of user data \(count == 1 ? "is" : "are") damaged"
            ))
        }
        if contents.library != uuid || contents.epoch != epoch || contents.number != journal.number {
          findings.append(finding("the journal of user data belongs to another library, or to an older state"))
        }
        let last = try writer.lastIDs()
        if last.assets > contents.reservedAssets || last.collections > contents.reservedCollections {
          findings.append(finding("the journal of user data does not have the newest ids"))
        }
        let differing = typed.filter { entry in
          guard let held = contents.entries[entry.id] else { return true }
          return held.data != entry.data || held.isInAlbum != entry.isInAlbum
        }.map(\.id)
        // The lines of assets that are gone for good stay until the next compaction.
        let extra = try Set(contents.entries.keys).subtracting(typed.map(\.id)).filter {
          try writer.missingAssets([$0]).isEmpty
        }
        let ids = (differing + extra).sorted()
        if let first = ids.first {
          findings.append(
            finding(
              "catalog and journal differ in the user data of \(counted(ids.count, "photo", "photos"))",
              "asset \(first)"))
        }
        if let album = try Self.albumThatDiffers(contents, writer) {
          findings.append(finding("catalog and journal differ in an album", "album \(album)"))
        }
        return findings
      }
    }
    report.findings += findings
  }

  /// The first of the user's collections that the catalog and its journal do not have in common.
  private static func albumThatDiffers(_ contents: UserDataContents, _ writer: CatalogWriter) throws -> CollectionID? {
    let collections = try writer.userCollections()
    let held = Dictionary(uniqueKeysWithValues: collections.map { ($0.id, $0) })
    for id in Set(held.keys).union(contents.collections.keys).sorted() {
      var known = contents.collections[id]
      // The catalog has no fields of later versions.
      known?.others = []
      guard known == held[id] else { return id }
    }
    for (id, members) in try writer.albums() {
      // Deleted photos that can't return any more stay in the journal until the next compaction.
      let present = Set(members)
      guard (contents.albums[id]?.ids ?? []).filter(present.contains) == members else { return id }
    }
    return nil
  }

  // MARK: - Notices

  /// The notices for the user about events of the catalog. A notice about a file counts as known once the file is gone.
  package func notices() throws -> [String] {
    let rows = try read { reader in
      try Row.fetchAll(reader.database, sql: "SELECT id, message, file FROM notice ORDER BY id").map {
        (id: $0[0] as Int64, message: $0[1] as String, file: $0[2] as String?)
      }
    }
    return rows.filter { $0.file.map(PrivateFile.exists) ?? true }.map(\.message)
  }

  /// The remedy with which the notices about a new catalog end.
  static let remedyOfNotices = "Run `photoctl check`; the warning then goes away."

  /// The notices for a user who is checking the catalog, and so follows their remedy.
  package func noticesOfCheck() throws -> [String] {
    try notices().map { $0.hasSuffix(Self.remedyOfNotices) ? String($0.dropLast(Self.remedyOfNotices.count + 1)) : $0 }
  }

  /// Records that the user knows the notices.
  package func acknowledgeNotices() throws {
    guard try !notices().isEmpty else { return }
    try write { try $0.database.execute(sql: "DELETE FROM notice") }
  }
}
