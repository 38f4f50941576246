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
        photoctl backup --list --format csv
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that does not exist yet; among the daily ones by default.", completion: .file())
  var path: String?

  @Flag(help: "List photod's own backups, newest first.")
  var list = false

  @Option(help: "With --list, how to print them: table, json, jsonl, csv, tsv, paths or paths0.")
  var format: OutputFormat?

  func validate() throws {
    if list && path != nil { throw ValidationError("--list shows photod's own backups; it takes no path.") }
    if format != nil && !list { throw ValidationError("--format goes with --list.") }
  }

  func run() async throws {
    let library = connection.library
    guard list else {
      let made = try await PhotoDaemonManagement(of: library).backUp(to: path.map { AbsolutePath.text($0) })
      try Output.put(Printable.text(made.path) + "\n")
      Output.complain("\(BackupText.contents(of: made))\n")
      return
    }
    let backups = try await PhotoDaemonManagement(of: library).backups()
    let format = format ?? .standard
    if format == .table && backups.isEmpty { Output.complain("There are no backups yet: photod makes one each day.\n") }
    // Never cut, however narrow the terminal is: its paths are copied into `photoctl restore`.
    var renderer = ListRenderer<BackupFile>(format: format)
    try Output.put(try renderer.page(backups) + renderer.end())
  }
}
