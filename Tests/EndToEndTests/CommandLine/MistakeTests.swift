import Foundation
import PhotoModel
import PhotoTestSupport
import Testing

/// Mistakes on the command line of photoctl, with a real library.
@Suite(.timeLimit(.minutes(10))) struct MistakeTests {
  /// A script whose variable is not set must not change the photos of the current folder.
  @Test func emptyArgumentsChangeNothing() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<3 { try fixture.write("\(number).jpg", number) }
      try await fixture.start()
      try await fixture.synchronize()
      for words in [
        ["hide", "--under", ""], ["hide", "--under="], ["edit", "--under", "", "--rating", "5"],
        ["favorite", "--under", "file://"], ["query", "--under", ""], ["albums", "remove", "Best", "--under", ""],
        ["rescan", ""], ["query", "--keyword", ""], ["stats", "--album", "folder:"], ["why", ""], ["backup", ""],
        ["undo", "--origin", ""], ["thumbnail", "1", "--output", ""],
      ] {
        let run = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, words)
        #expect(run.status == 64 && run.output.isEmpty, "\(words): \(run.errors)")
      }
      let all = try await fixture.assets()
      #expect(all.count == 3 && all.allSatisfy { !$0.isHidden && !$0.isFavorite && $0.rating == nil })
      let socket = try await PhotoctlTests.photoctl(in: fixture.directory, "", ["query"])
      #expect(socket.status == 64 && socket.errors.hasPrefix("photoctl: --socket is ''; it must not be empty\n"))
    }
  }

  @Test func allThatIsReadOfOneFileIsPrinted() async throws {
    try await DaemonFixture.with { fixture in
      // photod-extract reads the file itself, so photod need not run.
      let photo = SourceTree.tests.appendingPathComponent("Fixtures/made/IMG_0001.jpg").path
      let run = try await PhotoctlTests.photoctl(
        in: fixture.directory, fixture.socket, ["debug", "extract", photo])
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      let expected = """
        mediaType: image
        contentType: image/jpeg
        mediaSubtypes: livePhoto
        creationDate: 2022-02-16T12:55:41+01:00
        pixelWidth: 640
        pixelHeight: 480
        orientation: 1
        make: Apple
        model: iPhone 13 Pro
        """
      #expect(run.text.hasPrefix(expected), "\(run.text)")
      for name in ["contentIdentifier", "fingerprint", "sample", "hash"] { #expect(run.text.contains("\n\(name): ")) }
    }
  }

  @Test func filesThatCannotBeUsedAreNamed() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("-x.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      func run(_ words: String...) async throws -> PhotoctlTests.Result {
        try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, words)
      }
      let missing = try await run("debug", "extract", "nope")
      #expect(missing.status == 66 && missing.errors.hasPrefix("photoctl: nope can't be opened: No such file"))
      let text = try await run("debug", "extract", "/etc/passwd")
      #expect(text.status == 65 && text.text.contains("it is not a photo or video: it begins with"), "\(text.text)")
      let facts = try await run("debug", "extract", "--json", fixture.path("-x.jpg")).output
      let object = try #require(try JSONSerialization.jsonObject(with: facts) as? [String: Any])
      #expect(object["mediaType"] as? String == "image")
      let restores = [try await run("restore", "nope"), try await run("restore", "--dry-run", "nope")]
      for restore in restores {
        #expect(restore.status == 66)
        #expect(restore.errors.hasPrefix("photoctl: there is no backup 'nope'\n  `photoctl backup --list`"))
      }
      let other = try await run("restore", "--dry-run", "/etc/passwd")
      #expect(other.status == 66 && other.errors.hasPrefix("photoctl: /etc/passwd is no catalog of photod\n"))
      let minus = try await run("favorite", "--", "-y.jpg")
      #expect(minus.errors.contains("`photoctl why ./-y.jpg` has the reason."), "\(minus.errors)")
      let id = try await run("favorite", "-1")
      #expect(id.status == 64 && id.errors.hasPrefix("photoctl: there is no option '-1'\n"), "\(id.errors)")
      let folder = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.directory, ["query"])
      #expect(folder.status == 69 && folder.errors.contains("\(fixture.directory): it is no socket\n  Check the path"))
    }
  }
}
