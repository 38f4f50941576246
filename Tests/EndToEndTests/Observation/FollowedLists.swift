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
  private let replica = Mutex(FetchResultReplica())
  private let options: FetchOptions

  init(_ options: FetchOptions) { self.options = options }

  var ids: [AssetID] { replica.withLock { $0.ids } }

  /// Follows until the task is cancelled. When photod is back after its end, the observation continues from the last token.
  func follow(_ library: PhotoLibrary) async throws {
    while !Task.isCancelled {
      do {
        for try await observation in library.observe(options, resuming: replica.withLock { $0 }) {
          try replica.withLock { _ = try $0.apply(observation) }
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
