import Dispatch
import Logging
import PhotoCatalog
import PhotoImages
import PhotoLive
import PhotoModel

/// Reports removed, changed and renamed assets to the engine, after each commit.
package struct ImageUpdates: Sendable {
  private let engine: ImageEngine
  private let live: LiveLibrary
  private let logger: Logger
  private let queue = DispatchQueue(label: "photod.pictures.updates")

  package init(engine: ImageEngine, live: LiveLibrary, logger: Logger) {
    self.engine = engine
    self.live = live
    self.logger = logger
  }

  /// Follows the commits until the library ends, or the task is cancelled.
  package func follow() async {
    var sequence = live.feed.sequence
    // Commits before this one are not followed.
    engine.filesChanged(nil)
    while let next = await live.feed.next(after: sequence), !Task.isCancelled {
      do {
        report(try await effects(after: sequence, through: next))
      } catch {
        // Pictures of removed assets are removed at the next start. No other asset gets their ids. If a deleted photo
        // returns, its pictures are right, because their names have its revision.
        logger.debug("commits not read for pictures", metadata: ["error": "\(error)"])
        engine.filesChanged(nil)
      }
      sequence = next
    }
  }

  /// A picture shows the content. Metadata has the orientation.
  private static let shown: ChangedFields = [.content, .metadata]
  /// Shared thumbnails depend on these too. The thumbnails of an offline drive stay.
  private static let shared: ChangedFields = [.content, .metadata, .path, .resources, .hidden, .trashed]

  private func report(_ effects: CommitEffects) {
    let removed = effects.touched.deleted
    if !removed.isEmpty { engine.assetsWereRemoved(Array(removed)) }
    let ids = ids(effects, Self.shown)
    if !ids.isEmpty { engine.assetsChanged(ids) }
    guard engine.followsFiles else { return }
    // The assets of a large folder are a group, whose ids are not listed.
    let hasGroup = effects.touched.groups.contains { !$0.fields.isDisjoint(with: Self.shared) }
    engine.filesChanged(hasGroup ? nil : self.ids(effects, Self.shared))
  }

  private func ids(_ effects: CommitEffects, _ fields: ChangedFields) -> [AssetID] {
    let removed = effects.touched.deleted
    return effects.touched.fields.compactMap { id, changed in
      changed.isDisjoint(with: fields) || removed.contains(id) ? nil : id
    }
  }

  /// The newest effects are in memory. The effects of large commits are read from the history, which blocks. So are the
  /// assets below a renamed folder, but only shared thumbnails need them.
  private func effects(after sequence: Int64, through last: Int64) async throws -> CommitEffects {
    if let known = live.commits.known(after: sequence, through: last), !known.hasRenames || !engine.followsFiles {
      return known
    }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [live] in
        continuation.resume(with: Result { try live.commits.effects(after: sequence, through: last) })
      }
    }
  }
}
