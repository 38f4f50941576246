import PhotoModel

/// Refuses empty words of the command line. A script passes one if a variable is not set. As a path, it would be the
/// current folder, and a command would change all photos in it.
///
/// The check is made once for all options and arguments, after each command has checked its own.
enum EmptyArgument {
  /// The options whose value may be empty, by command. `watch` itself explains that an empty token is no token.
  private static let allowed = ["edit": ["--title", "--caption"], "watch": ["--since"]]

  /// - Parameters:
  ///   - arguments: without the name of the program.
  ///   - command: the words with which the command is called, such as `albums create`.
  /// - Returns: nil if no word is empty.
  static func failure(in arguments: [String], of command: String) -> Failure? {
    guard arguments.contains(where: mayBeEmpty) else { return nil }
    let options = options(of: command)
    let allowed = allowed[command] ?? []
    for (index, word) in arguments.enumerated() {
      var option: String?
      if let equals = word.firstIndex(of: "="), word.hasPrefix("--") {
        guard isEmpty(word[word.index(after: equals)...]) else { continue }
        option = String(word[..<equals])
      } else {
        guard isEmpty(word[...]) else { continue }
        option = index > 0 ? options.first { $0 == arguments[index - 1] } : nil
      }
      if let option, allowed.contains(option) { continue }
      let subject = option.map { "\($0) is '\(Self.value(of: word))'" } ?? "an argument is '\(word)'"
      return Failure(
        .usage, "\(subject); it must not be empty",
        remedy: "Give a value. If it comes from a variable of the shell, check that the variable is set.",
        command: command)
    }
    return nil
  }

  private static func mayBeEmpty(_ word: String) -> Bool {
    isEmpty(word[...]) || (word.hasPrefix("--") && word.contains("="))
  }

  /// Whether the word is empty, or is a URI without a path.
  private static func isEmpty(_ word: Substring) -> Bool { FilePath.bytes(String(word)).isEmpty }

  private static func value(of word: String) -> Substring {
    guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return word[...] }
    return word[word.index(after: equals)...]
  }

  /// All commands as the parser describes them; nil if the description can't be read. It is made once, because the
  /// parser takes long to make it.
  private static let program: CommandDescription? = {
    do {
      return try CommandDescription(dump: Photoctl._dumpHelp())
    } catch {
      return nil
    }
  }()

  /// The options of a command that have a value. Without a description, an empty word counts as an argument.
  private static func options(of command: String) -> [String] {
    var description = program
    for name in command.split(separator: " ") { description = description?.subcommand(String(name)) }
    return (description?.arguments ?? []).filter { $0.kind == .option }.flatMap { $0.names ?? [] }.map(\.text)
  }
}
