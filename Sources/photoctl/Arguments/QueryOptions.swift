import ArgumentParser
import PhotoClient
import PhotoModel
import PredicateLanguage

/// The options for assets and their order. query and watch share them.
struct QueryOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Words to search for: each must begin a word of the filename, title, caption, keywords or camera.",
      valueName: "words"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp(
      "Assets of this album: a title, smart:favorites, folder:/path or id:42.", valueName: "name"))
  var album: String?

  @Option(
    help: ArgumentHelp("Assets in this folder or in any folder below it.", valueName: "folder"), completion: .directory)
  var under: String?

  @Option(
    help: ArgumentHelp("Assets of this type: image, video or audio. May be given several times.", valueName: "type"),
    completion: .list(["image", "video", "audio"]))
  var type: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Taken in this year, month, day or range: 2024, 2024-07, 2024-07-21, 2024-07..2024-09, 2024.. or ..2019. Also \
      today, yesterday and the last days, such as 7d.
      """, valueName: "when"),
    transform: { try TakenArgument($0) })
  var taken: TakenArgument?

  @Option(
    help: ArgumentHelp(
      "Each word is in the camera's make or model, without regard to case. Given several times: any of them.",
      valueName: "words"))
  var camera: [String] = []

  @Option(
    help: ArgumentHelp(
      "Has this keyword, without regard to case. Given several times: all of them.", valueName: "word"))
  var keyword: [String] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Rated this or better, 1 to 5.", valueName: "stars"),
    completion: .list(["1", "2", "3", "4", "5"]))
  var rating: Int?

  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Only favorites, or only assets that are none.")
  var favorite: Bool?

  @Flag(help: "Only hidden assets, which are otherwise left out.")
  var hidden = false

  @Flag(
    inversion: .prefixedNo, exclusivity: .exclusive,
    help: "Only assets whose folder or drive is offline, or only the others.")
  var offline: Bool?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Assets for which this, too, is true; see 'photoctl help query'.", valueName: "predicate"))
  var predicate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The same for a text in which \"quotes\" mean just these words, next to each other.", valueName: "text"))
  var text: String?

  @Option(
    help: ArgumentHelp(
      "Sort by this key; further ones break ties. Ascending by default.", valueName: "key[:asc|desc]"))
  var sort: [SortArgument] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("At most this many.", valueName: "n"))
  var limit: Int?

  func validate() throws {
    for type in type where !["image", "video", "audio"].contains(type) {
      throw ValidationError("--type is '\(type)'; types are image, video, audio.")
    }
    for camera in camera where camera.allSatisfy(\.isWhitespace) {
      throw ValidationError("--camera is '\(camera)', which is in every make and model.")
    }
    if let predicate, predicate.allSatisfy(\.isWhitespace) {
      throw ValidationError("--where is '\(predicate)', which asks for nothing.")
    }
    if let text {
      do { _ = try TextQuery(text) } catch { throw ValidationError("--text is '\(text)'. \(error.message)") }
    }
    if !words.isEmpty {
      let words = words.joined(separator: " ")
      do { _ = try TextQuery(words) } catch { throw ValidationError("The words are '\(words)'. \(error.message)") }
    }
    if let rating, !(1...5).contains(rating) { throw ValidationError("--rating is \(rating); it is 1 to 5.") }
    if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it is 1 or more.") }
  }

  /// Whether no option is given.
  var isEmpty: Bool {
    album == nil && type.isEmpty && predicate == nil && searchText == nil && shorthands.isEmpty && sort.isEmpty
      && limit == nil
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
    if let taken { parts.append(taken.predicate) }
    let cameras = camera.map(PredicateText.camera)
    if cameras.count == 1 { parts += cameras }
    if cameras.count > 1 { parts.append("(\(cameras.map { "(\($0))" }.joined(separator: " OR ")))") }
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
    guard let predicate else { return shorthands.isEmpty ? nil : shorthands.joined(separator: " AND ") }
    guard !shorthands.isEmpty else { return predicate }
    if let position = PredicateText.unmatchedParenthesis(in: predicate) {
      throw Failure.predicate(predicate, message: "this parenthesis has no other", position: position, command: "")
    }
    return (["(\(predicate))"] + shorthands).joined(separator: " AND ")
  }

  /// - Throws: ``Failure`` if the parentheses of `--where` don't match.
  func fetchOptions() throws -> FetchOptions {
    FetchOptions(
      collection: album.map(Self.absoluteFolder), mediaTypes: type.isEmpty ? nil : type,
      predicate: try combinedPredicate(), text: searchText,
      sortDescriptors: sort.isEmpty ? nil : sort.map(\.descriptor), fetchLimit: limit,
      includeHidden: hidden ? true : nil)
  }

  /// `folder:photos` means the folder `photos` in the current directory.
  private static func absoluteFolder(_ album: String) -> String {
    let prefix = "folder:"
    guard album.hasPrefix(prefix), album.count > prefix.count else { return album }
    return prefix + AbsolutePath.text(String(album.dropFirst(prefix.count)))
  }

  /// Runs `body`. An error in the predicate is shown with a mark at its position.
  func explaining<R>(
    in command: String, _ library: PhotoLibrary, _ body: () async throws -> R
  ) async throws -> R {
    do {
      return try await body()
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
