import ArgumentParser
import PhotoClient
import PhotoModel

/// The assets that a command changes: those that it names, and those that a query finds.
struct ChosenAssets: ParsableArguments {
  @Flag(
    name: [.customShort("0"), .customLong("null")],
    help: "Entries of standard input end with NUL, as `--format paths0` prints them, and not with a line break.")
  var isNullEnded = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Also all assets for which this predicate is true. `photoctl help query` describes predicates.",
      valueName: "predicate"))
  var predicate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Also all assets that have these words. If several of --where, --text, --album, --under and --taken are given, all must match.",
      valueName: "words"))
  var text: String?

  @Option(
    name: .customLong("album"),
    help: ArgumentHelp("Also all assets of this album.", valueName: "name"))
  var collection: String?

  @Option(
    help: ArgumentHelp("Also all assets in this folder or in any folder below it.", valueName: "folder"),
    completion: .directory)
  var under: String?

  @Option(
    help: ArgumentHelp(
      "Also all assets of this year, month, day or range, such as 2024-07 or 7d.",
      valueName: "when"),
    transform: { try TakenArgument($0) })
  var taken: TakenArgument?

  @Flag(
    name: .customLong("hidden"),
    help: "The options above find only hidden assets. Without it, they leave hidden assets out.")
  var findsHidden = false

  @Argument(
    help: ArgumentHelp(
      "Ids, or paths of files; - reads them from standard input (also lines of --format jsonl).", valueName: "id|path"),
    completion: .file())
  var arguments: [AssetArgument] = []

  /// Whether the command line has a query.
  private var hasQuery: Bool {
    predicate != nil || text != nil || collection != nil || under != nil || taken != nil || findsHidden
  }

  func validate() throws {
    if isNullEnded && !arguments.contains(.path("-")) {
      throw ValidationError("-0 needs standard input. Write - for the ids and paths that come from there.")
    }
    try filter().validate()
  }

  /// - Throws: `ValidationError` if the command line names no asset.
  func validateSome() throws {
    guard arguments.isEmpty && !hasQuery else { return }
    throw ValidationError("Name the photos: ids, paths, - for standard input, or a query such as --where.")
  }

  /// The query as that of `photoctl query`.
  private func filter() throws -> FilterOptions {
    var filter = try FilterOptions.parse([])
    (filter.predicate, filter.text, filter.album) = (predicate, text, collection)
    (filter.under, filter.taken, filter.hidden) = (under, taken, findsHidden)
    return filter
  }

  /// The assets in the order of the command line, each once. The assets of the query come last.
  ///
  /// - Parameter onlyHidden: the query finds only hidden assets, also without `--hidden`.
  /// - Throws: ``Failure``, or ``PhotoLibraryError``.
  func find(in library: PhotoLibrary, onlyHidden: Bool = false) async throws -> FoundAssets {
    var (ids, names) = try await library.ids(
      of: try AssetArguments.names(of: arguments, isNullEnded: isNullEnded))
    if hasQuery {
      var filter = try filter()
      filter.hidden = filter.hidden || onlyHidden
      filter = try await filter.inFolders(of: library)
      let options = try filter.fetchOptions()
      var known = Set(ids)
      let found = try await filter.explaining(in: "", library) { try await library.allIDs(options) }
      ids += found.filter { known.insert($0).inserted }
    }
    return FoundAssets(ids: ids, names: names)
  }
}

/// Assets with their names on the command line, for messages.
struct FoundAssets {
  var ids: [AssetID]
  var names: [AssetID: NamedAsset]
}
