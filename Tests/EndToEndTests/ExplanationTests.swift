import Foundation
import Glibc
import Testing

/// What a person is told of a path, or of a folder, that is not as it was, and what helps.
@Suite(.timeLimit(.minutes(10))) struct ExplanationTests {
  private func why(_ fixture: DaemonFixture, _ path: String) throws -> String {
    let result = try fixture.photoctl("why", path)
    #expect(result.status == 0, "\(result.errors)")
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func whatIsBelowALinkIsSaidNotToBeFollowed() async throws {
    try await DaemonFixture.with { fixture in
      let elsewhere = fixture.directory + "/elsewhere"
      try FileManager.default.createDirectory(atPath: elsewhere + "/sub", withIntermediateDirectories: true)
      try DaemonFixture.photo(1).write(to: URL(fileURLWithPath: elsewhere + "/sub/a.jpg"))
      try fixture.write("kept/b.jpg")
      #expect(symlink(elsewhere, fixture.path("kept/link")) == 0)
      #expect(symlink(elsewhere + "/sub/a.jpg", fixture.path("kept/a.jpg")) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      let folder = "ignored: \(fixture.path("kept/link")) is a link, and links are not followed"
      for path in ["kept/link", "kept/link/sub", "kept/link/sub/a.jpg", "kept/link/nothing.jpg"] {
        #expect(try why(fixture, fixture.path(path)).hasPrefix(folder), "\(path)")
      }
      #expect(
        try why(fixture, fixture.path("kept/a.jpg")).hasPrefix("ignored: \(fixture.path("kept/a.jpg")) is a link"))
      #expect(try why(fixture, fixture.path("kept/b.jpg")).hasPrefix("indexed: "))
    }
  }

  @Test func whatIsNoRegularFileIsSaidToBeNone() async throws {
    try await DaemonFixture.with { fixture in
      #expect(mkfifo(fixture.path("pipe.jpg"), 0o644) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      #expect(
        try why(fixture, fixture.path("pipe.jpg")) == """
          notMedia: \(fixture.path("pipe.jpg")) is no regular file: pipes, sockets and devices are never opened.

          """)
      #expect(
        try why(fixture, fixture.path("gone.jpg")) == "missing: There is no file \(fixture.path("gone.jpg")).\n")
    }
  }
}
