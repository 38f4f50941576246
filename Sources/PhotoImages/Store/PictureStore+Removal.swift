import Dispatch
import Glibc
import Logging
import PhotoModel

// The size of the store, and the removal of pictures.
extension PictureStore {
  /// How many pictures are chosen for one eviction.
  private static let mostEvicted = 4096
  /// How often a folder that changes meanwhile is read.
  private static let mostReadings = 3
  /// How old the temporary file of another library is if its photod was killed, in seconds.
  private static let oldestTemporary = 3_600

  // MARK: - The size

  /// Reads the folders in the background, and removes the pictures of assets that were deleted. photod may have been
  /// killed before it removed them.
  func scan() {
    queue.async { [self] in
      removeTemporary()
      for folder in 0..<KeptFiles.folderCount { removeMissing(measure(folder)) }
      tidy()
      logger.debug("kept pictures were read", metadata: ["bytes": "\(byteCount)"])
    }
  }

  /// Removes the temporary files of a photod that was killed. Another library may be writing one. A copy of a file on a
  /// share is used without its name, so it can be removed at any time.
  private func removeTemporary() {
    let now = Int(clock.seconds())
    for name in FileReading.names(in: "\(files.directory)/temporary") where !name.hasPrefix(token + "-") {
      let path = "\(files.directory)/temporary/\(name)"
      var status = stat()
      guard
        name.hasPrefix(Self.tokenStart(library)) || name.hasPrefix(TemporaryNames.copyStart)
          || lstat(path, &status) == 0 && status.st_mtim.tv_sec < now - Self.oldestTemporary
      else { continue }
      guard state.withLock({ $0.mayRemove }) else { return }
      unlink(path)
    }
  }

  /// Removes the pictures of assets that were deleted. A deleted photo may return with its id after the catalog was read.
  /// Then a picture of it is removed all the same, and is made again at the next request.
  private func removeMissing(_ all: [KeptFile]) {
    let files = all.filter { $0.key.library == library }
    guard !files.isEmpty else { return }
    let missing = missing(Set(files.map(\.key.assetID)))
    for file in files where missing.contains(file.key.assetID) {
      state.withLock { drop(file.key, isPNG: file.isPNG, &$0) }
    }
  }

  /// Counts the bytes of a folder.
  /// - Returns: its pictures.
  @discardableResult
  private func measure(_ folder: Int) -> [KeptFile] {
    var found: [KeptFile] = []
    for _ in 0..<Self.mostReadings {
      let changeCount = state.withLock { $0.changeCounts[folder] }
      found = files.files(in: folder)
      let byteCount = found.reduce(0) { $0 + Int64($1.byteCount) }
      let isSame = state.withLock { state in
        guard state.changeCounts[folder] == changeCount else { return false }
        state.byteCounts[folder] = byteCount
        return true
      }
      if isSame { break }
    }
    return found
  }

  /// Counts the bytes of a folder again, in the background.
  func measureLater(_ folder: Int) { queue.async { self.measure(folder) } }

  /// Changes the size of the store. If there are too many bytes, pictures are evicted in the background.
  func setMaximumBytes(_ maximumBytes: Int64) {
    state.withLock { state in
      state.maximumBytes = maximumBytes
      state.evictionPause = 0
    }
    queue.async { self.tidy() }
  }

  // MARK: - Eviction

  /// Whether the caller must order an eviction.
  func takeEviction(_ state: inout State) -> Bool {
    guard state.byteCount > state.maximumBytes, !state.isEvictionScheduled, clock.seconds() >= state.evictionPause
    else { return false }
    state.isEvictionScheduled = true
    return true
  }

  /// Removes the files whose time is over, and evicts pictures if there are too many bytes. It takes as long as the disk
  /// needs to read the folders.
  func tidy() {
    let now = clock.seconds()
    let due = state.withLock { state in
      state.sent.dropExpired(at: now)
      return state.pendingRemovals.keys.filter { isDue($0, state, now) }
    }
    for key in due {
      state.withLock { state in
        // It may have been made again, or sent, since the list was made.
        guard isDue(key, state, now), let isPNG = state.pendingRemovals.removeValue(forKey: key) else { return }
        remove(key, isPNG: isPNG, &state)
      }
    }
    let maximum = state.withLock { state in
      state.byteCount > state.maximumBytes && now >= state.evictionPause ? state.maximumBytes : nil
    }
    if let maximum { evict(downTo: maximum - maximum / 64) }
    state.withLock { state in
      state.isEvictionScheduled = false
      if !state.pendingRemovals.isEmpty || !state.sent.isEmpty || state.byteCount > state.maximumBytes {
        scheduleTidy(&state)
      }
    }
  }

  /// Whether no result needs the file any more.
  private func isDue(_ key: PictureKey, _ state: State, _ now: UInt32) -> Bool {
    state.pins[key] == nil && !state.sent.contains(key, at: now)
  }

  func scheduleTidy(_ state: inout State) {
    guard !state.isTidyScheduled else { return }
    state.isTidyScheduled = true
    queue.asyncAfter(deadline: .now() + .seconds(Int(RecentlySent.time) / 6)) { [weak self] in
      self?.state.withLock { $0.isTidyScheduled = false }
      self?.tidy()
    }
  }

  /// Evicts pictures until so many bytes have room. It blocks while the folders are read.
  /// - Returns: false if there is no room, because all other pictures are held, or were sent a moment ago.
  func makeRoom(for byteCount: Int64) -> Bool {
    func hasRoom() -> Bool { state.withLock { $0.byteCount + byteCount <= $0.maximumBytes } }
    guard !hasRoom() else { return true }
    queue.sync {
      // Another thread may have made room meanwhile. Otherwise each would read all folders, one after another.
      guard !hasRoom() else { return }
      let maximum = state.withLock { $0.maximumBytes }
      // Room for one picture only would be a search of the disk for each.
      evict(downTo: maximum - maximum / 64 - byteCount)
    }
    return hasRoom()
  }

  /// Evicts pictures in rounds. Each round reads all folders, and chooses the pictures that were used least recently.
  ///
  /// - Parameter limit: the bytes that may stay.
  private func evict(downTo limit: Int64) {
    while true {
      var oldest = OldestFiles(Self.mostEvicted)
      for folder in 0..<KeptFiles.folderCount {
        for file in measure(folder) where oldest.mayTake(file) && state.withLock({ mayEvict(file, $0) }) {
          oldest.add(file)
        }
      }
      let chosen = oldest.sorted
      for file in chosen {
        let isEnough = state.withLock { state in
          guard state.byteCount > limit, state.mayRemove else { return true }
          guard mayEvict(file, state) else { return false }
          remove(file.key, isPNG: file.isPNG, &state)
          return false
        }
        if isEnough { return }
      }
      // All pictures that could go were chosen. Another round would only find those whose time has ended meanwhile, and
      // removals would wait for it.
      guard chosen.count >= Self.mostEvicted else {
        return state.withLock { $0.evictionPause = clock.seconds() + RecentlySent.time }
      }
    }
  }

  private func mayEvict(_ file: KeptFile, _ state: State) -> Bool {
    let key = file.key
    guard key.library == library else { return !mayBeSent(file) }
    return state.pins[key] == nil && !state.sent.contains(key, at: clock.seconds()) && !isHeld(key.assetID)
      && state.pendingRemovals[key] == nil
  }

  /// Whether another library may have sent the picture in the last 60 s, by the time of its last use.
  ///
  /// A picture with a later time was written while the clock was wrong.
  private func mayBeSent(_ file: KeptFile) -> Bool {
    let now = clock.seconds()
    return file.lastUse <= now &+ Self.useInterval && file.lastUse &+ Self.useInterval &+ RecentlySent.time >= now
  }

  // MARK: - Removing

  /// Removes the pictures of these assets, in the background.
  func remove(assetIDs: [AssetID]) { removeLater { $0.deleted.formUnion(assetIDs) } }

  /// Removes the pictures of other revisions, in the background.
  func removeStale(assetIDs: [AssetID]) { removeLater { $0.changed.formUnion(assetIDs) } }

  private func removeLater(_ add: @Sendable (inout State) -> Void) {
    state.withLock { add(&$0) }
    queue.async { self.removeOrdered() }
  }

  /// All that was ordered until now is removed with one reading of each folder.
  private func removeOrdered() {
    let (deleted, changed) = state.withLock { state in
      defer { (state.deleted, state.changed) = ([], []) }
      return (state.deleted, state.changed)
    }
    var current: [AssetID: UInt64?] = [:]
    for folder in Set(deleted.union(changed).map { PictureKey.folderIndex(of: $0) }) {
      guard state.withLock({ $0.mayRemove }) else { return }
      for file in files.files(
        in: folder,
        of: { $0.library == library && (deleted.contains($0.assetID) || changed.contains($0.assetID)) })
      {
        let key = file.key
        if !deleted.contains(key.assetID) {
          let revision = current[key.assetID] ?? revision(key.assetID)
          current[key.assetID] = revision
          // If the revision is not known, the asset was deleted, or the catalog can't be read.
          guard let revision, revision != key.revision else { continue }
        }
        state.withLock { drop(key, isPNG: file.isPNG, &$0) }
      }
    }
  }

  /// Removes all pictures, except those that were sent in the last 60 s. They go when that time is over, or stay if they
  /// are those of another library.
  func clear() {
    queue.sync {
      for folder in 0..<KeptFiles.folderCount {
        for file in measure(folder) where file.key.library == library || !mayBeSent(file) {
          state.withLock { drop(file.key, isPNG: file.isPNG, &$0) }
        }
      }
    }
  }

  /// Removes the pictures of deleted assets that were ordered to go, and those that stay only because their path was
  /// sent a moment ago. photod ends, so that promise ends too. Without this, their files would stay until the next
  /// start. The queue may be busy with an eviction, so this does not wait for it.
  ///
  /// After this, the store removes nothing more, also not on its queue.
  ///
  /// - Parameter deadline: from this time on, nothing is removed. The next start removes the other pictures of deleted
  ///   assets.
  func finishRemovals(until deadline: DispatchTime) {
    state.withLock { $0.removalEnd = deadline }
    removeOrdered()
    for key in state.withLock({ Array($0.pendingRemovals.keys) }) {
      let isOver = state.withLock { state in
        guard state.mayRemove else { return true }
        if let isPNG = state.pendingRemovals.removeValue(forKey: key) { remove(key, isPNG: isPNG, &state) }
        return false
      }
      if isOver { break }
    }
    state.withLock { $0.removalEnd = .now() }
  }

  /// Removes a picture now, or later if its path must stay readable.
  private func drop(_ key: PictureKey, isPNG: Bool, _ state: inout State) {
    guard state.pins[key] != nil || state.sent.contains(key, at: clock.seconds()) else {
      return remove(key, isPNG: isPNG, &state)
    }
    state.pendingRemovals[key] = isPNG
    scheduleTidy(&state)
  }

  private func remove(_ key: PictureKey, isPNG: Bool, _ state: inout State) {
    guard state.mayRemove, let file = files.file(of: key, isPNG: isPNG),
      unlink(files.path(of: key, isPNG: isPNG)) == 0
    else { return }
    state.byteCounts[key.folder] -= Int64(file.byteCount)
    state.changeCounts[key.folder] &+= 1
  }
}
