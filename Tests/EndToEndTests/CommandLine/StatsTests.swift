import Foundation
import PhotoClient
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

/// Counts, and filters by place and subtype, with the photos of the fixtures, a spawned daemon and photoctl.
@Suite(.timeLimit(.minutes(10))) struct StatsTests {
  private struct Line: Decodable, Hashable {
    let value: String?
    let count: Int
  }

  private func withLibrary(_ body: (DaemonFixture) async throws -> Void) async throws {
    try await DaemonFixture.with { fixture in
      let made = SourceTree.tests.appendingPathComponent("Fixtures/made")
      try fixture.copyFolder(made, to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      try await body(fixture)
    }
  }

  private func lines(_ fixture: DaemonFixture, _ arguments: [String]) async throws -> [Line] {
    let result = try await PhotoctlTests.photoctl(
      in: fixture.directory, fixture.socket, ["stats", "--json"] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode([Line].self, from: result.output)
  }

  @Test func aPipeGetsLinesOfJSON() async throws {
    try await withLibrary { fixture in
      let result = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, ["stats"])
      let lines = try result.output.split(separator: UInt8(ascii: "\n")).map { line in
        try JSONDecoder().decode(Line.self, from: line)
      }
      #expect(lines == (try await self.lines(fixture, [])) && lines.count > 3)
    }
  }

  @Test func countsEqualThoseOfTheAssets() async throws {
    try await withLibrary { fixture in
      let assets = try await fixture.assets()
      func expected(_ value: (Asset) -> String?) -> Set<Line> {
        Set(Dictionary(grouping: assets, by: value).map { Line(value: $0, count: $1.count) })
      }
      let years = try await lines(fixture, [])
      #expect(Set(years) == expected { String($0.creationDate.description.prefix(4)) })
      #expect(years.compactMap(\.value) == years.compactMap(\.value).sorted() && years.count > 3)
      #expect(
        try await Set(lines(fixture, ["--by", "month"])) == expected { String($0.creationDate.description.prefix(7)) })
      #expect(try await Set(lines(fixture, ["--by", "model"])) == expected { $0.camera?.model })
      #expect(try await Set(lines(fixture, ["--by", "lens"])) == expected { $0.camera?.lens })
      #expect(try await Set(lines(fixture, ["--by", "type"])) == expected { $0.mediaType.rawValue })
      #expect(try await Set(lines(fixture, ["--by", "format"])) == expected { $0.resources[0].contentType })
      #expect(
        try await Set(lines(fixture, ["--by", "folder"]))
          == expected { ($0.resources[0].path as NSString).deletingLastPathComponent })
      let isos = try await lines(fixture, ["--by", "iso"])
      #expect(Set(isos) == expected { $0.camera?.iso.map(String.init) })
      let numbers = isos.compactMap { $0.value.flatMap { Int($0) } }
      #expect(numbers == numbers.sorted() && isos.last?.value == nil)
      // Filters are those of query.
      let filtered = try await lines(fixture, ["--by", "year", "--where", "camera.iso < 400", "--type", "image"])
      let few = assets.filter { ($0.camera?.iso).map { $0 < 400 } ?? false && $0.mediaType == .image }
      #expect(filtered.reduce(0) { $0 + $1.count } == few.count && !few.isEmpty)
      #expect(try await lines(fixture, ["--by", "camera", "--limit", "1"]).prefix(1).map(\.count).first ?? 0 > 1)
    }
  }

  @Test func placesAndSubtypesSelectPhotos() async throws {
    try await withLibrary { fixture in
      let assets = try await fixture.assets()
      let placed = try #require(assets.first { $0.location != nil })
      let place = try #require(placed.location)
      let near = try await PhotoctlTests.photoctl(
        in: fixture.directory, fixture.socket,
        ["query", "--near", "\(place.latitude),\(place.longitude),0.001", "--fields", "id", "--format", "tsv"])
      #expect(near.text.split(separator: "\n").contains("\(placed.id)"), "\(near.errors)")
      let all = try await PhotoctlTests.photoctl(
        in: fixture.directory, fixture.socket, ["query", "--near", "0,0,20020", "--count"])
      #expect(all.text == "\(assets.filter { $0.location != nil }.count)\n")
      for subtype in Set(assets.flatMap(\.mediaSubtypes)) {
        let found = try await PhotoctlTests.photoctl(
          in: fixture.directory, fixture.socket, ["query", "--subtype", subtype, "--count"])
        #expect(found.text == "\(assets.filter { $0.mediaSubtypes.contains(subtype) }.count)\n", "\(subtype)")
      }
    }
  }

  /// A person who presses Tab must not wait, and must see no error.
  @Test(arguments: ["--camera", "--lens", "--keyword", "--album"])
  func withoutADaemonCompletionIsSilentAndQuick(option: String) async throws {
    let folder = NSTemporaryDirectory() + "photod-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let start = ContinuousClock.now
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["---complete", "zsh", "photoctl", "--socket", folder + "/none", "stats", option, ""]
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    await process.waitUntilExit()
    #expect(process.terminationStatus == 0 && ContinuousClock.now - start < .seconds(20))
    #expect(output.fileHandleForReading.readDataToEndOfFile() == Data("words\n".utf8))
    #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
    try FileManager.default.removeItem(atPath: folder)
  }
}
