import Foundation
import PhotoClient
import PhotoModel
import Synchronization
import Testing

/// The list of collections as an app follows it. Each reply must fit the list before it.
final class FollowedAlbums: Sendable {
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

/// A list of assets as an app follows it. Each reply must fit the list before it, and the digest must be that of the list.
final class FollowedAssets: Sendable {
  private struct State {
    var replica = FetchResultReplica()
    var assets: [AssetID: Asset] = [:]
    var reloads: [Observation.Reload] = []
  }

  private let state = Mutex(State())
  private let options: FetchOptions

  init(_ options: FetchOptions) { self.options = options }

  var ids: [AssetID] { state.withLock { $0.replica.ids } }
  /// The assets of the list as the observations had them. An asset that is not known yet is left out.
  var assets: [Asset] { state.withLock { state in state.replica.ids.compactMap { state.assets[$0] } } }
  /// Why the whole list was sent again, each time.
  var reloads: [Observation.Reload] { state.withLock { $0.reloads } }

  /// Follows until the task is cancelled. When photod is back after its end, the observation continues from the last token.
  func follow(_ library: PhotoLibrary) async throws {
    while !Task.isCancelled {
      do {
        let observations = library.observe(options, resuming: state.withLock { $0.replica }, objects: true)
        for try await observation in observations {
          let step = try state.withLock { try $0.replica.apply(observation) }
          let changed: [Asset]
          switch step {
          case .list(let reload):
            if let reload { state.withLock { $0.reloads.append(reload) } }
            changed = try await library.assets(ids)
          case .details(let details):
            let list = ids
            let changedIDs = details.changedAfter.flatMap { list[$0.start..<$0.start + $0.count] }
            let needed = details.insertedIDs + changedIDs
            let sent = (observation.insertedAssets ?? []) + (observation.changedAssets ?? [])
            // They are left out if they are too many.
            changed = sent.map(\.id) == needed ? sent : try await library.assets(needed)
          case .partOfList, .unchanged, .stale: continue
          }
          state.withLock { state in for asset in changed { state.assets[asset.id] = asset } }
        }
      } catch is CancellationError {
        return
      } catch is PhotoLibraryError {
        try await Task.sleep(for: .milliseconds(50))
      } catch {
        Issue.record("the observer of \(options) is out of step: \(error)")
        throw error
      }
    }
  }
}
