import ArgumentParser
import PhotoClient
import PhotoContract

struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows all data of assets.",
    discussion: """
      A number is an id, anything else is the path of one of the asset's files. For a file that is called 123, write \
      ./123. With -, they come from standard input, one on each line. If some of them are not in the library, the \
      others are shown, and the exit code is 66.

      --picture also shows the pictures, in a terminal with the graphics protocol of kitty, or with sixels if the program \
      img2sixel is installed. The terminal is asked which of them it has.

      EXAMPLES
        photoctl show 42
        photoctl show IMG_0001.jpg IMG_0002.jpg
        photoctl show --picture 42
        photoctl show --json ./123 | jq .camera
        photoctl query --album Favorites --format paths | photoctl show -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print each asset as one JSON object, an Asset of org.photod.library.")
  var json = false

  @Flag(help: "Show the pictures, too, if the terminal can.")
  var picture = false

  @OptionGroup var assets: AssetArguments

  func validate() throws {
    if picture, json { throw ValidationError("--picture and --json are two forms of output. Give only one of them.") }
  }

  func run() async throws {
    let library = connection.library
    let pictures = picture ? try ShownPicture(of: library) : nil
    var rest = try assets.names()[...]
    var isFirst = true
    var failure: Failure?
    while !rest.isEmpty {
      let names = rest.prefix(RequestLimits.maximumIDs)
      rest = rest.dropFirst(names.count)
      let found = try await library.findIDs(of: Array(names))
      let assets = Dictionary(
        try await library.assets(found.compactMap { $0 }).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      for (name, id) in zip(names, found) {
        guard let id else {
          failure = failure ?? Failure(notInLibrary: [name])
          continue
        }
        guard let asset = assets[id] else {
          failure = failure ?? Failure(noSuchAssets: [id], names: [id: name])
          continue
        }
        if !json && !isFirst { try Output.put("\n") }
        isFirst = false
        try Output.put(json ? JSONText.indented(asset) : Array(AssetText.text(asset).utf8))
        do {
          try await pictures?.put(asset.id)
        } catch let error as PhotoLibraryError {
          var problem = Failure(error, in: "show")
          problem.problem = name.problem("\(asset.subject): \(problem.problem)")
          failure = failure ?? problem
        }
      }
    }
    if let failure { throw failure }
  }
}
