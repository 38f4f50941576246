import Foundation
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// Random changes of several clients at once, against a plain model in memory.
@Suite(.timeLimit(.minutes(120))) struct ChangeModelTests {
  @Test func changesOfSeveralClientsEqualAPlainModel() async throws {
    for seed in 1...effort("PHOTOD_CHANGE_SEEDS", 1) { try await play(seed: UInt64(seed)) }
  }

  private static let clientCount = 3

  private func play(seed: UInt64) async throws {
    let requests = effort("PHOTOD_CHANGE_REQUESTS", 450)
    let clientCount = Self.clientCount
    try await DaemonFixture.with { fixture in
      for index in 0..<30 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let assets = try await fixture.ids().ids
      let socket = fixture.socket
      var model = ChangeModel(assets: assets)
      let library = PhotoLibrary(socketPath: socket)
      let followed = FollowedAlbums()
      let following = Task { try await followed.follow(library) }

      var round = 0
      var made = 0
      while made < requests {
        round += 1
        // Each client sees the collections as they were when the round began, so some of its requests come too late.
        let known = model
        let log = try await withThrowingTaskGroup(of: [Performed].self) { group in
          for client in 0..<clientCount {
            let seed = seed &* 1_000_003 &+ UInt64(round * clientCount + client)
            group.addTask { try await Self.perform(25, known, socket, seed: seed) }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        made += log.count
        // Tokens have the order of the commits. A call without a difference has the token of the commit before it.
        for call in log.sorted(by: { $0.sequence < $1.sequence }) { model.apply(call.requests, created: call.created) }
        let comment = "seed \(seed), round \(round)"
        try await expectEqual(model, library, comment)
        let collections = try await library.collections()
        try await eventually("the observer has the list, \(comment)") { followed.collections == collections }
        if round % 4 == 0 {
          fixture.kill(round % 8 == 0 ? SIGKILL : SIGTERM)
          try await fixture.start()
        }
      }
      #expect(!model.albums.isEmpty)
      following.cancel()
    }
  }

  private func expectEqual(_ model: ChangeModel, _ library: PhotoLibrary, _ comment: String) async throws {
    let found = try await library.assets(model.assets.keys.sorted())
    for asset in found {
      #expect(ChangeModel.Said(asset) == model.assets[asset.id], "\(comment), asset \(asset.id)")
    }
    let collections = try await library.collections(kinds: [.album, .folder])
    #expect(Set(collections.map(\.id)) == Set(model.albums.keys), "\(comment)")
    for collection in collections {
      let expected = model.albums[collection.id]
      #expect(
        collection.title == expected?.title && collection.parentID == expected?.parentID
          && (collection.kind == .folder) == expected?.isFolder, "\(comment), \(collection)")
      guard collection.kind == .album else { continue }
      var ids: [AssetID] = []
      for try await page in library.fetchIDs(FetchOptions(collection: "id:\(collection.id)", includeHidden: true)) {
        ids += page.ids
      }
      #expect(ids == expected?.members, "\(comment), \(collection.title)")
    }
  }

  private struct Performed: Sendable {
    let sequence: Int64
    let requests: [ChangeRequest]
    let created: [CollectionID]
  }

  /// - Returns: the calls that succeeded.
  private static func perform(
    _ count: Int, _ model: ChangeModel, _ socket: String, seed: UInt64
  ) async throws -> [Performed] {
    let library = PhotoLibrary(socketPath: socket)
    var random = SeededGenerator(seed: seed)
    var performed: [Performed] = []
    for _ in 0..<count {
      let requests = (0..<Int.random(in: 1...3, using: &random)).map { _ in model.randomRequest(using: &random) }
      do {
        let result = try await library.performChanges(requests)
        let sequence = try #require(ChangeToken(result.token)?.sequence)
        performed.append(
          Performed(sequence: sequence, requests: requests, created: result.createdCollectionIDs))
      } catch PhotoLibraryError.changeRejected, PhotoLibraryError.noSuchAsset, PhotoLibraryError.noSuchCollection {
        // Nothing of the call was done, which the comparison shows.
      }
    }
    return performed
  }
}

/// The list of collections as an app follows it. Each reply must fit the list before it.
private final class FollowedAlbums: Sendable {
  private let replica = Mutex(CollectionListReplica())

  var collections: [AssetCollection] { replica.withLock { $0.collections } }

  /// Follows until the task is cancelled, also while photod is killed and started again.
  func follow(_ library: PhotoLibrary) async throws {
    while !Task.isCancelled {
      replica.withLock { $0 = CollectionListReplica() }
      do {
        for try await observation in library.observeCollections() {
          try replica.withLock { _ = try $0.apply(observation) }
        }
      } catch is CancellationError {
        return
      } catch is PhotoLibraryError {
        try await Task.sleep(for: .milliseconds(50))
      } catch {
        Issue.record("the observer is out of step: \(error)")
        throw error
      }
    }
  }
}
