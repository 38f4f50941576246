import PhotoWatch
import WatchRecords

/// The environment "scripted watcher": it takes the orders of a library as photod-watch does, and reports nothing by itself.
/// A test gives the library its records directly.
///
/// The simulation of the indexer has a watcher with a disk of its own, `SimulatedWatcher`.
package final class ScriptedWatcher: SingleLaneSource {
  private let onRoots: @Sendable ([WatchRoot]) -> Void

  /// - Parameter onRoots: called on the library's own executor with the roots that it orders to watch. It may block, and
  ///   so holds up the library.
  package init(onRoots: @escaping @Sendable ([WatchRoot]) -> Void = { _ in }) { self.onRoots = onRoots }

  package func nextInput() async -> WatchInput? { nil }
  package func start() throws {}
  package func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 { 0 }
  package func sync(number: UInt64) -> Set<Int> { [0] }
  package func setRoots(_ roots: [WatchRoot]) { onRoots(roots) }
  package func stop() async {}
}
