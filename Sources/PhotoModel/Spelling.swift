/// Finds what somebody who mistyped a name probably meant.
package enum Spelling {
  /// The known name that is most like `name`, without regard to case; `nil` if none is near.
  ///
  /// Near is an edit distance of at most a third of the name's length, or being the last part of a dotted name.
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

  /// Levenshtein's: insertions, removals and replacements.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for i in a.indices {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let replaced = diagonal + (a[i] == b[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }
}
