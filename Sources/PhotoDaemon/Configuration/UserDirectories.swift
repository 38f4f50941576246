/// The user's pictures folder, as `xdg-user-dirs` records it.
///
/// The format (user-dirs.dirs(5)): lines of `XDG_name_DIR="$HOME/yyy"` or `XDG_name_DIR="/yyy"`, shell-escaped within
/// the quotes; no other variable is expanded; `#` begins a comment. A folder that is `$HOME` itself means that the user
/// has none.
package enum UserDirectories {
  /// Returns the folder that this `user-dirs.dirs` names as `XDG_PICTURES_DIR`. Nil if it names none, or the home
  /// directory itself.
  package static func pictures(in text: String, home: String) -> String? {
    var found: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.drop(while: \.isWhitespace)
      guard line.hasPrefix("XDG_PICTURES_DIR") else { continue }
      let rest = line.dropFirst("XDG_PICTURES_DIR".count).drop(while: \.isWhitespace)
      guard rest.first == "=" else { continue }
      let value = rest.dropFirst().drop(while: \.isWhitespace)
      guard value.first == "\"", let path = quoted(value.dropFirst()) else { continue }
      // The last line wins, as it would in a shell.
      found = expanded(path, home: home)
    }
    return found
  }

  /// Returns the text up to the closing quote, without its backslashes. Nil if there is no closing quote.
  private static func quoted(_ text: Substring) -> String? {
    var value = ""
    var escaped = false
    for character in text {
      if escaped {
        value.append(character)
        escaped = false
      } else if character == "\\" {
        escaped = true
      } else if character == "\"" {
        return value
      } else {
        value.append(character)
      }
    }
    return nil
  }

  private static func expanded(_ path: String, home: String) -> String? {
    var path = path
    if path == "$HOME" || path.hasPrefix("$HOME/") { path = home + path.dropFirst("$HOME".count) }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path.hasPrefix("/") && path != home ? path : nil
  }
}
