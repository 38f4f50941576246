import Foundation
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Testing

/// A storm knows which of its photos are favorites, and for which photos this is uncertain.
@Suite struct StormKnownPhotosTests {
  /// Creates one folder of photos with ids.
  private func photos() throws -> (folder: TemporaryFolder, known: KnownPhotos, ids: [String: AssetID]) {
    let folder = try TemporaryFolder("known")
    let known = try KnownPhotos([.init(path: folder.path, reachedAt: folder.path)])
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".jpg") }
    let ids = Dictionary(
      uniqueKeysWithValues: names.sorted().enumerated().map { (folder.path + "/" + $1, AssetID($0 + 1)) })
    try known.learnIDs(ids)
    return (folder, known, ids)
  }

  private func differences(_ known: KnownPhotos, _ ids: [String: AssetID], _ favorites: Set<AssetID>) -> [String] {
    known.differences(ids: ids, favorites: favorites).map(\.what)
  }

  /// photod may have made the change before its reply is read.
  @Test func aCallThatIsUnderWayMayBeDoneOrNot() throws {
    let (folder, known, ids) = try photos()
    var random = SeededGenerator(seed: 1)
    let choice = known.chooseFavorite(&random)
    #expect(differences(known, ids, [choice.id]).isEmpty && differences(known, ids, []).isEmpty)
    known.note(choice, .done)
    #expect(differences(known, ids, [choice.id]).isEmpty)
    #expect(differences(known, ids, []) == ["is no favorite any more"])
    _ = folder
  }

  @Test(arguments: [
    PhotoLibraryError.connectionClosed, .timedOut(message: ""), .internalError(message: ""), .malformedReply(""),
  ])
  func aCallWithoutAnAnswerMayBeDoneOrNot(error: PhotoLibraryError) throws {
    let (folder, known, ids) = try photos()
    var random = SeededGenerator(seed: 1)
    let choice = known.chooseFavorite(&random)
    known.note(choice, .init(of: error))
    #expect(differences(known, ids, [choice.id]).isEmpty && differences(known, ids, []).isEmpty)
    _ = folder
  }

  @Test(arguments: [
    PhotoLibraryError.unreachable(socketPath: "", reason: ""), .libraryUnavailable(message: ""),
    .noSuchAsset(ids: []),
  ])
  func aCallThatWasRefusedIsNotDone(error: PhotoLibraryError) throws {
    let (folder, known, ids) = try photos()
    var random = SeededGenerator(seed: 1)
    let choice = known.chooseFavorite(&random)
    known.note(choice, .init(of: error))
    #expect(differences(known, ids, []).isEmpty)
    #expect(differences(known, ids, [choice.id]) == ["is a favorite that no client set"])
    _ = folder
  }
}
