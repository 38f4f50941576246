import PredicateLanguage

/// Finds an unknown option in a command line that the parser has refused.
///
/// The parser lets a command check its values first. So its error for `favorite -1` would be that no asset is named.
enum UnknownOption {
  /// - Parameters:
  ///   - arguments: without the name of the program.
  ///   - program: the description of photoctl.
  /// - Returns: nil if all options are known.
  static func failure(in arguments: [String], of program: CommandDescription) -> Failure? {
    var command = program
    var names: [String] = []
    var known = options(of: program)
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--" { return nil }
      if let next = command.subcommand(word) {
        command = next
        names.append(word)
        known += options(of: next)
        if let standard = next.defaultSubcommand.flatMap(next.subcommand) { known += options(of: standard) }
        continue
      }
      guard word.hasPrefix("-"), word != "-" else { continue }
      let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : word
      if let option = known.first(where: { $0.isCalled(name) }) {
        if option.kind == .option, !word.contains("=") { _ = rest.popFirst() }
        continue
      }
      // Several short flags may stand together.
      let isJoined =
        !word.hasPrefix("--") && word.dropFirst().allSatisfy { flag in known.contains { $0.isCalled("-\(flag)") } }
      if !isJoined { return failure(name, known, of: command, called: names.joined(separator: " ")) }
    }
    return nil
  }

  private static func failure(
    _ name: String, _ known: [CommandDescription.Argument], of command: CommandDescription, called words: String
  ) -> Failure {
    let similar = similar(to: name, among: known.flatMap { $0.names ?? [] })
    let isNumber = name.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    let printable = Printable.text(name)
    let takesFiles = command.positionals.contains { $0.completionKind?.file != nil }
    let remedy: String
    if takesFiles, isNumber {
      remedy = "An id has no minus. For a file with this name, write ./\(printable)."
    } else if let similar {
      remedy = "Did you mean '\(similar)'?"
    } else if takesFiles {
      remedy = "For a file with this name, write ./\(printable)."
    } else {
      let standard = command.defaultSubcommand.flatMap(command.subcommand).map(options) ?? []
      let all = (standard + options(of: command)).filter(\.shouldDisplay).compactMap {
        $0.names?.first { $0.kind == "long" }?.text
      }
      let names = all.enumerated().filter { !all[..<$0.offset].contains($0.element) }.map(\.element)
      remedy = "The options are \(names.joined(separator: ", "))."
    }
    return Failure(.usage, "there is no option '\(printable)'", remedy: remedy, command: words)
  }

  /// Dashes and single letters make no two options alike.
  private static func similar(to name: String, among known: [CommandDescription.Argument.Name]) -> String? {
    let word = String(name.drop { $0 == "-" })
    let names = known.filter { $0.name.count > 1 }
    guard word.count > 1, let nearest = Spelling.nearest(to: word, among: names.map(\.name)) else { return nil }
    return names.first { $0.name == nearest }?.text
  }

  private static func options(of command: CommandDescription) -> [CommandDescription.Argument] {
    (command.arguments ?? []).filter { $0.kind != .positional }
  }
}
