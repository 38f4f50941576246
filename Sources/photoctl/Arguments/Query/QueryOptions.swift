import ArgumentParser
import PhotoClient
import PhotoModel
import PredicateLanguage

/// The options that choose assets. query, watch and stats share them.
struct FilterOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Words to search for. Each must begin a word of the filename, title, caption, keywords, camera or lens.",
      valueName: "words"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only assets of this album: a title, smart:favorites, folder:/path or id:42.", valueName: "name"))
  var album: String?

  @Option(
    help: ArgumentHelp("Only assets in this folder or in any folder below it.", valueName: "folder"),
    completion: .directory)
  var under: String?

  @Option(
    help: ArgumentHelp(
      "Only assets of this type: image, video or audio. May be given several times.", valueName: "type"),
    completion: .list(["image", "video", "audio"]))
  var type: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only assets with this subtype, such as screenshot, raw or livePhoto. If it is given several times, one of them must match.",
      valueName: "subtype"),
    completion: .list(MediaSubtypes.each.flatMap(\.names)))
  var subtype: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only assets that were taken at most KM kilometres from this place, in degrees. South and west are negative: --near -33.86,151.21,20.",
      valueName: "lat,lon,km"),
    transform: { try NearArgument($0) })
  var near: NearArgument?

  @Option(
    help: ArgumentHelp(
      """
      Only assets of this year, month, day or range: 2024, 2024-07, 2024-07-21, 2024-07..2024-09, 2024.. or ..2019; \
      also today, yesterday, or the last days, such as 7d.
      """, valueName: "when"),
    transform: { try TakenArgument($0) })
  var taken: TakenArgument?

  @Option(
    help: ArgumentHelp(
      "Only assets of a camera whose make or model contains each of these words, in any case. If it is given several times, one of them must match.",
      valueName: "words"))
  var camera: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only assets of a lens whose name contains each of these words, in any case. If it is given several times, one of them must match.",
      valueName: "words"))
  var lens: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only assets with this keyword, in any case. If it is given several times, all of them must match.",
      valueName: "word"))
  var keyword: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only assets with this rating or a better one, 1 to 5.", valueName: "stars"),
    completion: .list(["1", "2", "3", "4", "5"]), transform: { try NumberArgument.whole($0, "a number from 1 to 5") })
  var rating: Int?

  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Only favorites, or only assets that are no favorites.")
  var favorite: Bool?

  @Flag(help: "Only hidden assets. Without this option, they are left out.")
  var hidden = false

  @Flag(
    inversion: .prefixedNo, exclusivity: .exclusive,
    help: "Only assets whose folder or drive is offline, or only the other assets.")
  var offline: Bool?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only assets for which this predicate is true. `photoctl help query` describes predicates.",
      valueName: "predicate"))
  var predicate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Words to search for, as one argument. Words in \"quotes\" must stand next to each other in this order.",
      valueName: "text"))
  var text: String?

  func validate() throws {
    try AlbumName.check(album, "--album")
    for type in type where !["image", "video", "audio"].contains(type) {
      throw ValidationError("--type is '\(type)'; it must be image, video or audio.")
    }
    let subtypes = MediaSubtypes.each.flatMap(\.names)
    for subtype in subtype where !subtypes.contains(subtype) {
      let similar = Spelling.nearest(to: subtype, among: subtypes).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError(
        "--subtype is '\(subtype)'; it must be one of \(subtypes.joined(separator: ", ")).\(similar)")
    }
    for camera in camera where camera.allSatisfy(\.isWhitespace) {
      throw ValidationError("--camera is '\(camera)'; it must contain a word.")
    }
    for lens in lens where lens.allSatisfy(\.isWhitespace) {
      throw ValidationError("--lens is '\(lens)'; it must contain a word.")
    }
    for keyword in keyword where keyword.allSatisfy(\.isWhitespace) {
      throw ValidationError("--keyword is '\(keyword)'; it must be a keyword.")
    }
    if let predicate, predicate.allSatisfy(\.isWhitespace) {
      throw ValidationError("--where is '\(predicate)'; it must be a predicate.")
    }
    if let text {
      do { _ = try TextQuery(text) } catch { throw ValidationError("--text is '\(text)'. \(error.message)") }
    }
    if !words.isEmpty {
      let words = words.joined(separator: " ")
      do { _ = try TextQuery(words) } catch { throw ValidationError("The words are '\(words)'. \(error.message)") }
    }
    if let rating, !(1...5).contains(rating) { throw ValidationError("--rating is \(rating); it must be 1 to 5.") }
    try TextBound.check("--where", predicate, "FetchOptions.predicate")
    try TextBound.check("The text to search for", searchText, "FetchOptions.text")
  }

  /// Whether no option is given.
  var isEmpty: Bool {
    album == nil && type.isEmpty && predicate == nil && searchText == nil && shorthands.isEmpty
  }

  /// The words and the text of the search together, because all of them must match.
  private var searchText: String? {
    let parts = words + [text].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  /// The shorthands as parts of a predicate that must all be true.
  private var shorthands: [String] {
    var parts: [String] = []
    if let under { parts.append(PredicateText.under(AbsolutePath.bytes(under))) }
    if !subtype.isEmpty {
      parts.append("ANY mediaSubtypes IN {\(subtype.map(PredicateText.quoted).joined(separator: ", "))}")
    }
    if let near { parts.append(near.predicate) }
    if let taken { parts.append(taken.predicate) }
    for alternatives in [camera.map(PredicateText.camera), lens.map(PredicateText.lens)] {
      if alternatives.count == 1 { parts += alternatives }
      if alternatives.count > 1 { parts.append("(\(alternatives.map { "(\($0))" }.joined(separator: " OR ")))") }
    }
    parts += keyword.map(PredicateText.keyword)
    if let rating { parts.append("rating >= \(rating)") }
    if let favorite { parts.append("isFavorite == \(favorite)") }
    if hidden { parts.append("isHidden == true") }
    if let offline { parts.append("available == \(!offline)") }
    return parts
  }

  /// Joins `--where` and the shorthands. `--where` comes first, and is in parentheses if shorthands follow.
  ///
  /// - Throws: ``Failure`` if the parentheses of `--where` don't match.
  private func combinedPredicate() throws -> String? {
    let shorthands = shorthands
    guard let predicate else { return try shorthands.isEmpty ? nil : Self.joined(shorthands) }
    guard !shorthands.isEmpty else { return predicate }
    if let position = PredicateText.unmatchedParenthesis(in: predicate) {
      throw Failure.predicate(
        predicate, message: "this parenthesis has no counterpart", position: position, command: "")
    }
    return try Self.joined(["(\(predicate))"] + shorthands)
  }

  /// - Throws: ``Failure`` if the options together make a predicate that is too long.
  private static func joined(_ parts: [String]) throws -> String {
    let predicate = parts.joined(separator: " AND ")
    if let problem = TextBound.problem("the predicate of these options", predicate, "FetchOptions.predicate") {
      throw Failure(.usage, problem, remedy: "Use fewer or shorter options.")
    }
    return predicate
  }

  /// These options with the paths by which photod knows the folders.
  ///
  /// - Parameter mayAppear: a folder below a root may be created later.
  /// - Throws: ``Failure`` for `--under` with a folder in which the library can't have photos, or that exists neither on
  ///   disk nor in the library.
  func inFolders(of library: PhotoLibrary, mayAppear: Bool = false) async throws -> FilterOptions {
    guard under != nil || album?.hasPrefix(LibraryFolders.albumPrefix) == true else { return self }
    let folders = try await library.folders()
    var options = self
    if let under {
      let folder = folders.resolved(AbsolutePath.bytes(under))
      // Photos of a folder that is no longer configured stay in the library.
      let predicate = PredicateText.under(folder)
      if !folders.mayContain(folder),
        try await library.fetchPage(FetchOptions(predicate: predicate, includeHidden: true), count: 0).total == 0
      {
        guard AbsolutePath.mayExist(folder) else { throw Self.noFolder(under) }
        throw Failure(
          .noInput, "'\(Printable.text(under))' is in none of the library's folders",
          remedy: "`photoctl status` lists them.")
      }
      if !mayAppear, folders.knowsRoots, !AbsolutePath.mayExist(folder), try await !library.knows(folder, folders) {
        throw Self.noFolder(under)
      }
      options.under = FilePath.text(folder)
    }
    options.album = album.map(folders.album)
    return options
  }

  private static func noFolder(_ path: String) -> Failure {
    Failure(
      .noInput, "there is no folder '\(Printable.text(path))', on disk or in the library",
      remedy: "Check the spelling. `photoctl albums --fields path` lists the folders of the library.")
  }

  /// - Throws: ``Failure`` if the parentheses of `--where` don't match.
  func fetchOptions() throws -> FetchOptions {
    FetchOptions(
      collection: album.map(Self.absoluteFolder), mediaTypes: type.isEmpty ? nil : type,
      predicate: try combinedPredicate(), text: searchText, includeHidden: hidden ? true : nil)
  }

  /// `folder:photos` means the folder `photos` in the current directory.
  private static func absoluteFolder(_ album: String) -> String {
    let prefix = LibraryFolders.albumPrefix
    guard album.hasPrefix(prefix), album.count > prefix.count else { return album }
    return prefix + AbsolutePath.text(String(album.dropFirst(prefix.count)))
  }

  /// Runs `body`. An error in the predicate is shown with a mark at its position.
  func explaining<R>(
    in command: String, _ library: PhotoLibrary, _ body: () async throws -> R
  ) async throws -> R {
    do {
      return try await library.distinguishingAlbums(body)
    } catch PhotoLibraryError.invalidPredicate(let message, let position) {
      let sent = try combinedPredicate() ?? ""
      // The user's predicate is checked alone, without the shorthands around it.
      if let predicate, predicate != sent {
        do {
          _ = try await library.fetchPage(FetchOptions(predicate: predicate), count: 0)
        } catch PhotoLibraryError.invalidPredicate(let message, let position) {
          throw Failure.predicate(predicate, message: message, position: position, command: command)
        }
      }
      // An older photod may not know the predicate for a shorthand.
      throw Failure.predicate(sent, message: message, position: position, command: command)
    }
  }
}

/// The options for assets and their order. query and watch share them.
struct QueryOptions: ParsableArguments {
  @OptionGroup var filter: FilterOptions

  @Option(
    help: ArgumentHelp(
      "Sort by this key, ascending by default. Further keys order assets with equal keys.", valueName: "key[:asc|desc]")
  )
  var sort: [SortArgument] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("At most this many assets.", valueName: "n"),
    transform: { try NumberArgument.whole($0, "a number, 1 or more") })
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it must be 1 or more.") }
    for sort in sort { try TextBound.check("--sort", sort.descriptor.key, "SortDescriptor.key") }
  }

  /// Whether no option is given.
  var isEmpty: Bool { filter.isEmpty && sort.isEmpty && limit == nil }

  /// These options with the paths by which photod knows the folders.
  ///
  /// - Parameter mayAppear: a folder below a root may be created later.
  /// - Throws: the errors of ``FilterOptions/inFolders(of:mayAppear:)``.
  func inFolders(of library: PhotoLibrary, mayAppear: Bool = false) async throws -> QueryOptions {
    var options = self
    options.filter = try await filter.inFolders(of: library, mayAppear: mayAppear)
    return options
  }

  /// - Throws: ``Failure`` if the parentheses of `--where` don't match.
  func fetchOptions() throws -> FetchOptions {
    var options = try filter.fetchOptions()
    options.sortDescriptors = sort.isEmpty ? nil : sort.map(\.descriptor)
    options.fetchLimit = limit
    return options
  }

  /// Runs `body`. An error in the predicate is shown with a mark at its position.
  func explaining<R>(
    in command: String, _ library: PhotoLibrary, _ body: () async throws -> R
  ) async throws -> R {
    try await filter.explaining(in: command, library, body)
  }
}

/// `key`, `key:asc` or `key:desc`.
struct SortArgument: ExpressibleByArgument, Hashable, Sendable {
  let descriptor: SortDescriptor

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, parts.count <= 2 else { return nil }
    switch parts.dropFirst().first {
    case nil, "asc": descriptor = SortDescriptor(key: String(key), ascending: true)
    case "desc": descriptor = SortDescriptor(key: String(key), ascending: false)
    default: return nil
    }
  }
}
