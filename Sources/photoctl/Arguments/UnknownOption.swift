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
      if !isJoined { return failure(name, known, command: names.joined(separator: " ")) }
    }
    return nil
  }

  private static func failure(
    _ name: String, _ known: [CommandDescription.Argument], command: String
  ) -> Failure {
    let similar = Spelling.nearest(to: name, among: known.flatMap { $0.names ?? [] }.map(\.text))
    let isNumber = name.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    let printable = Printable.text(name)
    return Failure(
      .usage, "there is no option '\(printable)'",
      remedy: isNumber
        ? "An id has no minus. For a file with this name, write ./\(printable)."
        : similar.map { "Did you mean '\($0)'?" } ?? "For a file with this name, write ./\(printable).",
      command: command)
  }

  private static func options(of command: CommandDescription) -> [CommandDescription.Argument] {
    (command.arguments ?? []).filter { $0.kind != .positional }
  }
}
