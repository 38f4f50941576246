import ArgumentParser
import PhotoClient
import PhotoModel

struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists assets: all, those of an album, those for which a predicate is true.",
    discussion: """
      Without options: every visible asset, newest first. What is asked for is asked for together: --camera X-T5 \
      --favorite lists the favorites among that camera's. Nothing found is no error.

      A day is that of the photo: --taken 2024-07-21 and creationDate == '2024-07-21' find what was taken on that day by \
      the clock at the photo's place. In a table, ~ behind a date says that the photo itself has none: the date is that \
      of the file's name, or the oldest modification time that was seen (creationDateSource).

      The list is that of one moment, however slowly the output is read. A photo that leaves the library while the list \
      is printed is left out. While photod scans the folders, a line on standard error says that the list may be \
      incomplete.

      FORMATS
        table   for people; the default on a terminal, at whose edge it is cut
        jsonl   an Asset of org.photod.library a line; the default in a pipe
        json    an array of them
        csv     RFC 4180: a line of names first, lines end with CR LF
        tsv     the same with tabs and LF; \\t, \\n, \\r and \\\\ stand for themselves
        paths   that of each asset's first file, as bytes, a line each
        paths0  the same, each ended by NUL: for xargs -0, and photoctl favorite -0 -

      FIELDS
        --fields chooses those of table, jsonl, json, csv and tsv:
        id mediaType mediaSubtypes creationDate creationDateSource modificationDate
        addedDate pixelWidth pixelHeight orientation durationSeconds title caption
        keywords rating isFavorite isHidden isTrashed burstIdentifier available;
        camera.make .model .lens .exposureSeconds .fNumber .iso
        .focalLengthMillimeters .flashFired;
        location.latitude .longitude .altitude; and of the first file filename path
        byteCount contentType. Several keywords are joined by ';'.

      PREDICATES
        KEY OPERATOR VALUE, joined by AND, OR, NOT and parentheses. Operators are
        == != < <= > >= IN {a, b} BETWEEN {a, b}, and for texts CONTAINS BEGINSWITH
        ENDSWITH LIKE (* and ?) MATCHES (a regular expression). [c] behind one
        ignores case, [d] accents. Values are 'text', numbers, true, false, nil for
        what is absent, and dates: '2024', '2024-07', '2024-07-21T10:00', which mean
        the photo's own time, and '2024-07-21T10:00Z', an instant. Keys are the
        fields, but for mediaSubtypes, and resources.path .filename .byteCount
        .contentType. Of keywords and resources ANY, ALL or NONE is asked:
        ANY keywords == 'sea'.

      SORT KEYS
        creationDate modificationDate addedDate filename byteCount pixelWidth
        pixelHeight durationSeconds rating title mediaType isFavorite albumOrder id
        creationDate sorts by the instant.

      EXAMPLES
        photoctl query --taken 2024-07 --camera 'X-T5'
        photoctl query --album Favorites
        photoctl query beach 2024
        photoctl query --under ~/Pictures/Travel --taken 7d
        photoctl query --keyword sea --keyword sun --rating 4
        photoctl query --album folder:. --sort filename
        photoctl query --type video --sort durationSeconds:desc --limit 5
        photoctl query --where "camera.iso > 3200 AND location.latitude != nil"
        photoctl query --where "title LIKE[cd] '*ete*' AND resources.@count > 1"
        photoctl query --fields filename,creationDate,camera.model --format csv
        photoctl query --format paths0 --favorite | xargs -0 cp -t /media/stick
        photoctl query --count
        cp *.jpg ~/Pictures && photoctl query --synced --count
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var query: QueryOptions

  @Flag(help: "Print only how many there are.")
  var count = false

  @Flag(
    help: ArgumentHelp(
      "First wait until everything that happened in your folders before is in the library, 30 seconds at most."))
  var synced = false

  @Option(help: "How to print them.")
  var format: OutputFormat?

  @OptionGroup var fields: FieldOptions<Asset>

  func validate() throws { try fields.validate(with: format) }

  func run() async throws {
    let library = connection.library
    try await query.explaining(in: "query", library) {
      let options = try query.fetchOptions()
      if synced { _ = try await library.caughtUp() }
      try await warnOfUnfinishedScan(library)
      if count {
        let page = try await library.fetchPage(options, count: 0)
        try Output.put("\(page.total)\n")
        return
      }
      var renderer = ListRenderer<Asset>(
        format: format ?? .standard, fields: fields.chosen, columns: Output.terminalColumns)
      try await QueriedAssets(library: library, options: options).forEachPage { assets in
        try Output.put(try renderer.page(assets))
      }
      try Output.put(renderer.end())
    }
  }

  /// A list made during a scan lacks photos that the scan has not found yet, and nothing in the list shows that.
  private func warnOfUnfinishedScan(_ library: PhotoLibrary) async throws {
    guard let reason = StatusText.reasonOfIncompleteLists(try await library.status().state) else { return }
    Output.complain("photoctl: \(reason), so the list may be incomplete. 'photoctl status --wait' waits for the end.\n")
  }
}
