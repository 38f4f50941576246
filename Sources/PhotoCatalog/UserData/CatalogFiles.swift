import Glibc

/// The names of a catalog's files.
package struct CatalogFiles: Hashable, Sendable {
  package let catalog: String
  /// `/x/catalog.sqlite` without its suffix.
  private let stem: String

  package init(catalog: String) {
    self.catalog = catalog
    stem = catalog.hasSuffix(".sqlite") ? String(catalog.dropLast(7)) : catalog
  }

  package var journal: String { stem + ".userdata" }
  /// What a person decided to go on with: the next start gives it the catalog's name.
  var restored: String { stem + ".restored" }
  package var backups: String { PrivateFile.folder(of: catalog) + "/backups" }
  /// What the names of its backups begin with, before their date: catalogs in one folder share the folder of backups.
  var backupPrefix: String {
    let name = stem.split(separator: "/").last.map(String.init) ?? ""
    return name == "catalog" ? "photod-" : name + "-"
  }
  var log: String { catalog + "-wal" }
  var index: String { catalog + "-shm" }

  /// In the folder of backups, in no order; none where there is no folder.
  func backupPaths() throws -> [String] {
    try PrivateFile.names(in: backups).filter(isBackup)
      .map { "\(backups)/\($0)" }
  }

  /// Whether a name in the folder of backups is of this catalog's: its prefix, a date, and maybe more.
  func isBackup(_ name: String) -> Bool {
    name.hasPrefix(backupPrefix) && name.hasSuffix(".sqlite")
      && name.utf8.dropFirst(backupPrefix.utf8.count).first.map { (0x30...0x39).contains($0) } ?? false
  }

  /// The path of the backup with this date, or this date and more.
  func backup(_ date: String) -> String { "\(backups)/\(backupPrefix)\(date).sqlite" }

  /// The days since 1970 in a path or a name as `photod-2026-11-21.sqlite`; nil for any other.
  func dayOfBackup(_ path: String) -> Int? {
    let name = String(path.split(separator: "/").last ?? "")
    guard isBackup(name), name.utf8.count == backupPrefix.utf8.count + 17 else { return nil }
    let parts = name.dropFirst(backupPrefix.count).dropLast(7).split(separator: "-").compactMap { Int32($0) }
    guard parts.count == 3 else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
    return Int(timegm(&date)) / 86_400
  }

  /// The one that was written last, for a message: nil also where that can't be told.
  var newestBackup: String? {
    let paths = Result { try backupPaths().map { (path: $0, date: try PrivateFile.date(of: $0)) } }
    guard case .success(let paths) = paths else { return nil }
    return paths.max { $0.date < $1.date }?.path
  }

  /// Renames the catalog, with its log. Where that fails, both have their names again.
  ///
  /// - Parameter rename: on disk when it returns.
  /// - Returns: its new path; nil where there was none.
  func moveCatalogAside(
    because word: String, date: Int64, rename: (String, String) throws -> Void = { try PrivateFile.rename($0, to: $1) }
  ) throws -> String? {
    guard try PrivateFile.certainByteCount(catalog) != nil else { return nil }
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).\(word).sqlite" }
    // SQLite makes it anew from the log.
    try PrivateFile.remove(index)
    let hasLog = try PrivateFile.certainByteCount(log) != nil
    do {
      // The log first: without it, a catalog is whole but older; the other way round, it would be taken for the next one's.
      if hasLog { try rename(log, aside + "-wal") }
      try rename(catalog, aside)
    } catch {
      // Also one that was renamed, of which the disk may lose the new name.
      if PrivateFile.exists(catalog), PrivateFile.exists(aside + "-wal") { try rename(aside + "-wal", log) }
      throw error
    }
    return aside
  }

  /// Renames a log that was left without its catalog. One that holds nothing is removed.
  ///
  /// - Returns: its new path; nil where there was none.
  func moveLogAside(date: Int64) throws -> String? {
    guard let byteCount = try PrivateFile.certainByteCount(log) else { return nil }
    guard byteCount > 0 else {
      try PrivateFile.remove(log)
      return nil
    }
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).left.sqlite-wal" }
    try PrivateFile.rename(log, to: aside)
    return aside
  }

  /// A damaged catalog that an opening has moved aside which then failed: each that succeeds writes the journal after it.
  /// Nil also where that can't be told; it is for a message.
  var catalogOfUnfinishedOpening: String? {
    let folder = PrivateFile.folder(of: catalog)
    let found = Result {
      let written = PrivateFile.exists(journal) ? try PrivateFile.date(of: journal) : .min
      let begin = stem.dropFirst(folder == "/" ? 1 : folder.utf8.count + 1) + "-"
      let names = try PrivateFile.names(in: folder).filter { $0.hasPrefix(begin) && $0.hasSuffix(".damaged.sqlite") }
      return try names.map { (path: "\(folder)/\($0)", date: try PrivateFile.statusDate(of: "\(folder)/\($0)")) }
        .filter { $0.date >= written }
    }
    guard case .success(let found) = found else { return nil }
    return found.max { $0.date < $1.date }?.path
  }

  /// Removes the catalog, with what SQLite keeps beside it.
  func removeCatalog() throws {
    for path in [log, index, catalog] { try PrivateFile.remove(path) }
  }

  /// A second name for the journal, which is about to be replaced.
  ///
  /// - Returns: that name.
  func keepJournal(because word: String, date: Int64) throws -> String {
    let aside = Self.free { "\(stem)-\(Self.text(date))\($0).\(word).userdata" }
    // Where the file system has no links, the bytes.
    if link(journal, aside) != 0 {
      close(try PrivateFile.replace(aside, with: try PrivateFile.read(journal) ?? []))
    }
    return aside
  }

  /// For what somebody put in the catalog's place while that is open; what SQLite keeps beside it is the open one's.
  ///
  /// - Returns: nil where there is nothing.
  func nameForStranger(date: Int64) throws -> String? {
    guard try PrivateFile.certainByteCount(catalog) != nil else { return nil }
    return Self.free { "\(stem)-\(Self.text(date))\($0).other.sqlite" }
  }

  /// The first name that no file has; the closure gets what to append.
  static func free(_ name: (String) -> String) -> String {
    let first = name("")
    guard PrivateFile.exists(first) else { return first }
    var number = 2
    while PrivateFile.exists(name("-\(number)")) { number += 1 }
    return name("-\(number)")
  }

  /// `2026-11-21T10-15-00`, UTC, for a name.
  ///
  /// - Parameter microseconds: since 1970.
  static func text(_ microseconds: Int64) -> String {
    var seconds = time_t(microseconds / 1_000_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
      + "\(two(parts.tm_hour))-\(two(parts.tm_min))-\(two(parts.tm_sec))"
  }

  /// Microseconds since 1970.
  package static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
