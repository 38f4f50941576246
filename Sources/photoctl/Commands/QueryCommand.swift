import ArgumentParser
import PhotoClient
import PhotoModel

struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists assets: all, those of an album, those for which a predicate is true.",
    discussion: """
      Without options: every visible asset, newest first. Nothing found is no error. The formats are table (on a \
      terminal), jsonl (in a pipe: an Asset of org.photod.library a line), json (an array of them) and paths (that of \
      each asset's first file, as bytes).

      PREDICATES
        KEY OPERATOR VALUE, joined by AND, OR, NOT and parentheses. Operators are
        == != < <= > >= CONTAINS BEGINSWITH IN {a, b}; values 'text', numbers, true,
        false, nil for what is absent, and dates as '2024-01-31'. Case matters.
        Keys: id mediaType creationDate modificationDate addedDate pixelWidth
        pixelHeight orientation durationSeconds title caption rating isFavorite
        isHidden isTrashed burstIdentifier available; camera.make .model .lens
        .exposureSeconds .fNumber .iso .focalLengthMillimeters .flashFired;
        location.latitude .longitude .altitude; and of the first file filename path
        byteCount contentType.

      SORT KEYS
        creationDate modificationDate addedDate filename byteCount pixelWidth
        pixelHeight durationSeconds rating title mediaType isFavorite albumOrder id

      EXAMPLES
        photoctl query --album Favorites
        photoctl query --album folder:. --sort filename
        photoctl query --type video --sort durationSeconds:desc --limit 5
        photoctl query --where "rating >= 4 AND creationDate >= '2024-01-01'"
        photoctl query --where "camera.model CONTAINS 'X-T'" --sort filename:desc
        photoctl query --format paths | tr '\\n' '\\0' | xargs -0 cp -t /media/stick
        photoctl query --count
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var query: QueryOptions

  @Flag(help: "Print only how many there are.")
  var count = false

  @Option(help: "How to print them: table, json, jsonl or paths.")
  var format: OutputFormat?

  func run() async throws {
    let library = connection.library
    try await query.explaining(in: "query") {
      if count {
        let page = try await library.fetchPage(query.fetchOptions, count: 0)
        try Output.put("\(page.total)\n")
        return
      }
      var renderer = ListRenderer<Asset>(format: format ?? .standard)
      for try await page in library.fetch(query.fetchOptions) {
        try Output.put(try renderer.page(page.assets))
      }
      try Output.put(renderer.end())
    }
  }
}
