import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Lists the assets of an album, in its order.",
    discussion: """
      It is the same list as that of `photoctl query --album`, which has more options.

      EXAMPLES
        photoctl albums show Favorites
        photoctl albums show "Summer in Rome" --format paths
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(
    help: ArgumentHelp("The album: a title, smart:favorites, folder:/path or id:42.", valueName: "album"))
  var album: AlbumName

  @OptionGroup var formats: FormatOptions<OutputFormat>

  @OptionGroup var fields: FieldOptions<Asset>

  func validate() throws {
    try AlbumName.check(album.text, "The album")
    try fields.validate(with: formats.chosen)
  }

  func run() async throws {
    let library = connection.library
    let isFolder = album.text.hasPrefix(LibraryFolders.albumPrefix)
    let name = isFolder ? try await library.folders().album(album.text) : album.text
    let format = formats.chosen ?? .standard
    var renderer = ListRenderer<Asset>(format: format, fields: fields.chosen, columns: Output.terminalColumns)
    let assets = QueriedAssets(library: library, options: FetchOptions(collection: name))
    let found = try await library.distinguishingAlbums {
      try await assets.forEachPage { try Output.put(try renderer.page($0)) }
    }
    try Output.put(renderer.end())
    if found == 0, format == .table { Output.complain("The album has no visible photos.\n") }
  }
}
