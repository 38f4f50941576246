// The kernel's side of inotify.
extension SimulatedDisk {
  /// - Returns: nil if no watch is left.
  func addWatch(_ key: NodeKey) -> Int? {
    if let known = watches[key] { return known }
    guard watches.count < watchLimit else { return nil }
    lastWatch += 1
    watches[key] = lastWatch
    return lastWatch
  }

  func removeWatch(_ watch: Int) {
    guard let key = watches.first(where: { $0.value == watch })?.key else { return }
    watches[key] = nil
    emit(watch, .ignored)
  }

  /// The watcher ends. Its inotify instance is removed with all queued events.
  func dropInstance() {
    watches = [:]
    queue = []
  }

  /// All queued events are lost.
  func overflow() {
    queue = [KernelEvent(kind: .overflow, watch: -1, name: "", isDirectory: false, cookie: 0)]
  }

  func emitCookie(_ number: UInt64) {
    queue.append(KernelEvent(kind: .cookie, watch: -2, name: "", isDirectory: false, cookie: number))
  }

  func emit(
    _ folder: NodeKey, _ kind: KernelEvent.Kind, _ name: String, isDirectory: Bool = false, cookie: UInt64 = 0
  ) {
    guard let watch = watches[folder] else { return }
    queue.append(KernelEvent(kind: kind, watch: watch, name: name, isDirectory: isDirectory, cookie: cookie))
  }

  func emit(_ watch: Int, _ kind: KernelEvent.Kind) {
    queue.append(KernelEvent(kind: kind, watch: watch, name: "", isDirectory: false, cookie: 0))
  }
}
