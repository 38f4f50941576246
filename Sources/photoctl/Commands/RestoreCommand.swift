import ArgumentParser
import PhotoClient
import PhotoModel

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
        photoctl restore photod-2026-11-20.sqlite
        photoctl restore ~/.local/share/photod/backups/photod-2026-11-20.sqlite
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that photod or 'photoctl backup' made.", completion: .file())
  var path: String

  @OptionGroup var json: JSONOption

  func run() async throws {
    let library = connection.library
    let known = Self.isName(path) && !Self.exists(path) ? try await PhotoDaemonManagement(of: library).backups() : []
    let restored = try await PhotoDaemonManagement(of: library).restore(from: Self.backup(path, among: known))
    try Output.put(json.isOn ? JSONText.indented(restored) : Array(BackupText.restored(restored).utf8))
  }

  private static func isName(_ argument: String) -> Bool { !FilePath.bytes(argument).contains(UInt8(ascii: "/")) }

  private static func exists(_ argument: String) -> Bool {
    var status = stat()
    return lstat(FilePath.bytes(argument).map { CChar(bitPattern: $0) } + [0], &status) == 0
  }

  /// The path of the backup with this name, in the form of the contract. If there is none, the path from the current
  /// folder.
  static func backup(_ argument: String, among known: [BackupFile]) -> String {
    let ending = [UInt8(ascii: "/")] + FilePath.bytes(argument)
    return known.first { FilePath.bytes($0.path).suffix(ending.count).elementsEqual(ending) }?.path
      ?? AbsolutePath.text(argument)
  }
}
