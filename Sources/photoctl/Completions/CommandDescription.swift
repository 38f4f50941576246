#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A command as the parser describes it with `photoctl --experimental-dump-help`. Its help has the same source.
struct CommandDescription: Decodable {
  let commandName: String
  let abstract: String?
  let arguments: [Argument]?
  let subcommands: [CommandDescription]?
  let defaultSubcommand: String?
  let shouldDisplay: Bool?

  struct Argument: Decodable {
    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable {
      let kind: String
      let name: String

      var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
    }

    /// One of these kinds, or none that is known here.
    struct Values: Decodable {
      struct List: Decodable { let values: [String] }
      struct Nothing: Decodable {}

      let list: List?
      let file: Nothing?
      let directory: Nothing?
    }

    let kind: Kind
    let shouldDisplay: Bool
    let isRepeating: Bool
    let names: [Name]?
    let allValues: [String]?
    let completionKind: Values?
    let abstract: String?
    let valueName: String?

    func isCalled(_ word: String) -> Bool { names?.contains { $0.text == word } ?? false }

    /// Whether this option can't be combined with that word, because it is the same or its `--no-` form.
    func excludes(_ word: String) -> Bool {
      isCalled(word) || isCalled("--no-" + word.dropFirst(2))
        || (word.hasPrefix("--no-") && isCalled("--" + word.dropFirst(5)))
    }
  }

  /// Parses the description that a program's parser prints.
  init(dump: String) throws {
    struct Dump: Decodable { let command: CommandDescription }
    self = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
  }

  func subcommand(_ name: String) -> CommandDescription? { subcommands?.first { $0.commandName == name } }

  var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }
}
