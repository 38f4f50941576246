import PhotoTestSupport
import Testing

extension DaemonFixture {
  /// The library equals the disk, once it has caught up.
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
    #expect(try await assets().count == library.count, "a path twice", sourceLocation: sourceLocation)
  }
}
