import ArgumentParser
import PhotoClient
import PhotoModel
import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replaces the library's catalog by a backup.",
    discussion: """
      photod first backs up the present catalog, so that you can undo the restore. Then it verifies the file, and puts \
      it in the catalog's place, with the favorites, albums and edits of its day. After that, photod scans your \
      folders for all changes since then. Your photos are not changed.

      A name without a slash is a file of the current folder, or else one of `photoctl backup --list`.

      EXAMPLES
        photoctl backup --list
        photoctl restore --dry-run photod-2026-11-20.sqlite
        photoctl restore photod-2026-11-20.sqlite
        photoctl restore ~/.local/share/photod/backups/photod-2026-11-20.sqlite
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that photod or `photoctl backup` made.", completion: .file())
  var path: String

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print which backup would replace the catalog, and change nothing. Only the beginning of the file is checked."
  )
  var isDryRun = false

  @OptionGroup var json: JSONOption

  func run() async throws {
    let library = connection.library
    let isNamed = Self.isName(path) && !Self.exists(path)
    let known = isNamed || isDryRun ? try await PhotoDaemonManagement(of: library).backups() : []
    let backup = Self.backup(path, among: isNamed ? known : [])
    if isNamed, !known.contains(where: { $0.path == backup }) {
      throw Failure(
        .noInput, "there is no backup '\(Printable.text(path))'", remedy: "`photoctl backup --list` lists the backups.",
        command: "restore")
    }
    if isDryRun { return try await printDryRun(backup, known.first { $0.path == backup }, library) }
    let restored = try await PhotoDaemonManagement(of: library).restore(from: backup)
    try Output.put(json.isOn ? JSONText.indented(restored) : Array(BackupText.restored(restored).utf8))
  }

  /// - Parameter known: the backup, if it is one of photod's own.
  private func printDryRun(_ backup: String, _ known: BackupFile?, _ library: PhotoLibrary) async throws {
    struct Choice: Encodable {
      let path: String
      let assetCount: Int?
      let currentAssetCount: Int
    }
    if known == nil { try checkBeginning(of: backup) }
    let count = try await library.status().assetCount
    if json.isOn {
      return try Output.put(
        JSONText.indented(Choice(path: backup, assetCount: known?.assetCount, currentAssetCount: count)))
    }
    let made = known.map { " of \(WatchText.moment($0.date)), with \(BackupText.contents(of: $0))," } ?? ""
    try Output.put(
      """
      The backup \(Printable.text(backup))\(made) would replace the catalog, which has \(Text.count(count, "asset", "assets")).
      Favorites, albums and edits would be those of the backup. photod would first back up the present catalog.

      """)
  }

  /// The first bytes of every SQLite file (https://www.sqlite.org/fileformat.html#magic_header_string).
  private static let beginning = Array("SQLite format 3\0".utf8)

  /// Throws if the file can't be a catalog. photod itself verifies all of it before it restores it.
  private func checkBeginning(of backup: String) throws {
    func failure(_ problem: String) -> Failure {
      Failure(
        .noInput, "\(Printable.text(backup)) \(problem)", remedy: "`photoctl backup --list` lists the backups.",
        command: "restore")
    }
    let descriptor = open(
      FilePath.bytes(backup).map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw failure("can't be opened: \(errorText(errno))") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.beginning.count)
    let count = read(descriptor, &bytes, bytes.count)
    guard count == bytes.count, bytes == Self.beginning else { throw failure("is no catalog of photod") }
  }

  private static func isName(_ argument: String) -> Bool { !FilePath.bytes(argument).contains(UInt8(ascii: "/")) }

  private static func exists(_ argument: String) -> Bool {
    var status = stat()
    return lstat(FilePath.bytes(argument).map { CChar(bitPattern: $0) } + [0], &status) == 0
  }

  /// The path of the known backup with this name, in the form of the contract. If there is none, it is the absolute
  /// path of the file that the argument names.
  static func backup(_ argument: String, among known: [BackupFile]) -> String {
    let ending = [UInt8(ascii: "/")] + FilePath.bytes(argument)
    return known.first { FilePath.bytes($0.path).suffix(ending.count).elementsEqual(ending) }?.path
      ?? AbsolutePath.text(argument)
  }
}
