/// The memory that clients can make photod use at most. The article Architecture lists its parts, and the tests read them
/// there.
package struct ClientMemory {
  /// The bytes in photod itself.
  package private(set) var process = 0
  /// The bytes in the kernel, for photod's sockets.
  package private(set) var kernel = 0

  private static let heading = "### Memory that clients can use"

  /// - Parameter article: the text of the article. Each part is a number of MB in a list below the heading.
  package init(article: String) throws {
    let lines = article.split(separator: "\n")
    let start = try require(lines.firstIndex { $0 == Self.heading }, "the article has no heading '\(Self.heading)'")
    for line in lines[(start + 1)...].prefix(while: { !$0.hasPrefix("#") }) where line.hasPrefix("- ") {
      for part in line.matches(of: /(\d+) MB( in the kernel)?/) {
        let bytes = try require(Int(part.1), "\(part.0)") * 1_000_000
        if part.2 == nil { process += bytes } else { kernel += bytes }
      }
    }
  }
}
