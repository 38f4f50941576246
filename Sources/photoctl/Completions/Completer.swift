import PhotoContract
import PhotoModel
import PredicateLanguage

/// The possible continuations of a command line.
enum Candidates: Equatable, Sendable {
  case files
  case folders
  /// With `endsWord`, nothing can follow the candidate in the same word.
  case words([Candidate], endsWord: Bool)

  static let none = Candidates.words([], endsWord: true)
}

struct Candidate: Hashable, Sendable {
  /// The whole word that the program must receive.
  let text: String
  var description: String?

  init(_ text: String, _ description: String? = nil) {
    self.text = text
    self.description = description
  }
}

/// Access to the running daemon. The results are empty if there is none.
struct CompletionSource: Sendable {
  /// `socket` is the argument of `--socket`, if it is on the command line.
  var albums: @Sendable (_ socket: String?) async -> [AssetCollection]
  var keys: @Sendable (_ socket: String?) async -> KnownKeys
  /// The values of a key of ListValues that begin with the prefix, and their numbers of assets.
  var values: @Sendable (_ socket: String?, _ key: String, _ prefix: String) async -> [(value: String, count: Int)]
  var backups: @Sendable (_ socket: String?) async -> [BackupFile]
}

struct KnownKeys: Hashable, Sendable {
  var predicateKeys: [String]
  var sortKeys: [String]
}

/// Finds the possible continuations, in the same way for every shell.
struct Completer {
  let program: CommandDescription
  let source: CompletionSource

  /// - Parameters:
  ///   - words: the words before, without the program's name and without the shell's quotes.
  ///   - current: the word to complete, up to the cursor.
  ///   - quote: the shell's quote that is open at the cursor.
  func candidates(after words: [String], current: String, quote: Unicode.Scalar? = nil) async -> Candidates {
    var line = Line(command: program, quote: quote)
    for word in words { line.take(word) }
    if let option = line.awaiting { return await values(of: option, current, line) }
    if !line.isPastOptions, current.hasPrefix("--"), current.contains("=") { line.takeDefault() }
    if !line.isPastOptions, current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      guard let option = line.option(String(current[..<equals])) else { return .none }
      let prefix = String(current[...equals])
      return await values(of: option, String(current[current.index(after: equals)...]), line).prefixed(by: prefix)
    }
    if !line.isPastOptions, current.hasPrefix("-") {
      line.takeDefault()
      return .words(options(line), endsWord: true)
    }
    if line.isAtSubcommand { return .words(subcommands(of: line.command), endsWord: true) }
    // `help` takes the name of a command, but its description does not say so.
    if line.command.commandName == "help" { return .words(subcommands(of: program), endsWord: true) }
    let positionals = line.command.positionals
    guard let last = positionals.last else { return .none }
    if line.positionalCount < positionals.count {
      return await values(of: positionals[line.positionalCount], current, line)
    }
    return last.isRepeating ? await values(of: last, current, line) : .none
  }

  private func subcommands(of command: CommandDescription) -> [Candidate] {
    (command.subcommands ?? []).filter { $0.shouldDisplay != false }.map { Candidate($0.commandName, $0.abstract) }
  }

  /// The options that can still be given.
  private func options(_ line: Line) -> [Candidate] {
    (line.command.arguments ?? []).filter { $0.kind != .positional && $0.shouldDisplay }
      .filter { argument in argument.isRepeating || !line.used.contains(where: argument.excludes) }
      .flatMap { argument in (argument.names ?? []).map { Candidate($0.text, argument.abstract) } }
  }

  private func values(
    of argument: CommandDescription.Argument, _ current: String, _ line: Line
  ) async -> Candidates {
    let values = argument.completionKind
    if let list = values?.list?.values ?? argument.allValues {
      return .words(list.map { Candidate($0) }, endsWord: true)
    }
    if line.command.commandName == "restore", argument.kind == .positional, !current.contains("/") {
      let backups = Self.backups(await source.backups(line.socket), current)
      if !backups.isEmpty { return .words(backups, endsWord: true) }
    }
    if values?.file != nil { return .files }
    if values?.directory != nil { return .folders }
    let names = (argument.names ?? []).map(\.text)
    if names.contains("--in") || names.contains("--to") {
      return .words(
        Self.albums(await source.albums(line.socket), current, kinds: [.folder]), endsWord: true)
    }
    if let kinds = Self.kinds(of: argument, line) {
      let own = await source.albums(line.socket).filter { $0.subtype == nil }
      return .words(Self.albums(own, current, kinds: kinds), endsWord: true)
    }
    if names.contains("--album") || argument.valueName == "album" {
      return .words(Self.albums(await source.albums(line.socket), current), endsWord: true)
    }
    for (option, keys) in Self.valueKeys where names.contains(option) {
      return .words(await self.values(of: keys, current, line), endsWord: true)
    }
    if names.contains("--sort") {
      return .words(Self.sortKeys(await source.keys(line.socket).sortKeys, current), endsWord: true)
    }
    if names.contains("--where") {
      let predicate = PredicateCompletion(source: source, socket: line.socket, shellQuote: line.quote)
      return .words(await predicate.candidates(current), endsWord: false)
    }
    if names.contains("--fields") {
      let fields = line.command.commandName == "list" ? ListedAlbum.fields.map(\.name) : Asset.fields.map(\.name)
      return .words(Self.fields(fields, current), endsWord: false)
    }
    return .none
  }

  /// The kinds of the user's collections that an argument can name; nil if it names none, or also other albums.
  private static func kinds(of argument: CommandDescription.Argument, _ line: Line) -> [AssetCollection.Kind]? {
    if argument.valueName == "title", line.command.commandName == "smart" {
      return line.used.contains("--edit") ? [.smartAlbum] : nil
    }
    guard argument.valueName == "album" else { return nil }
    switch line.command.commandName {
    case "show": return nil
    // Only an album has photos of its own.
    case "add", "remove", "cover": return [.album]
    default: return [.smartAlbum, .album, .folder]
    }
  }

  /// The keys whose values these options take.
  private static let valueKeys = [
    "--camera": ["camera.model", "camera.make"], "--lens": ["camera.lens"], "--keyword": ["keywords"],
  ]

  /// The values of the library, each once.
  private func values(of keys: [String], _ current: String, _ line: Line) async -> [Candidate] {
    var seen: Set<String> = []
    var candidates: [Candidate] = []
    for key in keys {
      for (value, count) in await source.values(line.socket, key, current) where seen.insert(value).inserted {
        candidates.append(Candidate(value, Text.count(count, "asset", "assets")))
      }
    }
    return candidates
  }

  /// The names of photod's own backups, newest first, which `restore` takes without their folder.
  static func backups(_ backups: [BackupFile], _ current: String) -> [Candidate] {
    backups.compactMap { backup in
      guard let name = backup.path.split(separator: "/").last, name.hasPrefix(current), !backup.path.hasPrefix("file:")
      else { return nil }
      let count = backup.assetCount.map { ", " + Text.count($0, "asset", "assets") } ?? ""
      return Candidate(String(name), WatchText.minute(backup.date) + count)
    }
  }

  /// The title if it names exactly one album, otherwise an unambiguous name.
  ///
  /// - Parameter kinds: the kinds of albums that can follow, in the order in which a bare title is looked up.
  static func albums(
    _ albums: [AssetCollection], _ current: String,
    kinds: [AssetCollection.Kind] = [.smartAlbum, .album, .folderAlbum]
  ) -> [Candidate] {
    var named: Set<String> = []
    var candidates: [Candidate] = []
    for kind in kinds {
      let ofKind = albums.filter { $0.kind == kind }
      var counts: [String: Int] = [:]
      for album in ofKind { counts[CaseFolding.fold(album.title), default: 0] += 1 }
      for album in ofKind {
        let folded = CaseFolding.fold(album.title)
        let description = Text.count(album.count, "asset", "assets")
        let isPlain = counts[folded] == 1 && !named.contains(folded) && !hasPrefix(album.title)
        let words: [AssetCollection.Kind: String] = [.album: "album:", .smartAlbum: "smart:"]
        let full =
          album.path.map { "folder:\($0)" } ?? words[kind].map { $0 + (album.subtype ?? album.title) }
          ?? "id:\(album.id)"
        if current.contains(":"), full.hasPrefix(current) {
          candidates.append(Candidate(full, description))
        } else if isPlain || !current.isEmpty {
          // Albums with a prefix are many, so they are shown only after something has been typed.
          candidates.append(Candidate(isPlain ? album.title : full, description))
        }
      }
      named.formUnion(counts.keys)
    }
    return candidates
  }

  private static func hasPrefix(_ title: String) -> Bool {
    ["smart:", "album:", "folder:", "id:"].contains { title.lowercased().hasPrefix($0) }
  }

  /// The directions follow once the key is complete.
  static func sortKeys(_ keys: [String], _ current: String) -> [Candidate] {
    keys.flatMap { key in
      let directions = current == key || current.hasPrefix(key + ":") ? ["\(key):asc", "\(key):desc"] : []
      return (current.contains(":") ? directions : [key] + directions).map { Candidate($0) }
    }
  }

  /// Candidates for the last name. The names before it stay.
  static func fields(_ fields: [String], _ current: String) -> [Candidate] {
    let before = current.lastIndex(of: ",").map { String(current[...$0]) } ?? ""
    let used = Set(before.split(separator: ",").map(String.init))
    return fields.filter { !used.contains($0) }.map { Candidate(before + $0) }
  }
}

extension Candidates {
  fileprivate func prefixed(by prefix: String) -> Candidates {
    guard case .words(let words, let endsWord) = self else { return self }
    return .words(words.map { Candidate(prefix + $0.text, $0.description) }, endsWord: endsWord)
  }
}

/// The meaning of the words before the cursor.
private struct Line {
  private(set) var command: CommandDescription
  private(set) var awaiting: CommandDescription.Argument?
  private(set) var used: [String] = []
  private(set) var positionalCount = 0
  private(set) var isPastOptions = false
  private(set) var socket: String?
  /// The shell's quote that is open at the cursor.
  let quote: Unicode.Scalar?

  init(command: CommandDescription, quote: Unicode.Scalar?) {
    self.command = command
    self.quote = quote
  }

  var isAtSubcommand: Bool { positionalCount == 0 && !(command.subcommands ?? []).isEmpty }

  /// The command to which an option belongs: without the name of a subcommand, the default one.
  mutating func takeDefault() {
    if isAtSubcommand, let name = command.defaultSubcommand, let subcommand = command.subcommand(name) {
      command = subcommand
    }
  }

  func option(_ word: String) -> CommandDescription.Argument? {
    command.arguments?.first { $0.kind == .option && $0.isCalled(word) }
  }

  mutating func take(_ word: String) {
    if let option = awaiting {
      if option.isCalled("--socket") { socket = word }
      awaiting = nil
    } else if !isPastOptions, word == "--" {
      isPastOptions = true
    } else if !isPastOptions, word.hasPrefix("-"), word != "-" {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      takeDefault()
      used.append(parts[0])
      if parts.count == 1 {
        awaiting = option(word)
      } else if parts[0] == "--socket" {
        socket = parts[1]
      }
    } else if isAtSubcommand, let subcommand = command.subcommand(word) {
      command = subcommand
      positionalCount = 0
    } else {
      positionalCount += 1
    }
  }
}
