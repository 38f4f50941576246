import PhotoClient
import PredicateLanguage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Answers a shell's completion script, which calls `photoctl ---complete SHELL ...`.
///
/// bash passes the line up to the cursor, and its `COMP_WORDBREAKS`. zsh and fish pass the words: the program first,
/// the one at the cursor last, as it is typed. The first line of the answer is the kind of the candidates (`files`, `folders`, `words`,
/// or `words nospace`). One line for each candidate follows. For bash, it is the text to insert. For the other shells,
/// it is the word, a tab, and a description; they select and quote by themselves.
///
/// Errors are never reported. A person who presses Tab then gets no candidates.
enum Completion {
  static let request = "---complete"

  /// The time in seconds that a person waits for candidates. After it, there are none.
  private static let patience: UInt32 = 1

  static func answer(_ arguments: [String]) async {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(patience)
    do {
      let program = try CommandDescription(dump: Photoctl._dumpHelp())
      let completer = Completer(program: program, source: .daemon)
      try Output.put(await text(arguments, completer))
    } catch {
      // Errors are not reported, as stated above.
    }
  }

  static func text(_ arguments: [String], _ completer: Completer) async -> String {
    guard let shell = arguments.first.flatMap(Shell.init(rawValue:)), arguments.count >= 3 else { return "" }
    switch shell {
    case .bash:
      let line = BashLine(arguments[1], wordBreaks: arguments[2])
      let candidates = await completer.candidates(after: line.words, current: line.current, quote: line.quote)
      return text(candidates) { words in
        let exact = words.compactMap { line.replacement(for: $0.text) }
        return exact.isEmpty ? words.compactMap { line.replacement(for: $0.text, ignoringCase: true) } : exact
      }
    case .zsh, .fish:
      let words = Array(arguments[2..<(arguments.count - 1)])
      let typed = BashLine("_ " + arguments[arguments.count - 1])
      let candidates = await completer.candidates(after: words, current: typed.current, quote: typed.quote)
      return text(candidates) { words in
        words.map { "\($0.text)\t\($0.description ?? "")" }
      }
    }
  }

  private static func text(_ candidates: Candidates, _ lines: ([Candidate]) -> [String]) -> String {
    switch candidates {
    case .files: return "files\n"
    case .folders: return "folders\n"
    case .words(let words, let endsWord):
      // Each candidate is one line, so one that contains a line break is left out.
      let printable = words.filter { $0.text.unicodeScalars.allSatisfy(Printable.isPlain) }
      return ([endsWord ? "words" : "words nospace"] + lines(printable)).joined(separator: "\n") + "\n"
    }
  }
}

extension CompletionSource {
  /// The running daemon, or the keys of this version if there is none.
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
        // There is no daemon, or it does not have this method.
        return .known
      }
    },
    values: { socket, key, prefix in
      do {
        let counts = try await PhotoLibrary(socketPath: socket ?? PhotoLibrary.defaultSocketPath)
          .values(of: key, prefix: prefix, limit: maximumValues)
        return Array(zip(counts.values, counts.counts))
      } catch {
        return []
      }
    },
    backups: { socket in
      do {
        let library = PhotoLibrary(socketPath: socket ?? PhotoLibrary.defaultSocketPath)
        return try await PhotoDaemonManagement(of: library).backups()
      } catch {
        return []
      }
    })

  /// No person reads more candidates.
  private static let maximumValues = 1_000
}

extension KnownKeys {
  /// The keys of this version.
  static let known = KnownKeys(
    predicateKeys: PredicateKey.allCases.map(\.rawValue),
    sortKeys: [
      "creationDate", "modificationDate", "addedDate", "filename", "byteCount", "pixelWidth", "pixelHeight",
      "durationSeconds", "rating", "title", "mediaType", "isFavorite", "albumOrder", "id",
    ])
}
