import Glibc

/// A new file beside the file that it will replace.
///
/// Its name is random and it is created exclusively, so that no file of another program is ever opened, replaced or
/// removed. A killed process leaves its files behind. ``removeAll(of:)`` finds them by the form of their names.
struct TemporaryFile {
  let path: String
  /// Open for reading and writing. The caller closes it.
  let descriptor: Int32

  private static let mark = ".photod-"
  /// The suffixes of the files that SQLite keeps for a database.
  private static let companions = ["", "-journal", "-wal", "-shm"]

  /// - Parameter target: The path that the file will be renamed to.
  init(beside target: String) throws {
    while true {
      let path = target + Self.mark + CatalogOpening.newName()
      let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw PrivateFile.failure(path, "made", errno) }
      self.path = path
      self.descriptor = descriptor
      return
    }
  }

  /// Removes the file and the files that SQLite may have created beside it.
  func remove() throws {
    for suffix in Self.companions { try PrivateFile.remove(path + suffix) }
  }

  /// Removes the temporary files for `target` that a killed process left. No other process may be creating one.
  static func removeAll(of target: String) throws {
    try removeAll(in: PrivateFile.folder(of: target)) { $0 == PrivateFile.name(of: target) }
  }

  /// Removes the temporary files for these targets that a killed process left in a folder.
  static func removeAll(in folder: String, ofTarget isTarget: (String) -> Bool) throws {
    for name in try PrivateFile.names(in: folder) {
      if let target = Self.target(of: name), isTarget(target) { try PrivateFile.remove("\(folder)/\(name)") }
    }
  }

  /// The target of a temporary file. Any other path is returned as it is.
  static func target(ofPath path: String) -> String {
    let name = PrivateFile.name(of: path)
    return target(of: name).map { path.dropLast(name.count) + $0 } ?? path
  }

  /// The target of a temporary file, for example `a.sqlite` for `a.sqlite.photod-0123456789abcdef-wal`. nil for all
  /// other names.
  private static func target(of name: String) -> String? {
    for suffix in companions where name.hasSuffix(suffix) {
      let stem = name.dropLast(suffix.count)
      let (target, number) = (stem.dropLast(mark.count + 16), stem.suffix(16))
      guard stem.dropLast(16).hasSuffix(mark), number.count == 16, number.allSatisfy(\.isHexDigit), !target.isEmpty
      else { continue }
      return String(target)
    }
    return nil
  }
}
