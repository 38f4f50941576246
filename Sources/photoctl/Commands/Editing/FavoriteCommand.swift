import ArgumentParser
import PhotoClient

struct FavoriteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favorite",
    abstract: "Makes assets favorites.",
    discussion: """
      If one of them is not in the library, none of them is changed. A number is an id, anything else is a path. The \
      photo files are not changed. `photoctl unfavorite` reverts it.

      --where and the other options of a query choose all assets that match each of them. With -, the ids and paths \
      come from standard input, one on each line, which may end with CR LF. With -0, each of them ends with NUL, so that \
      a path may contain any byte.

      EXAMPLES
        photoctl favorite 42 43
        photoctl favorite IMG_0001.jpg
        photoctl query --rating 5 | photoctl favorite -
        photoctl query --format paths0 --taken 2024-07 | photoctl favorite -0 -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would become favorites, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    try await connection.library.edit(
      assets, isDryRun: isDryRun, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would be a favorite", "photos would be favorites")
        : ("photo is a favorite now", "photos are favorites now"),
      unchanged: ("photo was a favorite already", "photos were favorites already")
    ) { .init(ids: $0, isFavorite: true) }
  }
}

struct UnfavoriteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfavorite",
    abstract: "Removes assets from the favorites.",
    discussion: """
      If one of them is not in the library, none of them is changed. A number is an id, anything else is a path. With \
      -, they come from standard input.

      EXAMPLES
        photoctl unfavorite 42
        photoctl unfavorite IMG_0001.jpg
        photoctl query --favorite --taken ..2019 | photoctl unfavorite -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would no longer be favorites, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws { try assets.validateSome() }

  func run() async throws {
    try await connection.library.edit(
      assets, isDryRun: isDryRun, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would no longer be a favorite", "photos would no longer be favorites")
        : ("photo is no longer a favorite", "photos are no longer favorites"),
      unchanged: ("photo was no favorite", "photos were no favorites")
    ) { .init(ids: $0, isFavorite: false) }
  }
}
