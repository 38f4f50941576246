import ChangeDetails
import Foundation
import PhotoClient
import PhotoModel
import Synchronization
import TestTools
import Testing

/// Results as an app holds them: each change must lead from the held result to the next one.
final class ObservedResults: Sendable {
  /// A change without details.
  struct Reload: Sendable {
    let result: Int
    let reason: FetchResultChange.ReloadReason
    let countBefore: Int
    let countAfter: Int
    /// The size of the details without the changed assets, in the form of the contract.
    let byteCount: Int

    /// photod sends the list if the details have more than 16 KiB and are longer than the list. Much of them may be about
    /// the changed assets, which the test does not know.
    var isOfManyChanges: Bool { reason == .tooManyChanges && byteCount > 4 << 10 }
  }

  private struct State {
    var results: [FetchResult]
    var collections: [CollectionFetchResult]
    var changes = 0
    var reloads: [Reload] = []
  }

  private let state: Mutex<State>

  init(_ results: [FetchResult], _ collections: [CollectionFetchResult] = []) {
    state = Mutex(State(results: results, collections: collections))
  }

  var results: [FetchResult] { state.withLock { $0.results } }
  var collections: [CollectionFetchResult] { state.withLock { $0.collections } }
  var changeCount: Int { state.withLock { $0.changes } }
  var reloads: [Reload] { state.withLock { $0.reloads } }

  /// Follows the results until the task is cancelled.
  func follow(_ library: PhotoLibrary) async throws {
    var (results, collections) = (self.results, self.collections)
    var last: ChangeToken?
    for await change in library.changes(for: results + collections as [any ObservableResult]) {
      let token = try #require(ChangeToken(change.token))
      if let last {
        #expect((last.epoch, last.sequence) < (token.epoch, token.sequence), "a commit came in two changes")
      }
      last = token
      for index in results.indices {
        guard let details = change.details(for: results[index]) else { continue }
        try await expect(details, from: results[index], change)
        if let reason = details.reloadReason {
          let (before, after) = (try await results[index].ids, try await details.after.ids)
          let difference = FetchResultChangeDetails.full(from: before, to: after, touched: TouchedAssets())
          let reload = Reload(
            result: index, reason: reason, countBefore: before.count, countAfter: after.count,
            byteCount: try JSONEncoder().encode(difference).count)
          state.withLock { $0.reloads.append(reload) }
        }
        results[index] = details.after
      }
      for index in collections.indices {
        guard let details = change.details(for: collections[index]) else { continue }
        #expect(
          try details.details.applied(to: collections[index].map(Self.element)) == details.after.map(Self.element))
        // The other collections stay equal.
        let changed = Set(details.changedObjects.map(\.id)).union(details.insertedObjects.map(\.id))
        let known = Dictionary(uniqueKeysWithValues: collections[index].map { ($0.id, $0) })
        for collection in details.after where !changed.contains(collection.id) {
          #expect(known[collection.id] == collection)
        }
        collections[index] = details.after
      }
      let (shown, shownCollections) = (results, collections)
      state.withLock { state in
        (state.results, state.collections) = (shown, shownCollections)
        state.changes += 1
      }
    }
  }

  private static func element(_ collection: AssetCollection) -> AssetID { AssetID(rawValue: collection.id.rawValue) }

  private func expect(_ details: FetchResultChange, from held: FetchResult, _ change: Change) async throws {
    #expect(details.before == held && details.after.token == change.token)
    if let known = ChangeToken(held.token), let reached = ChangeToken(change.token) {
      #expect(known.epoch == reached.epoch && known.sequence <= reached.sequence, "a token went backwards")
    }
    guard let contract = details.details else { return }
    let (before, after) = (try await held.ids, try await details.after.ids)
    #expect(try contract.applied(to: before) == after)
    #expect(details.removedIDs == details.removedIndexes.ranges.flatMap { before[$0] })
    #expect(details.insertedIDs == details.insertedIndexes.ranges.flatMap { after[$0] })
    // An asset that came may have been deleted since, but no other takes its place.
    for (id, asset) in zip(details.insertedIDs, try await details.insertedObjects()) {
      #expect(asset == nil || asset?.id == id)
    }
  }

  /// Waits until all results equal fresh fetches.
  func expectFresh(_ library: PhotoLibrary, _ comment: String) async throws {
    for (index, result) in results.enumerated() {
      let fresh = try await library.fetchAssets(with: result.options)
      let ids = try await fresh.ids
      try await eventually("result \(index) is as fetched, \(comment)") { try await results[index].ids == ids }
    }
    for index in collections.indices {
      // The Duplicates album changes when photod has read the files, which is later than the synchronization.
      try await eventually("the collections are as fetched, \(comment)") {
        let fresh = try await library.fetchAssetCollections()
        return collections[index].collections == fresh.collections
      }
    }
  }
}
