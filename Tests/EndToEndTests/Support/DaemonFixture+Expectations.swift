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
    #expect(
      missing.isEmpty && extra.isEmpty,
      "\(comment): \(missing.count) missing, \(extra.count) extra; \(missing.first ?? "") \(extra.first ?? "")",
      sourceLocation: sourceLocation)
    #expect(try await assets().count == library.count, "two assets have the same path", sourceLocation: sourceLocation)
  }
}
