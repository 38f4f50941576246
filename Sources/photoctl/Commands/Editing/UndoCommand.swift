import ArgumentParser
import PhotoClient
import PhotoModel

struct UndoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undoes the last change of albums, favorites or edits.",
    discussion: """
      Without a number, it undoes the last change that photoctl made. --list shows the last changes of all programs, \
      with their numbers, and nothing if there is none. photod keeps up to 100 changes until it ends.

      The change is undone as a whole. photod undoes nothing if one of the photos or albums was changed again since. \
      The message names it. A change with more than 20,000 places of photos in albums, or 5,000 to 10,000 edits, can't \
      be undone. --list shows such a change nevertheless. While it is the last one, `photoctl undo` needs the number of an \
      earlier change.

      EXAMPLES
        photoctl undo
        photoctl undo --list
        photoctl undo 42
        photoctl undo --dry-run --origin my-gallery
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(
    help: ArgumentHelp("The number of a change.", valueName: "number"),
    transform: { try NumberArgument.whole($0, "the number of a change, as `photoctl undo --list` prints it") })
  var number: Int?

  @Flag(help: "List the last changes, newest first.")
  var list = false

  @Option(
    help: ArgumentHelp("Undo the last change of this program. With --list, list only its changes.", valueName: "name"))
  var origin: String?

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print what would be undone, and change nothing. photod may refuse to undo it.")
  var isDryRun = false

  @OptionGroup var json: JSONOption

  func validate() throws {
    try TextBound.check("--origin", origin, "FetchUndoableChanges.origin")
    if list && number != nil { throw ValidationError("--list takes no number.") }
    if number != nil && origin != nil { throw ValidationError("Give a number or --origin, not both.") }
    if list && isDryRun { throw ValidationError("--list changes nothing, so it needs no --dry-run.") }
  }

  func run() async throws {
    let library = connection.library
    let origin = origin.map { $0.hasPrefix("client:") ? $0 : "client:\($0)" }
    let changes = try await library.undoableChanges(
      origin: origin ?? (list || number != nil ? nil : "client:photoctl"))
    if list {
      if json.isOn { return try Output.put(JSONText.indented(changes)) }
      if changes.isEmpty { return Output.complain("There is no change that can be undone.\n") }
      return try Output.put(Array(Self.table(changes).utf8))
    }
    let found = number.map { number in changes.first { $0.id == number } } ?? changes.first
    guard let change = found else {
      throw Failure(
        .noInput,
        number.map { "there is no change \($0) that can be undone" }
          ?? "photod has no change of \(Printable.text(origin ?? "photoctl")) that can be undone",
        remedy: "`photoctl undo --list` lists the changes. photod forgets them when it ends.", command: "undo")
    }
    if let problem = change.problem {
      throw Failure(
        .data, Printable.text(problem),
        remedy: "Nothing was undone. `photoctl undo --list` lists the changes before it.",
        command: "undo")
    }
    if !isDryRun { try await library.undoChange(change.id) }
    if json.isOn { try Output.put(JSONText.indented(change)) }
    Output.complain(
      "The change of \(WatchText.clock(change.date)) \(isDryRun ? "would be" : "was") undone: \(Self.subject(change)).\n"
    )
  }

  private static let columns = [
    Column(title: "NUMBER", isNumber: true), Column(title: "TIME"), Column(title: "PROGRAM"), Column(title: "CHANGE"),
  ]

  private static func table(_ changes: [UndoableChange]) -> String {
    var table = TableLayout(columns: columns, terminalColumns: Output.terminalColumns)
    return table.text(
      rows: changes.map { change in
        [
          "\(change.id)", WatchText.moment(change.date), Printable.text(change.origin),
          subject(change) + (change.problem == nil ? "" : "  can't be undone"),
        ]
      })
  }

  /// `hide, 3 photos`, `title, IMG_1.jpg` or `add to an album, 3 photos, 'Rome'`
  private static func subject(_ change: UndoableChange) -> String {
    var parts = (change.actions ?? []).map(name)
    if change.assetCount == 1, let filename = change.filename {
      parts.append(Printable.text(filename))
    } else if change.assetCount > 0 {
      parts.append(Text.count(change.assetCount, "photo", "photos"))
    }
    return (parts + change.collections.map { "'\(Printable.text($0))'" }).joined(separator: ", ")
  }

  private static func name(_ action: UndoableChange.Action) -> String {
    switch action {
    case .creationDate: "date"
    case .location: "place"
    case .createAlbum: "make an album"
    case .createFolder: "make a folder of albums"
    case .createSmartAlbum: "make a smart album"
    case .addAssets: "add to an album"
    case .removeAssets: "remove from an album"
    case .keyAsset: "cover"
    default: Printable.text(action.rawValue)
    }
  }
}
