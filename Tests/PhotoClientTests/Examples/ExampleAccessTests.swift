import PhotoModel
import TestTools
import Testing

@testable import PhotoContract

/// The examples that ask for access, with each answer.
@Suite(
  .enabled(if: BuiltPrograms.hasExamples, "the examples are not built, which takes PHOTOD_EXAMPLES=1"),
  .timeLimit(.minutes(10)))
struct ExampleAccessTests {
  private static let refusals: [(AuthorizationStatus, AuthorizationStatus)] = [
    (.denied, .authorized), (.restricted, .authorized), (.notDetermined, .denied), (.notDetermined, .notDetermined),
  ]

  @Test(arguments: ["AlbumListExample", "ThumbnailListExample"], refusals)
  func withoutAccessAnExampleReadsNothing(
    _ name: String, _ access: (status: AuthorizationStatus, decision: AuthorizationStatus)
  ) async throws {
    let photos = ScriptedPhotos(Array(1...3), status: access.status, decision: access.decision)
    try await ScriptedDaemon.with(photos.answers) { daemon in
      let (lines, status) = try await daemon.example(name)
      #expect(status == 1 && lines.count == 1 && lines[0].contains("access"), "\(lines)")
      // A user who has decided is not asked again.
      let isAsked = access.status == .notDetermined
      #expect(daemon.calls == (isAsked ? ["AuthorizationStatus", "RequestAuthorization"] : ["AuthorizationStatus"]))
    }
  }

  @Test(arguments: [(AuthorizationStatus.limited, AuthorizationStatus.limited), (.notDetermined, .authorized)])
  func withAccessTheAlbumsAreListed(_ status: AuthorizationStatus, _ decision: AuthorizationStatus) async throws {
    let photos = ScriptedPhotos(Array(1...3), status: status, decision: decision)
    try await ScriptedDaemon.with(photos.answers) { daemon in
      var (lines, exit) = try await daemon.example("AlbumListExample")
      if status == .limited { #expect(lines.removeFirst() == "You chose the photos that this program sees.") }
      #expect(exit == 0)
      #expect(
        lines == [
          "Recents: 3 photos, cover of 128×96 pixels", "Rome: 2 photos, cover of 128×96 pixels",
          "Favorites: 0 photos, no cover",
        ])
    }
  }

  @Test func theSizeOfAFileIsInMegabytes() async throws {
    try await ScriptedDaemon.with(ScriptedPhotos(Array(1...3)).answers) { daemon in
      let (lines, status) = try await daemon.example("AlbumListExample", ["Recents", "2"])
      #expect(lines == ["2.jpg, 2.35 MB"] && status == 0)
      let (none, _) = try await daemon.example("AlbumListExample", ["Recents", "4"])
      #expect(none == ["There is no photo 4."])
      let (unknown, failure) = try await daemon.example("AlbumListExample", ["Paris"])
      #expect(unknown == ["There is no album 'Paris'."] && failure == 1)
    }
  }
}
