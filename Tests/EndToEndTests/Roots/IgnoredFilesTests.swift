import Foundation
import GRDB
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// Files that a person excludes from the library. The removal brake, which normally stops mass removals, is on.
@Suite(.timeLimit(.minutes(10))) struct IgnoredFilesTests {
  private func configure(_ fixture: DaemonFixture, _ ignore: String) throws {
    try "roots = ['\(fixture.photos)']\nremoval-grace-seconds = 600\nignore = [\(ignore)]\n".write(
      toFile: fixture.directory + "/config.toml", atomically: true, encoding: .utf8)
  }

  private func start(_ fixture: DaemonFixture) async throws {
    try await fixture.start(grace: 600, roots: [], arguments: ["--config", fixture.directory + "/config.toml"])
    try await fixture.synchronize()
  }

  private func reload(_ fixture: DaemonFixture, until condition: ([String: AssetID]) -> Bool) async throws {
    fixture.kill(SIGHUP)
    try await eventually("the new rules are applied") { condition(try await ids(fixture)) }
  }

  /// The ids by the path below the photos' folder.
  private func ids(_ fixture: DaemonFixture) async throws -> [String: AssetID] {
    try await fixture.synchronize()
    return Dictionary(
      uniqueKeysWithValues: try await fixture.assets().map {
        (String($0.resources[0].path.dropFirst(fixture.photos.utf8.count + 1)), $0.id)
      })
  }

  private func why(_ fixture: DaemonFixture, _ name: String) throws -> String {
    String(decoding: try fixture.photoctl("why", fixture.path(name)).output, as: UTF8.self)
  }

  private func fill(_ fixture: DaemonFixture) throws {
    for index in 0..<130 { try fixture.write("Exports/\(index).jpg", index) }
    for index in 0..<10 { try fixture.write("trip/\(index).jpg", index) }
    try fixture.write("trip/small.JPG", 3)
  }

  @Test func patternsTakeEffectByHangupAndPhotosComeBackAsTheyWere() async throws {
    try await DaemonFixture.with { fixture in
      try fill(fixture)
      try configure(fixture, "")
      try await start(fixture)
      let before = try await ids(fixture)
      #expect(before.count == 141)

      try configure(fixture, "'Exports', 'trip/*.JPG'")
      try await reload(fixture) { $0.count == 10 }
      #expect(try await ids(fixture) == before.filter { $0.key.hasPrefix("trip/") && $0.key.hasSuffix(".jpg") })
      #expect(try await fixture.status().warnings.isEmpty)
      #expect(try why(fixture, "Exports/3.jpg").contains("ignored by the pattern Exports of the configuration"))
      #expect(try why(fixture, "trip/small.JPG").contains("ignored by the pattern trip/*.JPG of the configuration"))
      try fixture.write("Exports/new.jpg", 1)
      #expect(try await ids(fixture).count == 10)
      // photod logs this at the end of the work, a little later than the photos leave the library.
      let said = ContinuousClock.now + .seconds(10)
      while try !fixture.logText().contains("ignore=\"Exports trip/*.JPG\"") {
        try #require(ContinuousClock.now < said)
        _ = try await fixture.status()
      }

      // An invalid pattern causes only a warning.
      try configure(fixture, "'a//b'")
      fixture.kill(SIGHUP)
      try await fixture.status { !$0.warnings.isEmpty }
      #expect(try await fixture.status().warnings[0].contains("\"a//b\" is no pattern"))
      #expect(try await ids(fixture).count == 10)

      try configure(fixture, "")
      try await reload(fixture) { $0.count == 142 }
      let after = try await ids(fixture)
      #expect(after.filter { $0.key != "Exports/new.jpg" } == before, "they have their ids again")
    }
  }

  @Test func photosIgnoredWhilePhotodWasDownLeaveAtOnce() async throws {
    try await DaemonFixture.with { fixture in
      try fill(fixture)
      for index in 0..<130 { try fixture.write("private/\(index).jpg", index) }
      try configure(fixture, "")
      try await start(fixture)
      fixture.kill(SIGTERM)
      try configure(fixture, "'Exports'")
      try Data().write(to: URL(fileURLWithPath: fixture.path("private/.nomedia")))
      try await start(fixture)
      #expect(try await ids(fixture).count == 11)
      #expect(try await fixture.status().warnings.isEmpty)
      #expect(try why(fixture, "private/3.jpg").contains(".nomedia"))
      #expect(try why(fixture, "private").hasPrefix("ignored: \(fixture.path("private")) contains .nomedia"))
      #expect(try why(fixture, "Exports").hasPrefix("ignored: It is ignored by the pattern Exports"))
      #expect(try why(fixture, "trip").hasPrefix("indexed: It is a folder in "))
      #expect(try why(fixture, "").hasPrefix("indexed: It is a folder of the library"))
      try Data("Signature: 8a477f597d28d172789f06886806bc55\n".utf8).write(
        to: URL(fileURLWithPath: fixture.path("CACHEDIR.TAG")))
      try await fixture.synchronize()
      #expect(try why(fixture, "").hasPrefix("ignored: \(fixture.photos) contains CACHEDIR.TAG"))
    }
  }

  @Test func conflictCopiesAndFoldersOfPhotoApplicationsAreIgnored() async throws {
    try await DaemonFixture.with { fixture in
      try fill(fixture)
      for index in 0..<130 { try fixture.write("Mac/originals/\(index).jpg", index) }
      try configure(fixture, "")
      try await start(fixture)
      let before = try await ids(fixture)
      #expect(before.count == 271)
      // An older photod had the folder under its present name, so its catalog has that name too. The photos leave
      // without the removal brake.
      fixture.kill(SIGTERM)
      try fixture.move("Mac", "Mac.photoslibrary")
      try await DatabaseQueue(path: fixture.catalog).write { database in
        try database.execute(sql: "UPDATE directory SET name = 'Mac.photoslibrary' WHERE name = 'Mac'")
        #expect(database.changesCount == 1)
      }
      try fixture.move("trip/3.jpg", "trip/3 (Anna's conflicted copy 2024-01-02).jpg")
      try await start(fixture)
      #expect(try await ids(fixture).count == 140)
      #expect(try await fixture.status().warnings.isEmpty)

      // They come with an event, and by renames.
      try fixture.write("trip/4.sync-conflict-20240102-030405-ABCDEFG.jpg", 4)
      try fixture.write("Catalog Previews.lrdata/1.jpg", 1)
      try fixture.move("trip/5.jpg", "trip/5 (conflicted copy).jpg")
      #expect(try await ids(fixture).count == 139)
      try fixture.move("trip/5 (conflicted copy).jpg", "trip/5.jpg")
      #expect(try await ids(fixture)["trip/5.jpg"] == before["trip/5.jpg"])

      let reasons = [
        ("trip/3 (Anna's conflicted copy 2024-01-02).jpg", "*(*conflicted copy*)*"),
        ("trip/4.sync-conflict-20240102-030405-ABCDEFG.jpg", "*.sync-conflict-*"),
        ("Mac.photoslibrary", "*.photoslibrary/"), ("Mac.photoslibrary/originals/3.jpg", "*.photoslibrary/"),
        ("Catalog Previews.lrdata/1.jpg", "*.lrdata/"),
      ]
      for (name, pattern) in reasons {
        let text = try why(fixture, name)
        #expect(text.hasPrefix("ignored: ") && text.contains("photod ignores it by its built-in pattern \(pattern)."))
      }
    }
  }

  @Test func aWarningAboutARemovedRootNeedsPhotosInIt() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      let places = ["full", "empty"].map { fixture.directory + "/" + $0 }
      for place in places { try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true) }
      try FileManager.default.copyItem(atPath: fixture.path("a.jpg"), toPath: places[0] + "/b.jpg")
      let file = fixture.directory + "/config.toml"
      let roots = ([fixture.photos] + places).map { "'\($0)'" }.joined(separator: ", ")
      try "roots = [\(roots)]\n".write(toFile: file, atomically: true, encoding: .utf8)
      try await start(fixture)
      try "roots = ['\(fixture.photos)']\n".write(toFile: file, atomically: true, encoding: .utf8)
      fixture.kill(SIGHUP)
      let warnings = try await fixture.status { $0.warnings.count == 2 }.warnings
      #expect(warnings.contains { $0.hasPrefix("\(places[0]) is no longer in the configuration. Its photos stay") })
      #expect(warnings.contains { $0.hasPrefix("\(places[1]) is no longer in the configuration. It has no photos") })
      let why = String(decoding: try fixture.photoctl("why", places[0] + "/b.jpg").output, as: UTF8.self)
      #expect(
        why.hasPrefix("offline: It is in the library, but \(places[0]) is no longer in the configuration."), "\(why)")
      #expect(try fixture.photoctl("rescan", "--confirm", places[1]).status == 0)
      #expect(try await fixture.status().warnings.count == 1)
    }
  }

  @Test func missingPhotosAreHeldBackAlthoughPatternsChange() async throws {
    try await DaemonFixture.with { fixture in
      try fill(fixture)
      try configure(fixture, "")
      try await start(fixture)
      // The folder disappears while photod does not run, as with an unmounted drive.
      fixture.kill(SIGTERM)
      try fixture.move("Exports", "../Exports")
      try configure(fixture, "'trip/*.JPG'")
      try await start(fixture)
      #expect(try await ids(fixture).count == 140)
      #expect(try await fixture.status().roots[0].state == .suspect)
    }
  }

  @Test(arguments: [true, false]) func hiddenFolderThatIsNamedAsARootIsIndexed(isAlone: Bool) async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("seen.jpg", 1)
      try fixture.write(".hidden/a.jpg", 2)
      try fixture.write(".hidden/folder/b.jpg", 3)
      try fixture.write(".hidden/.deeper/c.jpg", 4)
      let hidden = fixture.path(".hidden")
      try await fixture.start(roots: isAlone ? [hidden] : [fixture.photos, hidden])
      try await fixture.synchronize()
      let expected = Set([".hidden/a.jpg", ".hidden/folder/b.jpg"] + (isAlone ? [] : ["seen.jpg"]))
      #expect(try await fixture.pathsInLibrary() == Set(expected.map(fixture.path)))
      // The folder is also watched, and belongs to its own root.
      try fixture.write(".hidden/d.jpg", 5)
      try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary().contains(fixture.path(".hidden/d.jpg")))
      for path in [hidden, hidden + "/a.jpg"] {
        let why = try fixture.photoctl(["why", path])
        #expect(String(decoding: why.output, as: UTF8.self).contains("indexed"), "\(path)")
      }
      #expect(try fixture.photoctl(["rescan", "--dry-run"]).status == 0)
      #expect(try fixture.photoctl(["rescan", hidden + "/folder"]).status == 0)
    }
  }
}
