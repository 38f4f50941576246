import ArgumentParser
import PhotoClient

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Puts a backup in the place of the library's catalog.",
    discussion: """
      What is in the library is backed up first, so that a restore can be undone by another; then the given file is \
      verified and takes the catalog's place, with the favorites and albums of its day. photod then scans your folders \
      and takes in what has changed since. Your photos are not touched.

      EXAMPLES
        photoctl backup --list
        photoctl restore ~/.local/share/photod/backups/photod-2026-11-20.sqlite
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that photod or 'photoctl backup' made.", completion: .file())
  var path: String

  func run() async throws {
    let restored = try await connection.library.restore(from: AbsolutePath.text(path))
    try Output.put(BackupText.restored(restored))
  }
}
