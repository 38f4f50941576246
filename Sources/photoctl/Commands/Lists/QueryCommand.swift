import ArgumentParser
import PhotoClient
import PhotoModel

struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists assets: all of them, those of an album, or those that match.",
    discussion: """
      Without options, it lists every visible asset, newest first. Several options must all match: --camera X-T5 \
      --favorite lists the favorites of that camera. An empty list is no error.

      A day is the local day of the photo's own place. So --taken 2024-07-21 and creationDate == '2024-07-21' list the \
      photos that were taken on that day by the clock there. In a table, ~ after a date means that the photo itself \
      has no date. Then the date is that of the file's name, or the oldest modification time that photod saw \
      (creationDateSource).

      --album folder:PATH lists the photos directly in that folder. --under PATH also lists those in all folders below \
      it.

      The list is that of one moment, even if its output is read slowly. A photo that leaves the library while the \
      list is printed is left out. While photod scans the folders, a line on standard error says that the list may be \
      incomplete.

      FORMATS
        table   for people, cut at the edge of the terminal; default on a terminal
        jsonl   an Asset of org.photod.library on each line; default in a pipe
        json    an array of assets
        csv     RFC 4180: the first line has the names, lines end with CR LF
        tsv     as csv, with tabs and LF; \\t, \\n, \\r and \\\\ are escapes
        paths   the path of each asset's first file, as bytes, one on each line
        paths0  the same paths, each ended by NUL, as for `xargs -0`

      FIELDS
        --fields chooses the fields of table, jsonl, json, csv and tsv. A table, csv
        and tsv join several keywords by ';'.

        asset     id mediaType mediaSubtypes creationDate creationDateSource
                  modificationDate addedDate pixelWidth pixelHeight orientation
                  durationSeconds title caption keywords rating isFavorite isHidden
                  isTrashed burstIdentifier available revision
        camera    camera.make camera.model camera.lens camera.exposureSeconds
                  camera.fNumber camera.iso camera.focalLengthMillimeters
                  camera.flashFired
        place     location.latitude location.longitude location.altitude
        file      filename path byteCount contentType

      PREDICATES
        A predicate is KEY OPERATOR VALUE, such as camera.iso > 3200. AND, OR, NOT
        and parentheses join several. Keys are the fields, except revision, and
        keywords.@count, the number of keywords. Values are 'text', numbers, true,
        false, nil for an absent value, and dates.

        == != < <= > >=          compare two values
        IN {a, b}                is one of these values
        BETWEEN {a, b}           is a, b, or between them
        CONTAINS                 a text contains this text
        BEGINSWITH, ENDSWITH     a text begins or ends with this text
        LIKE                     a text is like a pattern with * and ?
        MATCHES                  a text matches a regular expression
        NEAR {52.52, 13.405, 5}  location is within 5 kilometres of this place
        ANY, ALL, NONE           before keywords and mediaSubtypes, which are lists:
                                 NONE mediaSubtypes == 'screenshot'

        After an operator for texts, [c] ignores case, [d] accents, and [cd] both.
        The dates '2024', '2024-07' and '2024-07-21T10:00' are in the photo's own
        local time, and '2024-07-21T10:00Z' is an instant.

      SUBTYPES
        livePhoto panorama hdr screenshot raw animated motionPhoto burst depth

        A livePhoto has its film in a file of its own, and a motionPhoto in the
        same file. The album Live Photos has both.

      SORT KEYS
        creationDate modificationDate addedDate filename byteCount pixelWidth
        pixelHeight durationSeconds rating title mediaType isFavorite albumOrder id

        creationDate sorts by the instant, not by the clock at the photo's place.

      EXAMPLES
        photoctl query --taken 2024-07 --camera 'X-T5'
        photoctl query --album Favorites
        photoctl query beach --taken 2024
        photoctl query --under ~/Pictures/Travel --taken 7d
        photoctl query --keyword sea --keyword sun --rating 4
        photoctl query --album folder:. --sort filename
        photoctl query --near 52.52,13.405,5 --subtype livePhoto
        photoctl query --type video --sort durationSeconds:desc --limit 5
        photoctl query --where "camera.iso > 3200 AND location.latitude != nil"
        photoctl query --where "title LIKE[cd] '*ete*' AND keywords.@count > 1"
        photoctl query --fields filename,creationDate,camera.model --format csv
        photoctl query --format paths0 --favorite | xargs -0 cp -t /media/stick
        photoctl query --count
        cp *.jpg ~/Pictures && photoctl query --synced --count
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var query: QueryOptions

  @Flag(help: "Print only the number of assets.")
  var count = false

  @Flag(
    help: ArgumentHelp(
      "First wait until the library has all present changes of your folders, at most 30 seconds."))
  var synced = false

  @OptionGroup var formats: FormatOptions<OutputFormat>

  @OptionGroup var fields: FieldOptions<Asset>

  func validate() throws { try fields.validate(with: formats.chosen) }

  func run() async throws {
    let library = connection.library
    let query = try await query.inFolders(of: library)
    try await query.explaining(in: "query", library) {
      let options = try query.fetchOptions()
      if synced { _ = try await library.caughtUp() }
      try await library.warnOfUnfinishedScan()
      if count {
        let page = try await library.fetchPage(options, count: 0)
        struct Count: Encodable { let count: Int }
        try Output.put(
          formats.chosen == .json ? JSONText.indented(Count(count: page.total)) : Array("\(page.total)\n".utf8))
        return
      }
      let format = formats.chosen ?? .standard
      var renderer = ListRenderer<Asset>(format: format, fields: fields.chosen, columns: Output.terminalColumns)
      let found = try await QueriedAssets(library: library, options: options).forEachPage { assets in
        try Output.put(try renderer.page(assets))
      }
      try Output.put(renderer.end())
      // A person who gets an empty table might wait for it, or doubt that the command has worked.
      if found == 0, format == .table { Output.complain("No photos were found.\n") }
    }
  }
}

extension PhotoLibrary {
  /// A list made during a scan lacks photos that the scan has not found yet, and nothing in the list shows that.
  func warnOfUnfinishedScan() async throws {
    guard let reason = StatusText.reasonOfIncompleteLists(try await status().state) else { return }
    Output.complain(
      "photoctl: \(reason), so the list may be incomplete. `photoctl status --wait` waits for the end of the scan.\n")
  }
}
