import ArgumentParser
import PhotoClient

struct HideCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hide",
    abstract: "Hides assets, so that lists leave them out.",
    discussion: """
      If one of them is not in the library, none of them is changed. A number is an id, anything else is a path. The \
      photo files are not changed. `photoctl query --hidden` lists the hidden assets, and `photoctl unhide` makes them \
      visible again.

      --where and the other options of a query choose all assets that match each of them. With -, the ids and paths \
      come from standard input, one on each line, which may end with CR LF. With -0, each of them ends with NUL, so that \
      a path may contain any byte.

      EXAMPLES
        photoctl hide 42 43
        photoctl hide IMG_0001.jpg
        photoctl hide --under ~/Pictures/Receipts
        photoctl query --keyword receipt | photoctl hide -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would be hidden, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    try await connection.library.edit(
      assets, isDryRun: isDryRun, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would be hidden", "photos would be hidden") : ("photo is hidden now", "photos are hidden now"),
      unchanged: ("photo was hidden already", "photos were hidden already")
    ) { .init(ids: $0, isHidden: true) }
  }
}

struct UnhideCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unhide",
    abstract: "Makes hidden assets visible again.",
    discussion: """
      If one of them is not in the library, none of them is changed. A number is an id, anything else is a path. With \
      -, they come from standard input. --where and the other options of a query find the hidden assets only.

      EXAMPLES
        photoctl unhide 42
        photoctl unhide --where "ANY keywords == 'receipt'"
        photoctl unhide --under ~/Pictures/2024
        photoctl query --hidden | photoctl unhide -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would be visible again, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    try await connection.library.edit(
      assets, onlyHidden: true, isDryRun: isDryRun, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would be visible", "photos would be visible") : ("photo is visible now", "photos are visible now"),
      unchanged: ("photo was visible already", "photos were visible already")
    ) { .init(ids: $0, isHidden: false) }
  }
}
