/// Finds the name that a person probably meant when mistyping one.
package enum Spelling {
  /// The known name most like `name`, without regard to case; `nil` if none is near.
  ///
  /// A name is near if the edit distance is at most a third of its length, or if it is the last part of a dotted name.
  package static func nearest(to name: String, among known: [String]) -> String? {
    let wanted = Array(name.lowercased().utf8.prefix(64))
    var best: (name: String, distance: Int)?
    for candidate in known {
      let folded = candidate.lowercased()
      let part = folded.split(separator: ".").last.map { Array($0.utf8) } ?? []
      let distance = part == wanted ? 0 : distance(wanted, Array(folded.utf8))
      if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Removes the suggestion from the argument parser's message `Unknown option '--wat'. Did you mean '--sort'?` if the
  /// two options are not alike.
  package static func withoutFarSuggestion(_ message: String) -> String {
    // All options have dashes, so dashes do not make two options alike.
    func name(_ option: String) -> String { String(option.drop { $0 == "-" }) }
    let parts = message.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
    guard message.hasPrefix("Unknown option '"), parts.count == 5, parts[2] == ". Did you mean ",
      nearest(to: name(parts[1]), among: [name(parts[3])]) == nil
    else { return message }
    return "\(parts[0])'\(parts[1])'"
  }

  /// The optimal string alignment distance: insertions, removals, replacements, and exchanges of neighbours.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var rowBefore: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
      var next = [i + 1]
      next.reserveCapacity(row.count)
      for j in b.indices {
        var distance = min(row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { distance = min(distance, rowBefore[j - 1] + 1) }
        next.append(distance)
      }
      (rowBefore, row) = (row, next)
    }
    return row[b.count]
  }
}
