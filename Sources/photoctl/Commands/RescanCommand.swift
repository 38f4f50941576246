import ArgumentParser
import PhotoClient
import PhotoModel

struct RescanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rescan",
    abstract: "Compares your folders with the library, and updates the library.",
    discussion: """
      photod notices changes by itself. Use this command if you doubt that. If many photos are missing at once, photod \
      keeps them for some time, in case they come back. Their folder has the state suspect. --confirm removes them \
      now. If another drive or folder is in the place of a folder, --confirm with its path removes all photos that \
      were there before. Offline folders are skipped, and named on standard error. If you give the path of a folder on \
      a network, photod also reads the samples and hashes of its files. It recognises photos by them (see `photoctl \
      status --help`).

      EXAMPLES
        photoctl rescan --dry-run     counts the differences; names missing photos
        photoctl rescan ~/Pictures/2024
        photoctl rescan --confirm     for photos that were deleted on purpose
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: "A folder or a file (default: all folders).", completion: .file())
  var path: String?

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only count the differences.")
  var dryRun = false

  @Flag(help: "Remove the missing photos, because they are gone for good.")
  var confirm = false

  @OptionGroup var json: JSONOption

  func validate() throws {
    if dryRun && confirm {
      throw ValidationError("--dry-run changes nothing, and --confirm does. Give only one of them.")
    }
  }

  func run() async throws {
    let library = connection.library
    var folder: String?
    if let path { folder = try await library.folders().text(path) }
    let result = try await library.rescan(path: folder, dryRun: dryRun, confirm: confirm)
    try Output.put(json.isOn ? JSONText.indented(result) : Array(Self.text(result, isDryRun: dryRun).utf8))
    if path == nil { Output.complain(Self.passedOver(try await library.status(), style: connection.style)) }
  }

  /// A warning for each folder that a rescan of everything skips.
  static func passedOver(_ status: LibraryStatus, style: Style) -> String {
    status.roots.filter { $0.state == .offline || $0.state == .missing }.map { root in
      "\(style.doubtful("warning:")) \(Printable.text(root.path)) is \(root.state.rawValue). It was not compared, and "
        + "none of its photos was removed. `photoctl status` has the reason and the remedy.\n"
    }.joined()
  }

  static func text(_ result: RescanResult, isDryRun: Bool) -> String {
    let counts =
      "\(Text.grouped(result.inserted)) inserted, \(Text.grouped(result.updated)) updated, "
      + "\(Text.grouped(result.removed)) removed"
    guard isDryRun else { return "\(counts)\n" }
    let text = "would be: \(counts)\n"
    guard let heldBack = result.heldBack, heldBack > 0 else { return text + examples(result) }
    return text
      + "Of these, \(Text.count(heldBack, "is", "are")) missing at once. A rescan would keep them for now, and the state "
      + "of their folder would be suspect. `photoctl rescan --confirm` removes them.\n"
      + examples(result)
  }

  /// The missing photos that photod names, one on each line.
  private static func examples(_ result: RescanResult) -> String {
    guard let paths = result.removedExamples, !paths.isEmpty else { return "" }
    let others = result.removed - paths.count
    return "Missing photos:\n" + paths.map { "  \(Printable.text($0))\n" }.joined()
      + (others > 0 ? "  and \(Text.count(others, "other", "others"))\n" : "")
  }
}
