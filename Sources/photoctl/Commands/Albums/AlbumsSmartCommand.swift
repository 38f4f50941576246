import ArgumentParser
import PhotoClient
import PhotoModel

struct AlbumsSmartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "smart",
    abstract: "Makes a smart album, which always has the photos that a query finds.",
    discussion: """
      The query is written like that of `photoctl query`. With --limit, the album has only the first photos by --sort. \
      The id of the album is printed.

      --edit replaces the whole query of a smart album that you made. `photoctl albums --fields title,query` shows the \
      queries.

      EXAMPLES
        photoctl albums smart "Best of 2024" --taken 2024 --rating 4
        photoctl albums smart Beach beach --in Trips
        photoctl albums smart Long --type video --sort durationSeconds:desc --limit 9
        photoctl albums smart --edit "Best of 2024" --taken 2024 --rating 5 --dry-run
      """)

  @OptionGroup var connection: ConnectionOptions

  @Argument(help: ArgumentHelp("The title of the new album, or with --edit the album.", valueName: "title"))
  var title: String

  @Flag(help: "Give a smart album another query.")
  var edit = false

  @Option(name: .customLong("in"), help: ArgumentHelp("The folder of albums that gets it.", valueName: "folder"))
  var folder: AlbumName?

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many photos the album would have, and change nothing.")
  var isDryRun = false

  @OptionGroup var query: QueryOptions
  @OptionGroup var json: JSONOption

  func validate() throws {
    let filter = query.filter
    if filter.album != nil { throw ValidationError("The query of a smart album can't name an album.") }
    if filter.hidden {
      throw ValidationError("A smart album shows no hidden photos. The album Hidden has them.")
    }
    if let taken = filter.taken, taken.dependsOnToday {
      throw ValidationError(
        "The query of a smart album doesn't follow the calendar. Give --taken a year, a month, a day or a range.")
    }
    if edit && folder != nil {
      throw ValidationError("--in is for a new album. `photoctl albums move` moves one to another folder.")
    }
    if !edit { try TextBound.check(title: title) }
    if edit && AlbumName(argument: title) == nil { throw ValidationError("The album to edit has no name.") }
  }

  func run() async throws {
    let library = connection.library
    let query = try await smartAlbumQuery(library)
    if edit {
      guard let name = AlbumName(argument: title) else { return }
      let album = try await library.album(name, kinds: [.smartAlbum])
      if isDryRun {
        return try await printDryRun("\(album.subject) would have another query", query, library)
      }
      let isChange = try await library.changes(ChangeRequest(editSmartAlbum: .init(id: album.id, query)))
      try ChangedAlbums([album]).put(asJSON: json.isOn)
      guard isChange else { return Output.complain(album.nothingToDo("had this query already")) }
      return try await printCount("\(album.subject) has another query now", album.id, library)
    }
    let parentID = try await library.folderID(folder)
    if isDryRun {
      return try await printDryRun("The smart album '\(Printable.text(title))' would be made", query, library)
    }
    let result = try await library.makeChanges([
      ChangeRequest(createSmartAlbum: .init(title: title, query, parentID: parentID))
    ])
    guard let id = result.createdCollectionIDs.first else { return }
    try CreatedAlbum(id: id).put(asJSON: json.isOn)
    try await printCount("The smart album '\(Printable.text(title))' was made", id, library)
  }

  private func printCount(_ text: String, _ id: CollectionID, _ library: PhotoLibrary) async throws {
    let count = try await library.fetchPage(FetchOptions(collection: "id:\(id)"), count: 0).total
    Output.complain("\(text), with \(Text.count(count, "photo", "photos")).\n")
  }

  private func printDryRun(_ text: String, _ query: SmartAlbumQuery, _ library: PhotoLibrary) async throws {
    let options = FetchOptions(
      predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
      fetchLimit: query.fetchLimit)
    let count = try await library.fetchPage(options, count: 0).total
    Output.complain("\(text), with \(Text.count(count, "photo", "photos")).\n")
  }

  /// The query of the options. photod checks it here first, so that an error is shown at its place.
  private func smartAlbumQuery(_ library: PhotoLibrary) async throws -> SmartAlbumQuery {
    let query = try await query.inFolders(of: library, mayAppear: true)
    let options = try query.fetchOptions()
    _ = try await query.explaining(in: "albums smart", library) { try await library.fetchPage(options, count: 0) }
    let types = options.mediaTypes.map { types in
      "mediaType IN {\(types.map(PredicateText.quoted).joined(separator: ", "))}"
    }
    let parts = [types, options.predicate.map { types == nil ? $0 : "(\($0))" }].compactMap { $0 }
    guard !parts.isEmpty || options.text != nil else {
      throw Failure(
        .usage, "a smart album needs a query", remedy: "Give words, or options such as --where or --rating.")
    }
    return SmartAlbumQuery(
      predicate: parts.isEmpty ? nil : parts.joined(separator: " AND "), text: options.text,
      sortDescriptors: options.sortDescriptors ?? [], fetchLimit: options.fetchLimit)
  }
}

extension SmartAlbumQuery {
  /// The query as options of `photoctl query`.
  var commandLine: String {
    var words: [String] = []
    if let predicate { words += ["--where", Self.quoted(predicate)] }
    if let text { words += ["--text", Self.quoted(text)] }
    for sort in sortDescriptors { words += ["--sort", sort.key + (sort.ascending ? "" : ":desc")] }
    if let fetchLimit { words += ["--limit", "\(fetchLimit)"] }
    return words.joined(separator: " ")
  }

  /// Predicates have single quotes, which are easier to read within double quotes.
  private static func quoted(_ text: String) -> String {
    text.contains { "\"$`\\!".contains($0) } ? ShellWord.quoted(text) : "\"\(text)\""
  }
}
