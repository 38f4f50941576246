import PhotoClient
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a shell's completion script asks: `photoctl ---complete SHELL ...`.
///
/// bash says the line up to the cursor, and its `COMP_WORDBREAKS`. zsh and fish say the words, the program's first, the one
/// at the cursor last. The answer is a line that says what the candidates are (`files`, `folders`, `words`, or
/// `words nospace`), and then a line for each: for bash what it is to put in; for the others the word, a tab, and
/// what it means, and they choose and quote themselves.
///
/// Nothing is ever said about what fails: a person who presses Tab gets no candidates then.
enum Completion {
  static let request = "---complete"

  /// A person waits. Without an answer in this time, in seconds, there is none.
  private static let patience: UInt32 = 1

  static func answer(_ arguments: [String]) async {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(patience)
    do {
      let program = try CommandDescription(dump: Photoctl._dumpHelp())
      let completer = Completer(program: program, source: .daemon)
      try Output.put(await text(arguments, completer))
    } catch {
      // Silent, as said above.
    }
  }

  static func text(_ arguments: [String], _ completer: Completer) async -> String {
    guard let shell = arguments.first.flatMap(Shell.init(rawValue:)), arguments.count >= 3 else { return "" }
    switch shell {
    case .bash:
      let line = BashLine(arguments[1], wordBreaks: arguments[2])
      let candidates = await completer.candidates(after: line.words, current: line.current)
      return text(candidates) { words in
        let exact = words.compactMap { line.replacement(for: $0.text) }
        return exact.isEmpty ? words.compactMap { line.replacement(for: $0.text, ignoringCase: true) } : exact
      }
    case .zsh, .fish:
      let words = Array(arguments[2..<(arguments.count - 1)])
      let current = shell == .fish ? BashLine("_ " + arguments[arguments.count - 1]).current : arguments.last ?? ""
      return text(await completer.candidates(after: words, current: current)) { words in
        words.map { "\($0.text)\t\($0.description ?? "")" }
      }
    }
  }

  private static func text(_ candidates: Candidates, _ lines: ([Candidate]) -> [String]) -> String {
    switch candidates {
    case .files: return "files\n"
    case .folders: return "folders\n"
    case .words(let words, let endsWord):
      // A line each: what has an end of a line in it can't be said.
      let sayable = words.filter { $0.text.unicodeScalars.allSatisfy(Printable.isPlain) }
      return ([endsWord ? "words" : "words nospace"] + lines(sayable)).joined(separator: "\n") + "\n"
    }
  }
}

extension CompletionSource {
  /// The one that runs, or what this program knows itself.
  static let daemon = CompletionSource(
    albums: { socket in
      do {
        return try await PhotoLibrary(socketPath: socket ?? PhotoLibrary.defaultSocketPath).collections()
      } catch {
        return []
      }
    },
    keys: { socket in
      do {
        let keys = try await PhotoLibrary(socketPath: socket ?? PhotoLibrary.defaultSocketPath).listKeys()
        return KnownKeys(predicateKeys: keys.predicateKeys, sortKeys: keys.sortKeys)
      } catch {
        // No daemon, or one that has no such method.
        return .known
      }
    })
}

extension KnownKeys {
  /// Those of this version.
  static let known = KnownKeys(
    predicateKeys: PredicateKey.allCases.map(\.rawValue),
    sortKeys: [
      "creationDate", "modificationDate", "addedDate", "filename", "byteCount", "pixelWidth", "pixelHeight",
      "durationSeconds", "rating", "title", "mediaType", "isFavorite", "albumOrder", "id",
    ])
}
