import ArgumentParser
import PhotoClient

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the library's catalog to a file, or lists the copies.",
    discussion: """
      The catalog is what photod knows of your photos, and what you gave them: favorites and hidden ones. It is \
      copied while photod goes on, and the copy is verified. photod makes one a day by itself, and keeps those of the \
      last seven days and of four weeks; what is copied by this command is kept until you remove it. The photos \
      themselves are not in it.

      It prints the copy's path, or with --list a table (JSON lines in a pipe).

      EXAMPLES
        photoctl backup
        photoctl backup /media/stick/photos.sqlite
        photoctl backup --list
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that does not exist yet; among the daily ones by default.", completion: .file())
  var path: String?

  @Flag(help: "List photod's own backups, newest first.")
  var list = false

  func validate() throws {
    if list && path != nil { throw ValidationError("--list shows photod's own backups; it takes no path.") }
  }

  func run() async throws {
    let library = connection.library
    guard list else {
      let made = try await library.backUp(to: path.map { AbsolutePath.text($0) })
      try Output.put(Printable.text(made.path) + "\n")
      Output.complain("\(BackupText.contents(of: made))\n")
      return
    }
    let backups = try await library.backups()
    if Output.isTerminal {
      try Output.put(BackupText.table(backups))
    } else {
      for backup in backups { try Output.put(try JSONText.line(backup) + [UInt8(ascii: "\n")]) }
    }
  }
}
