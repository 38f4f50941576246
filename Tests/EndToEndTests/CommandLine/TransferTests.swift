import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// `photoctl export` of one library, and `photoctl import` into another one with another root and other ids.
@Suite struct TransferTests {
  /// The lines of an export in a form that is equal for two libraries with the same content. Ids differ between
  /// libraries, so sizes and titles replace them. Paths, roots and hashes are left out.
  private struct Contents: Equatable {
    var photos: Set<String> = []
    var collections: [String] = []

    init(_ text: String) throws {
      let lines = try text.split(separator: "\n").map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      }
      // Each photo of the test has a size of its own.
      var sizes: [Int: Int] = [:]
      var titles: [Int: String] = [:]
      for line in lines {
        guard let kind = line["kind"] as? String, let id = line["id"] as? Int else { continue }
        if kind == "photo" { sizes[id] = line["byteCount"] as? Int } else { titles[id] = line["title"] as? String }
      }
      for var line in lines {
        guard let kind = line["kind"] as? String, line["id"] != nil else { continue }
        for name in ["id", "path", "root", "contentHash"] { line[name] = nil }
        line["photos"] = (line["photos"] as? [Int])?.map { sizes[$0] ?? -1 }
        line["keyPhoto"] = (line["keyPhoto"] as? Int).map { sizes[$0] ?? -1 }
        line["parentID"] = (line["parentID"] as? Int).map { titles[$0] ?? "?" }
        let text = String(
          decoding: try JSONSerialization.data(withJSONObject: line, options: .sortedKeys), as: UTF8.self)
        if kind == "photo" { photos.insert(text) } else { collections.append(text) }
      }
    }
  }

  private func photoctl(
    _ fixture: DaemonFixture, _ arguments: [String], input: Data = Data()
  ) async throws -> PhotoctlTests.Result {
    try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, arguments, input)
  }

  private func writePhotos(_ fixture: DaemonFixture) throws {
    for index in 0..<5 { try fixture.write("2024/\(index).jpg", index) }
    guard let folder = FaultScenario.photosFolder else { return }
    for name in ["dates/gps-datetime.jpg", "tags/picasa.jpg"] {
      let photo = folder.appendingPathComponent("immich-app__test-assets/metadata/" + name)
      try Data(contentsOf: photo).write(to: URL(fileURLWithPath: fixture.path("real-\(photo.lastPathComponent)")))
    }
  }

  /// Sets every value that a photo can have, and makes every kind of collection.
  private func organize(_ fixture: DaemonFixture) async throws {
    let path = { (index: Int) in fixture.path("2024/\(index).jpg") }
    let commands: [[String]] = [
      [
        "edit", path(0), "--title", "Trevi", "--caption", "", "--keyword", "rome", "--rating", "4", "--date",
        "2008-10-22T10:00:00+02:00", "--location", "41.9009,12.4833",
      ],
      ["edit", path(1), "--location", "none", "--rating", "0", "--title", "An \"old\" photo"],
      ["edit", path(4), "--title", "Gone"],
      ["favorite", path(1), path(2)], ["hide", path(3)],
      ["albums", "mkdir", "Trips"], ["albums", "create", "Rome", "--in", "Trips", path(2), path(0), path(3), path(1)],
      ["albums", "cover", "Rome", path(1)], ["albums", "create", "Best", path(4), path(0)],
      ["albums", "create", "Zoo", path(4)],
      ["albums", "move", "Zoo", "--before", "Best"],
      ["albums", "smart", "Good", "--in", "Trips", "--rating", "4", "--sort", "title:desc", "--limit", "9"],
      ["edit", "--under", fixture.photos, "--where", "filename BEGINSWITH 'real'", "--keyword", "real"],
    ]
    for command in commands {
      let result = try await photoctl(fixture, command)
      #expect(result.status == 0, "\(command): \(result)")
    }
    let outside = try await photoctl(fixture, ["albums", "cover", "Rome", path(4)])
    #expect(outside.status == 65 && outside.errors.contains("is not in the album 'Rome'"), "\(outside)")
  }

  /// Starts a photod that knows nothing of the first one, on a copy of the photos in another folder.
  private func startOther(_ fixture: DaemonFixture) async throws -> String {
    fixture.kill(SIGTERM)
    let root = fixture.directory + "/other/pictures"
    try FileManager.default.createDirectory(atPath: fixture.directory + "/other/new", withIntermediateDirectories: true)
    try #require(rename(fixture.photos, root) == 0)
    fixture.catalogFolder = fixture.directory + "/other"
    try await fixture.start(roots: [fixture.directory + "/other/new", root])
    try await fixture.synchronize()
    return root
  }

  private func export(_ fixture: DaemonFixture) async throws -> PhotoctlTests.Result {
    let export = try await photoctl(fixture, ["export"])
    #expect(export.status == 0, "\(export)")
    return export
  }

  @Test(.timeLimit(.minutes(10))) func importGivesAnotherLibraryAllOfAnExport() async throws {
    try await DaemonFixture.with { fixture in
      try writePhotos(fixture)
      try await fixture.start()
      try await fixture.synchronize()
      try await organize(fixture)
      let count = FaultScenario.photosFolder == nil ? 5 : 7
      // photod hashes the photos when it is idle, which nothing reports.
      var exported = try await export(fixture)
      try await eventually("a hash for each photo", within: .seconds(120)) {
        exported = try await export(fixture)
        return exported.text.components(separatedBy: "\"contentHash\"").count == count + 1
      }
      #expect(exported.errors == "\(count) photos and 5 albums were exported.\n")
      let wanted = try Contents(exported.text)
      #expect(wanted.photos.count == count && wanted.collections.count == 5)
      #expect(wanted.collections.contains { $0.contains("\"keyPhoto\"") })

      let root = try await startOther(fixture)
      // The first photo has another name and folder, and one is removed. The others differ only in their root.
      try #require(rename(root + "/2024/0.jpg", fixture.directory + "/other/new/moved.jpg") == 0)
      let away = fixture.directory + "/4.jpg"
      try #require(rename(root + "/2024/4.jpg", away) == 0)
      try await fixture.synchronize()
      let dry = try await photoctl(fixture, ["import", "--dry-run", "-"], input: exported.output)
      #expect(dry.status == 66 && dry.text.contains("/other/new/moved.jpg  rating 4, title 'Trevi'"), "\(dry)")
      #expect(dry.text.contains("+ The album 'Rome'  4 photos\n"), "\(dry)")
      #expect(dry.errors.hasPrefix("\(fixture.path("2024/4.jpg")) (line "), "\(dry)")
      #expect(dry.errors.contains("): no photo here has its place or its content\n"), "\(dry)")
      #expect(try await export(fixture).errors == "0 photos and 0 albums were exported.\n")

      let first = try await photoctl(fixture, ["import", "-"], input: exported.output)
      #expect(first.status == 66 && first.output.isEmpty, "\(first)")
      #expect(first.errors.contains("\(count - 1) photos were edited, 5 albums were made"), "\(first)")
      #expect(first.errors.contains("photoctl: 1 photo of the export was not found\n"), "\(first)")
      let partial = try Contents(try await export(fixture).text)
      #expect(partial.photos == wanted.photos.filter { !$0.contains("Gone") })

      // When the missing photo is there, a second import adds its edits, and its place in each album.
      try #require(rename(away, root + "/2024/4.jpg") == 0)
      try await fixture.synchronize()
      let second = try await photoctl(fixture, ["import", "--json", "-"], input: exported.output)
      struct Report: Decodable {
        struct Photo: Decodable { let changes: [String] }
        struct Album: Decodable { let title: String }
        let edited: [Photo]
        let changed: [Album]
        let created: [Album]
      }
      let report = try JSONDecoder().decode(Report.self, from: second.output)
      #expect(second.status == 0 && report.edited.map(\.changes) == [["title 'Gone'"]], "\(second)")
      #expect(report.changed.map(\.title) == ["Zoo", "Best"] && report.created.isEmpty, "\(second)")
      #expect(try Contents(try await export(fixture).text) == wanted)

      let token = try await fixture.synchronize()
      let third = try await photoctl(fixture, ["import", "-"], input: exported.output)
      #expect(third.status == 0, "\(third)")
      #expect(third.errors == "Nothing changed. \(count) photos and 5 albums have everything already.\n")
      #expect(try await fixture.changes(since: token).filter { $0.origin == "client:photoctl" }.isEmpty)

      // Each import is one change.
      let undoable = try await photoctl(fixture, ["undo", "--list"]).text.split(separator: "\n")
      #expect(undoable.count == 3, "a heading and two changes: \(undoable)")
      #expect(try await photoctl(fixture, ["undo"]).status == 0)
      #expect(try await photoctl(fixture, ["undo"]).status == 0)
      #expect(try await export(fixture).errors == "0 photos and 0 albums were exported.\n")
    }
  }

  /// Edits in the library stay, except for the values that the export has.
  @Test(.timeLimit(.minutes(10))) func importReplacesOnlyTheValuesOfTheExport() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let path = { (index: Int) in fixture.path("\(index).jpg") }
      func run(_ arguments: String...) async throws -> PhotoctlTests.Result { try await photoctl(fixture, arguments) }
      _ = try await run("edit", path(0), "--title", "Rome")
      _ = try await run("albums", "create", "Best", path(0), path(1))
      let exported = try await export(fixture)
      _ = try await run("edit", path(0), "--title", "Paris", "--rating", "5", "--keyword", "mine")
      _ = try await run("favorite", path(2))
      _ = try await run("albums", "remove", "Best", path(0))
      _ = try await run("albums", "add", "Best", path(2))
      let imported = try await photoctl(fixture, ["import", "-"], input: exported.output)
      #expect(imported.errors.hasPrefix("1 photo was edited, 1 album was changed."), "\(imported)")
      let shown = try await run("show", path(0), "--json").text
      #expect(shown.contains("\"Rome\"") && shown.contains("\"mine\"") && shown.contains("\"rating\" : 5"), "\(shown)")
      #expect(try await run("query", "--favorite", "--count").text == "1\n")
      let album = try await run("albums", "show", "Best", "--format", "paths").text
      #expect(album == [0, 1, 2].map { path($0) + "\n" }.joined())
    }
  }

  @Test func malformedExportIsRefusedAsAWhole() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      _ = try await photoctl(fixture, ["favorite", fixture.path("a.jpg")])
      let whole = try await export(fixture).text
      _ = try await photoctl(fixture, ["unfavorite", fixture.path("a.jpg")])
      // The lines of the photo are complete. Only the last line is missing.
      let lines = whole.split(separator: "\n")
      #expect(lines.count > 2 && lines[lines.count - 2].contains("a.jpg"), "\(whole)")
      let text = lines.dropLast().joined(separator: "\n") + "\n"
      let cut = try await photoctl(fixture, ["import", "-"], input: Data(text.utf8))
      #expect(cut.status == 65, "\(cut)")
      let missing = try await photoctl(fixture, ["import", fixture.path("none.jsonl")])
      #expect(missing.status == 66 && missing.errors.contains("can't be read"), "\(missing)")
      #expect(try await photoctl(fixture, ["query", "--favorite", "--count"]).text == "0\n")
    }
  }
}
