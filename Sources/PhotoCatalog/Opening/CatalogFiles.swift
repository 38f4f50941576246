import Glibc
import PhotoModel

/// The names of a catalog's files.
package struct CatalogFiles: Hashable, Sendable {
  package let catalog: String
  /// The path of the catalog without `.sqlite`.
  private let stem: String

  package init(catalog: String) {
    self.catalog = catalog
    stem = catalog.hasSuffix(".sqlite") ? String(catalog.dropLast(7)) : catalog
  }

  package var journal: String { stem + ".userdata" }
  /// The catalog that the user chose to restore. The next start renames it to the catalog's name.
  var restored: String { stem + ".restored" }
  package var backups: String { PrivateFile.folder(of: catalog) + "/backups" }
  /// The prefix of the names of its backups, before the date. It keeps catalogs apart whose folder of backups is the
  /// same.
  var backupPrefix: String {
    let name = stem.split(separator: "/").last.map(String.init) ?? ""
    return name == "catalog" ? "photod-" : name + "-"
  }
  var log: String { catalog + "-wal" }
  var index: String { catalog + "-shm" }

  func makeBackupsFolder() throws {
    guard mkdir(backups, 0o700) == 0 || errno == EEXIST else { throw PrivateFile.failure(backups, "made", errno) }
  }

  /// The backups of this catalog, in no order. Empty if the folder does not exist. A pipe with such a name would block
  /// its reader, so only regular files count.
  func backupPaths() throws -> [String] {
    try PrivateFile.names(in: backups).filter(isBackup).map { "\(backups)/\($0)" }.filter(PrivateFile.isRegular)
  }

  /// Whether a name in the folder of backups belongs to this catalog. Such a name has its prefix, a date, and possibly
  /// more.
  func isBackup(_ name: String) -> Bool {
    name.hasPrefix(backupPrefix) && name.hasSuffix(".sqlite")
      && name.utf8.dropFirst(backupPrefix.utf8.count).first.map { (0x30...0x39).contains($0) } ?? false
  }

  /// The path of the backup with this date. The date may have a suffix.
  func backup(_ date: String) -> String { "\(backups)/\(backupPrefix)\(date).sqlite" }

  /// The date in a path or name such as `photod-2026-11-21.sqlite`, in days since 1970. nil for other names.
  func dayOfBackup(_ path: String) -> Int? {
    let name = String(path.split(separator: "/").last ?? "")
    guard isBackup(name), name.utf8.count == backupPrefix.utf8.count + 17 else { return nil }
    let parts = name.dropFirst(backupPrefix.count).dropLast(7).split(separator: "-").compactMap { Int32($0) }
    guard parts.count == 3 else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
    return Int(timegm(&date)) / 86_400
  }

  /// The backup that was written last, for a message. nil also if the folder can't be read.
  var newestBackup: String? {
    let paths = Result { try backupPaths().map { (path: $0, date: try PrivateFile.date(of: $0)) } }
    guard case .success(let paths) = paths else { return nil }
    return paths.max { $0.date < $1.date }?.path
  }

  /// Renames the catalog together with its log. If that fails, both get their names back.
  ///
  /// - Parameter rename: Renames a file. The new name must be on disk when it returns.
  /// - Returns: The new path, or nil if there was no catalog.
  func moveCatalogAside(
    because word: String, date: WallTime,
    rename: (String, String) throws -> Void = { try PrivateFile.rename($0, to: $1) }
  ) throws -> String? {
    guard try PrivateFile.certainByteCount(catalog) != nil else { return nil }
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).\(word).sqlite" }
    // SQLite rebuilds this file from the log.
    try PrivateFile.remove(index)
    let hasLog = try PrivateFile.certainByteCount(log) != nil
    do {
      // The log is renamed first. If the process ends in between, the catalog is intact but older. In the other order,
      // the next catalog would adopt the log.
      if hasLog { try rename(log, aside + "-wal") }
      try rename(catalog, aside)
    } catch {
      // The log gets its name back, also if its rename threw only because the new name could not be synced.
      if PrivateFile.exists(catalog), PrivateFile.exists(aside + "-wal") { try rename(aside + "-wal", log) }
      throw error
    }
    return aside
  }

  /// Renames a log whose catalog is gone. An empty log is removed.
  ///
  /// - Returns: The new path, or nil if there was no log with content.
  func moveLogAside(date: WallTime) throws -> String? {
    guard let byteCount = try PrivateFile.certainByteCount(log) else { return nil }
    guard byteCount > 0 else {
      try PrivateFile.remove(log)
      return nil
    }
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).left.sqlite-wal" }
    try PrivateFile.rename(log, to: aside)
    return aside
  }

  /// A damaged catalog that was moved aside by an opening that then failed. A successful opening writes the journal
  /// afterwards, so such a catalog is newer than the journal. It is only for a message, and nil if it can't be
  /// determined.
  var catalogOfUnfinishedOpening: String? {
    let folder = PrivateFile.folder(of: catalog)
    let found = Result {
      let written = PrivateFile.exists(journal) ? try PrivateFile.date(of: journal) : .earliest
      let begin = PrivateFile.name(of: stem) + "-"
      let names = try PrivateFile.names(in: folder).filter { $0.hasPrefix(begin) && $0.hasSuffix(".damaged.sqlite") }
      return try names.map { (path: "\(folder)/\($0)", date: try PrivateFile.statusDate(of: "\(folder)/\($0)")) }
        .filter { $0.date >= written }
    }
    guard case .success(let found) = found else { return nil }
    return found.max { $0.date < $1.date }?.path
  }

  /// Removes the catalog and the files that SQLite keeps beside it.
  func removeCatalog() throws {
    for path in [log, index, catalog] { try PrivateFile.remove(path) }
  }

  /// Gives the journal a second name, because it is about to be replaced.
  ///
  /// - Returns: The second name.
  func keepJournal(because word: String, date: WallTime) throws -> String {
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).\(word).userdata" }
    // If the file system has no hard links, the journal is copied.
    if link(journal, aside) != 0 {
      let copy = try TemporaryFile(beside: aside)
      defer { close(copy.descriptor) }
      do {
        _ = try PrivateFile.copy(journal, to: copy.descriptor, copy.path)
        guard fsync(copy.descriptor) == 0 else { throw PrivateFile.failure(copy.path, "written", errno) }
        try PrivateFile.rename(copy.path, to: aside)
      } catch {
        unlink(copy.path)
        throw error
      }
    }
    return aside
  }

  /// A free name for a file that another program put in the catalog's place while the catalog is open. SQLite's files
  /// beside it belong to the open catalog.
  ///
  /// - Returns: The name, or nil if there is no such file.
  func nameForOtherFile(date: WallTime) throws -> String? {
    guard try PrivateFile.certainByteCount(catalog) != nil else { return nil }
    return Self.free { "\(stem)-\(Self.text(date))\($0).other.sqlite" }
  }

  /// The first name that no file has. The closure receives the suffix to append.
  static func free(_ name: (String) -> String) -> String {
    let first = name("")
    guard PrivateFile.exists(first) else { return first }
    var number = 2
    while PrivateFile.exists(name("-\(number)")) { number += 1 }
    return name("-\(number)")
  }

  /// The date in UTC for a file name, as `2026-11-21T10-15-00`.
  static func text(_ date: WallTime) -> String {
    var seconds = time_t(date.microseconds / 1_000_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
      + "\(two(parts.tm_hour))-\(two(parts.tm_min))-\(two(parts.tm_sec))"
  }
}
