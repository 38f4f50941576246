import Dispatch
import Logging
import PhotoCatalog
import PhotoImages
import PhotoLive
import PhotoModel

/// Reports removed and changed assets to the engine, after each commit.
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
    while let next = await live.feed.next(after: sequence), !Task.isCancelled {
      do {
        let effects = try await effects(after: sequence, through: next)
        // A picture shows the content. Metadata has the orientation.
        let changed = effects.touched.fields.filter { !$0.value.isDisjoint(with: [.content, .metadata]) }
        let removed = effects.touched.deleted
        if !removed.isEmpty { engine.assetsWereRemoved(removed.map(\.rawValue)) }
        let ids = changed.keys.filter { !removed.contains($0) }
        if !ids.isEmpty { engine.assetsChanged(ids.map(\.rawValue)) }
      } catch {
        // Pictures of removed assets are evicted later. No client asks for them, because their ids are never used again.
        logger.debug("commits not read for pictures", metadata: ["error": "\(error)"])
      }
      sequence = next
    }
  }

  /// The newest effects are in memory. The effects of large commits are read from the history, which blocks.
  private func effects(after sequence: Int64, through last: Int64) async throws -> CommitEffects {
    if let known = live.commits.known(after: sequence, through: last) { return known }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [live] in
        continuation.resume(with: Result { try live.commits.effects(after: sequence, through: last) })
      }
    }
  }
}
