/// Text as one word of a shell's command line, by the quoting rules of POSIX
/// (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02).
package enum ShellWord {
  /// The text in single quotes, as messages show a path in a command.
  package static func inQuotes(_ text: String) -> String {
    "'\(text.unicodeScalars.reduce(into: "") { $0 += $1 == "'" ? "'\\''" : String($1) })'"
  }

  /// The text in single quotes; without them if no shell gives one of its characters a meaning.
  package static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
      default: "/._-+,:@%=".utf8.contains(byte)
      }
    }
    return isPlain && !text.isEmpty ? text : inQuotes(text)
  }
}
