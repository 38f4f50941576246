import ArgumentParser
import PhotoModel
import PredicateLanguage

/// Improves the messages of the command line's parser.
enum UsageError {
  /// The failure for an unknown command, also after `help`, which the parser would otherwise handle by itself.
  ///
  /// - Parameter arguments: without the name of the program.
  static func unknownCommand(in arguments: [String]) -> Failure? {
    var rest = arguments[...]
    var command: any ParsableCommand.Type = Photoctl.self
    var isHelp = false
    while let word = rest.popFirst() {
      let known = command.configuration.subcommands
      if known.isEmpty { return nil }
      if ["--socket", "--color"].contains(word) {
        _ = rest.popFirst()
      } else if word.hasPrefix("-") {
        // Options of the parser itself may have a value, so the parser must handle the rest.
        guard word.hasPrefix("--socket=") || word.hasPrefix("--color=") else { return nil }
      } else if word == "help", !isHelp, command == Photoctl.self {
        isHelp = true
      } else if let next = known.first(where: { $0.configuration.commandName == word }) {
        command = next
      } else {
        let isRoot = command == Photoctl.self
        var failure = failure(
          word, known.compactMap { $0.configuration.commandName } + (isRoot && !isHelp ? ["help"] : []))
        if !isRoot { failure.command = command.configuration.commandName ?? "" }
        return failure
      }
    }
    return nil
  }

  /// The failure for a file that is given to `export`, which prints to standard output.
  ///
  /// - Parameter arguments: without the name of the program.
  static func exportedFile(in arguments: [String]) -> Failure? {
    var words: [String] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if ["--socket", "--color"].contains(word) {
        _ = rest.popFirst()
      } else if !word.hasPrefix("-") {
        words.append(word)
      }
    }
    guard words.count > 1, words[0] == "export" else { return nil }
    return Failure(
      .usage, "export prints to standard output, and takes no file",
      remedy: "`photoctl export > \(ShellWord.path(words[1]))` writes the export to that file.", command: "export")
  }

  private static func failure(_ word: String, _ known: [String]) -> Failure {
    let similar = Spelling.nearest(to: word, among: known)
    return Failure(
      .usage, "there is no command '\(Printable.text(word))'",
      remedy: similar.map { "Did you mean '\($0)'?" } ?? "The commands are \(known.joined(separator: ", ")).")
  }

  /// The parser's message in photoctl's form: after the program's name, without a suggestion that does not resemble the
  /// typed word, and with the same reference to the help as in other errors.
  static func text(_ message: String, style: Style) -> String {
    // The message contains the typed words.
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { Printable.text(String($0)) }
    let prefix = "Error: "
    if let first = lines.first, first.hasPrefix(prefix) {
      let problem = Spelling.withoutFarSuggestion(String(first.dropFirst(prefix.count)))
      lines[0] = "\(style.bad("photoctl:")) \(exclusiveFlags(problem) ?? problem)"
    }
    if let last = lines.lastIndex(where: { !$0.isEmpty }), let reference = reference(lines[last]) {
      lines[last] = reference
    }
    let text = lines.joined(separator: "\n")
    return text.hasSuffix("\n") ? text : text + "\n"
  }

  /// Formats `See 'photoctl query --help' for more information.` as other errors refer to the help.
  ///
  /// - Returns: nil for any other line.
  private static func reference(_ line: String) -> String? {
    let (start, end) = ("  See 'photoctl", " --help' for more information.")
    guard line.hasPrefix(start), line.hasSuffix(end), line.count >= start.count + end.count else { return nil }
    return "  See `photoctl help\(line.dropFirst(start.count).dropLast(end.count))`."
  }

  /// Formats `Value to be set with flag '--no-favorite' had already been set with flag '--favorite'` for a person.
  ///
  /// - Returns: nil for any other message.
  private static func exclusiveFlags(_ message: String) -> String? {
    let parts = message.split(separator: "'", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "Value to be set with flag ", parts[2] == " had already been set with flag "
    else { return nil }
    return "Give only one of \(parts[3]) and \(parts[1])."
  }

  /// The value of `--color`, before the command line is parsed.
  static func color(of arguments: [String]) -> ColorChoice {
    var choice = ColorChoice.auto
    for (index, argument) in arguments.enumerated() {
      if argument.hasPrefix("--color=") {
        choice = ColorChoice(rawValue: String(argument.dropFirst("--color=".count))) ?? choice
      } else if argument == "--color", index + 1 < arguments.count {
        choice = ColorChoice(rawValue: arguments[index + 1]) ?? choice
      }
    }
    return choice
  }
}
