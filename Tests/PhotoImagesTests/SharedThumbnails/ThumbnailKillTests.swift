import Foundation
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// photod is killed at each step of its work with shared thumbnails, and started again.
@Suite(.timeLimit(.minutes(10))) struct ThumbnailKillTests {
  /// The change of the photo 1 before the next start.
  enum Fate: String, CaseIterable {
    case deleted, hidden, moved, movedAgain, movedBack, edited

    var path: String? {
      switch self {
      case .deleted, .hidden: nil
      case .moved, .edited: "/new/1.jpg"
      case .movedAgain: "/third/1.jpg"
      case .movedBack: "/photos/1.jpg"
      }
    }
  }

  /// Copies of the disk, one after each change of it. A killed process leaves the disk as it is then.
  private final class Copies: Sendable {
    private let state = Mutex<(source: String?, made: [TemporaryFolder], error: (any Error)?)>((nil, [], nil))

    /// - Parameter source: nil ends it.
    func begin(_ source: String?) { state.withLock { $0.source = source } }

    func take() {
      state.withLock { state in
        guard let source = state.source else { return }
        do {
          let folder = try TemporaryFolder("killed")
          for name in ["pictures", "thumbnails"] {
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(folder.path)/\(name)")
          }
          state.made.append(folder)
        } catch {
          state.error = error
        }
      }
    }

    func made() throws -> [TemporaryFolder] {
      try state.withLock { state in
        if let error = state.error { throw error }
        return state.made
      }
    }
  }

  /// The disk after each step of a move of three thumbnails.
  private func stepsOfAMove() async throws -> [TemporaryFolder] {
    let copies = Copies()
    let fixture = try await EngineFixture.sharing { copies.take() }
    copies.begin(fixture.folder.path)
    copies.take()
    fixture.move(1, to: "/new/1.jpg")
    try await fixture.waitUntilIdle()
    copies.begin(nil)
    return try copies.made()
  }

  /// Every thumbnail is at the path of the photo, and is found when the photo is deleted later.
  @Test(arguments: Fate.allCases) func noThumbnailStaysBehind(_ fate: Fate) async throws {
    let steps = try await stepsOfAMove()
    // The first disk, the new path, each thumbnail at the new path and away from the old one, and the record.
    #expect(steps.count == 9)
    for (number, step) in steps.enumerated() {
      let assets = FakeAssets()
      if fate != .deleted {
        assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
        assets.change(1) { asset in
          asset.isHidden = fate == .hidden
          if fate == .edited { asset.revision = "r2" }
          asset.files[0].path = Array((fate.path ?? "/new/1.jpg").utf8)
        }
      }
      let next = try EngineFixture(isSharing: true, assets: assets, in: step)
      try await next.waitUntilIdle()
      let expected =
        fate == .edited ? [] : fate.path.map { EngineFixture.names($0, SharedThumbnailTests.three) } ?? []
      #expect(next.sharedFiles.isSubset(of: expected), "killed after step \(number): \(next.sharedFiles)")
      if fate == .moved { #expect(next.sharedFiles == expected, "killed after step \(number)") }
      #expect(next.recordCount == (next.sharedFiles.isEmpty ? 0 : 1), "killed after step \(number)")
      assets.remove(1)
      next.engine.assetsWereRemoved([1])
      try await next.waitUntilIdle()
      #expect(next.sharedFiles.isEmpty && next.recordCount == 0, "killed after step \(number)")
    }
  }

  /// The photo is moved back, and the catalog can't be read at the start. So the next picture is shared before the
  /// records are compared with the library.
  @Test func noThumbnailStaysBehindAPictureThatIsSharedFirst() async throws {
    for (number, step) in try await stepsOfAMove().enumerated() {
      let assets = FakeAssets()
      assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
      assets.setReadable(false)
      let next = try EngineFixture(isSharing: true, assets: assets, in: step)
      try await next.waitUntilIdle()
      assets.setReadable(true)
      _ = try await next.picture(1, .square(1024), in: try next.session(), as: 1)
      try await next.waitUntilIdle()
      let expected = EngineFixture.names("/photos/1.jpg", SharedThumbnailTests.three + ["xx-large"])
      #expect(next.sharedFiles == expected, "killed after step \(number)")
      assets.remove(1)
      next.engine.assetsWereRemoved([1])
      try await next.waitUntilIdle()
      #expect(next.sharedFiles.isEmpty && next.recordCount == 0, "killed after step \(number)")
    }
  }
}
