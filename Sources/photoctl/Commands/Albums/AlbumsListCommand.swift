import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists albums: smart albums, your own, and one for each folder.",
    discussion: """
      `photoctl query --album` takes each title, and folder:/path for a folder. --containing lists only the albums \
      that contain one asset.

      COUNT is the number of assets in the album itself. TOTAL also has the assets of all folders below a folder. For \
      any other album, both are the same. Hidden assets are counted only in the album Hidden.

      A table shows the albums in a folder of albums below it, as a tree. In the other formats, parentID is the id of \
      the folder of albums.

      With --watch, it continues until Ctrl-C, and prints the albums that are added (+), changed (~), removed (-) or \
      moved (>), with their counts. With --format jsonl or json, a line is then a reply of ObserveCollections of \
      org.photod.library. The first lines are the list itself.

      FIELDS
        id kind subtype title parentID path count totalCount keyAssetID startDate
        endDate query problem

      EXAMPLES
        photoctl albums
        photoctl albums --fields path,totalCount --format csv
        photoctl albums --containing IMG_0001.jpg
        photoctl albums --format jsonl | jq .title
        photoctl albums --watch
        photoctl albums --watch --format jsonl | jq --unbuffered '.updated[]?.title'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("Only albums that contain this asset.", valueName: "id|path"), completion: .file())
  var containing: AssetArgument?

  @OptionGroup var formats: FormatOptions<OutputFormat>

  @OptionGroup var fields: FieldOptions<ListedAlbum>

  @Flag(help: "Continue, and print each change. Formats: table or jsonl (json is the same).")
  var watch = false

  func validate() throws {
    try fields.validate(with: formats.chosen)
    guard watch else { return }
    if containing != nil { throw ValidationError("--watch prints all albums, so it can't be used with --containing.") }
    if fields.fields != nil { throw ValidationError("--watch can't be used with --fields.") }
    if let format = formats.chosen, ![.table, .json, .jsonl].contains(format) {
      throw ValidationError("--watch prints as table or jsonl, not as \(format.rawValue).")
    }
  }

  func run() async throws {
    let library = connection.library
    if watch { return try await watch(library) }
    var asset: AssetID?
    if let containing {
      let named = NamedAsset(containing)
      asset = try await library.ids(of: [named]).ids.first
      // An id without an asset would be in no album, like an asset that is in none.
      if let id = asset, try await library.assets([id]).isEmpty,
        let failure = Failure(noSuchAssets: [id], names: [id: named])
      {
        throw failure
      }
    }
    let collections = try await library.collections(containing: asset)
    // The totals of a few folders need the counts of all folders below them. The place of an album needs the folders
    // of albums above it.
    let folders = asset == nil ? nil : try await library.collections(kinds: [.folderAlbum, .folder])
    var renderer = ListRenderer<ListedAlbum>(
      format: formats.chosen ?? .standard, fields: fields.chosen, columns: Output.terminalColumns)
    try Output.put(try renderer.page(ListedAlbum.list(collections, folders: folders)) + renderer.end())
  }

  private func watch(_ library: PhotoLibrary) async throws {
    Output.endQuietlyWithReader()
    // The output never ends, so JSON can only be one object on each line.
    let format = formats.chosen == .json ? .jsonl : formats.chosen ?? .standard
    var text = CollectionText(style: connection.style, columns: Output.terminalColumns)
    for try await observation in library.observeCollections() {
      if format == .jsonl {
        try Output.put(try JSONText.line(observation) + [UInt8(ascii: "\n")])
      } else {
        try Output.put(try text.text(observation))
      }
    }
  }
}
