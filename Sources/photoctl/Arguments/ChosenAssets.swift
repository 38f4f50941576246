import ArgumentParser
import PhotoClient
import PhotoModel

/// The assets that a command changes: those that it names, and those of a predicate.
struct ChosenAssets: ParsableArguments {
  @Flag(
    name: [.customShort("0"), .customLong("null")],
    help: "Entries of standard input end with NUL, as `--format paths0` prints them, and not with a line break.")
  var isNullEnded = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Also all visible assets for which this predicate is true. `photoctl help query` describes predicates.",
      valueName: "predicate"))
  var predicate: String?

  @Argument(
    help: ArgumentHelp(
      "Ids, or paths of files; - reads them from standard input (also lines of --format jsonl).", valueName: "id|path"),
    completion: .file())
  var arguments: [AssetArgument] = []

  /// Whether the command line names no asset.
  var isEmpty: Bool { arguments.isEmpty && predicate == nil }

  func validate() throws {
    if isNullEnded && !arguments.contains(.path("-")) {
      throw ValidationError("-0 needs standard input. Write - for the ids and paths that come from there.")
    }
    if let predicate, predicate.allSatisfy(\.isWhitespace) {
      throw ValidationError("--where is '\(predicate)'; it must be a predicate.")
    }
  }

  /// - Throws: `ValidationError` if the command line names no asset.
  func validateSome() throws {
    guard isEmpty else { return }
    throw ValidationError("Name the assets: ids, paths, - for standard input, or --where.")
  }

  /// The assets in the order of the command line, each once. Those of the predicate come last.
  ///
  /// - Throws: ``Failure``, or ``PhotoLibraryError``.
  func find(in library: PhotoLibrary) async throws -> FoundAssets {
    var (ids, names) = try await library.ids(
      of: try AssetArguments.names(of: arguments, isNullEnded: isNullEnded))
    if let predicate {
      var known = Set(ids)
      for try await page in library.fetchIDs(FetchOptions(predicate: predicate)) {
        ids += page.ids.filter { known.insert($0).inserted }
      }
    }
    return FoundAssets(ids: ids, names: names)
  }
}

/// Assets with their names on the command line, for messages.
struct FoundAssets {
  var ids: [AssetID]
  var names: [AssetID: NamedAsset]
}
