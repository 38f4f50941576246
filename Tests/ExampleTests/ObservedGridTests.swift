import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// The grid that observes the library, beside a real photod.
@Suite(
  .enabled(if: BuiltPrograms.hasExamples, "the examples are not built, which takes PHOTOD_EXAMPLES=1"),
  .timeLimit(.minutes(240)))
struct ObservedGridTests {
  @Test func theGridEqualsAFetchAfterEachOperation() async throws {
    let operations = effort("PHOTOD_EXAMPLE_OPERATIONS", 200)
    try await DaemonFixture.with { fixture in
      for index in 0..<30 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "person")
      var editing = RandomEditing(fixture: fixture, library: library, seed: effort("PHOTOD_SEED", 21))
      let album = try await editing.makeAlbum()
      let all = try ExampleProgram("ObservedGridExample", socket: fixture.socket)
      let mine = try ExampleProgram("ObservedGridExample", ["id:\(album)"], socket: fixture.socket)
      for operation in 1...operations {
        let edit = try await editing.step()
        for (program, collection) in [(all, nil), (mine, "id:\(album)")] {
          let fetched = try await Self.cells(library, FetchOptions(collection: collection))
          try await eventually(
            "operation \(operation) (\(edit)) is shown: \(program.lastLine), fetched: \(fetched)",
            every: .milliseconds(1)
          ) { program.lastLine == fetched }
        }
      }
      let events = Set((all.lines + mine.lines).compactMap { $0.split(separator: ":").first })
      #expect(events.isSuperset(of: ["reload", "batch", "changed"]))
      for program in [all, mine] {
        #expect(program.lines.count { $0.hasPrefix("reload") } == 1, "only the first list is loaded whole")
      }
      #expect(mine.lines.contains { $0.hasPrefix("batch") && !$0.hasSuffix(" 0 moved") }, "photos were moved")
      try all.stop()
      try mine.stop()
    }
  }

  @Test func theGridReloadsAfterTheLibraryWasReplaced() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<5 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let program = try ExampleProgram("ObservedGridExample", socket: fixture.socket)
      let first = try await Self.cells(library, FetchOptions())
      try await eventually("the grid shows \(first)") { program.lastLine == first }
      fixture.kill(SIGTERM)
      for name in try FileManager.default.contentsOfDirectory(atPath: fixture.directory)
      where name.hasPrefix("catalog") {
        try FileManager.default.removeItem(atPath: fixture.directory + "/" + name)
      }
      for index in 5..<8 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let second = try await Self.cells(library, FetchOptions())
      try await eventually("the grid shows \(second), and not \(program.lastLine)") { program.lastLine == second }
      #expect(program.lines.count { $0.hasPrefix("reload") } >= 2)
      try program.stop()
    }
  }

  private static func cells(_ library: PhotoLibrary, _ options: FetchOptions) async throws -> String {
    var cells: [String] = []
    for try await page in library.fetch(options) {
      cells += page.assets.map { $0.resources[0].filename + ($0.isFavorite ? "♥" : "") }
    }
    return cells.isEmpty ? "(no photos)" : cells.joined(separator: " ")
  }
}
