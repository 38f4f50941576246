import ArgumentParser
import PhotoClient

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the library's catalog to a file, or lists the copies.",
    discussion: """
      The catalog holds what photod read from your photos, and your data: favorites, albums and edits. photod \
      copies it while it works, and verifies the copy. It also makes one backup a day by itself, and keeps those of \
      the last seven days and of four weeks. A backup of this command is kept until you remove it. A backup does not \
      contain the photos themselves.

      It prints the path of the backup, or with --format json an object that describes it. With --list, it prints a \
      table (JSON lines in a pipe), and takes every format.

      EXAMPLES
        photoctl backup
        photoctl backup /media/stick/photos.sqlite
        photoctl backup --list
        photoctl backup --list --format csv
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A file that does not exist yet (default: a new file beside the daily backups).", completion: .file())
  var path: String?

  @Flag(help: "List photod's own backups, newest first.")
  var list = false

  @OptionGroup var formats: FormatOptions<OutputFormat>

  func validate() throws {
    if list && path != nil { throw ValidationError("--list lists photod's own backups, and takes no path.") }
    if !list, let format = formats.chosen, format != .json {
      throw ValidationError(
        "--format \(format.rawValue) can only be used with --list. Without it, the format can be json.")
    }
  }

  func run() async throws {
    let library = connection.library
    guard list else {
      let made = try await PhotoDaemonManagement(of: library).backUp(to: path.map { AbsolutePath.text($0) })
      if formats.chosen == .json { return try Output.put(JSONText.indented(made)) }
      try Output.put(Printable.text(made.path) + "\n")
      Output.complain("\(BackupText.contents(of: made))\n")
      return
    }
    let backups = try await PhotoDaemonManagement(of: library).backups()
    let format = formats.chosen ?? .standard
    if format == .table && backups.isEmpty { Output.complain("There are no backups yet. photod makes one each day.\n") }
    // Never cut, however narrow the terminal is: its paths are copied into `photoctl restore`.
    var renderer = ListRenderer<BackupFile>(format: format)
    try Output.put(try renderer.page(backups) + renderer.end())
  }
}
