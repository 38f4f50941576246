import ArgumentParser
import PhotoClient
import PhotoModel

struct RescanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rescan",
    abstract: "Compares your folders with the library, and mends what differs.",
    discussion: """
      photod notices changes by itself; this is for when you doubt it. When many photos are missing at once, photod \
      keeps them for a while in case they come back, and calls the folder suspect: --confirm says that they really are \
      gone. With the name of a folder in whose place another drive, or folder, stands, it says so of all that was there \
      before. What is offline is passed over, and named on standard error. Of a folder on a network that is named, photod \
      also reads the samples and hashes by which it knows photos again (see 'photoctl status --help').

      EXAMPLES
        photoctl rescan --dry-run              what differs, if anything?
        photoctl rescan ~/Pictures/2024
        photoctl rescan --confirm              what is missing was deleted on purpose
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A folder or a file; everything by default.", completion: .file())
  var path: String?

  @Flag(help: "Only count what differs.")
  var dryRun = false

  @Flag(help: "What is missing really is gone.")
  var confirm = false

  func validate() throws {
    if dryRun && confirm { throw ValidationError("--dry-run changes nothing, --confirm does: give one of them.") }
  }

  func run() async throws {
    let library = connection.library
    let result = try await library.rescan(
      path: path.map { AbsolutePath.text($0) }, dryRun: dryRun, confirm: confirm)
    try Output.put(Self.text(result, isDryRun: dryRun))
    if path == nil { Output.complain(Self.passedOver(try await library.status(), style: connection.style)) }
  }

  /// A warning for each folder that a rescan of everything skips.
  static func passedOver(_ status: LibraryStatus, style: Style) -> String {
    status.roots.filter { $0.state == .offline }.map { root in
      "\(style.doubtful("warning:")) \(Printable.text(root.path)) is offline and was not compared; "
        + "nothing of it is removed. 'photoctl status' says why, and what helps.\n"
    }.joined()
  }

  static func text(_ result: RescanResult, isDryRun: Bool) -> String {
    let counts =
      "\(Text.grouped(result.inserted)) inserted, \(Text.grouped(result.updated)) updated, "
      + "\(Text.grouped(result.removed)) removed"
    guard isDryRun else { return "\(counts)\n" }
    guard let heldBack = result.heldBack, heldBack > 0 else { return "would be: \(counts)\n" }
    return "would be: \(counts)\n"
      + "Of these, \(Text.count(heldBack, "is", "are")) missing at once: a rescan would keep them for now, and call the folder "
      + "suspect. `photoctl rescan --confirm` removes them.\n"
  }
}
