import PhotoTestSupport
import Testing

extension DaemonFixture {
  /// Expects that the library has exactly the photos on the disk, each once, after a sync.
  ///
  /// - Parameter comment: the beginning of the message if the expectation fails.
  func expectEqualToDisk(_ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await synchronize()
    let disk = try pathsOnDisk()
    let library = try await pathsInLibrary()
    let missing = disk.subtracting(library).sorted()
    let extra = library.subtracting(disk).sorted()
    var events = ""
    if let path = missing.first ?? extra.first { events = try await self.events(of: path) }
    #expect(
      missing.isEmpty && extra.isEmpty,
      """
      \(comment): \(missing.count) missing, \(extra.count) extra; \(missing.first ?? "") \(extra.first ?? "")
      \(events)
      """,
      sourceLocation: sourceLocation)
    #expect(try await assets().count == library.count, "two assets have the same path", sourceLocation: sourceLocation)
  }

  /// The last events of a path and of the directories above it, one in a line, for the report of a failure.
  func events(of path: String) async throws -> String {
    struct Event: Decodable {
      let number: Int
      let time: String
      let kind: String
      let path: String?
      let fromPath: String?
      let detail: String
    }
    struct Reply: Decodable { let events: [Event] }
    return try await connect().call("org.photod.manage.Events", returning: Reply.self).events
      .filter { event in
        [event.path, event.fromPath].contains { place in
          place.map { place in place == path || path.hasPrefix(place + "/") } ?? false
        }
      }
      .suffix(60).map { "  \($0.number) \($0.time) \($0.kind) \($0.fromPath ?? "") \($0.path ?? ""): \($0.detail)" }
      .joined(separator: "\n")
  }
}
