@testable import PhotoIndexer

// The changes that a person and programs make to the disk.
extension Simulation {
  func change(_ step: SimulatedStep) {
    var isFolder = false
    let isDone: Bool
    switch step {
    case .makeDirectory(let path):
      isDone = disk.makeDirectory(path)
      isFolder = true
    case .create(let path):
      isDone = disk.create(path)
    case .begin(let path):
      let isNew = disk.entry(path) == nil
      let isEmpty = disk.resolve(path).map { disk.node($0).byteCount == 0 } ?? false
      isDone = disk.write(path, isDone: false)
      if isDone, let entry = disk.entry(path) {
        openPhotos.insert(entry.photo)
        if isEmpty && !isNew { untoldPhotos.insert(entry.photo) }
        bornOpen[entry.photo] = isNew ? clock.boot : nil
      }
    case .finish(let path):
      let photo = disk.entry(path)?.photo ?? 0
      let isYoung = bornOpen[photo].map { clock.boot - $0 < 20 * seconds } ?? false
      isDone = isYoung && disk.finish(path)
      if isDone {
        openPhotos.remove(photo)
        unsaidPhotos.insert(photo)
      }
      bornOpen[photo] = nil
    case .write(let path):
      isDone = disk.write(path, isDone: true)
      if isDone, let entry = disk.entry(path) {
        openPhotos.remove(entry.photo)
        untoldPhotos.remove(entry.photo)
      }
      isFolder = path.hasSuffix(".nomedia")
    case .writeAgain(let path, let other): isDone = disk.writeAgain(path, bytesOf: other)
    case .edit(let path): isDone = disk.edit(path)
    case .replace(let path, let other):
      isDone = disk.replace(path, by: other)
      if isDone, let photo = disk.entry(path)?.photo, let file = disk.resolve(path) {
        unreadSaves[photo] = (disk.lastCookie, disk.node(file).birthTime)
      }
    case .scan(let path):
      isDone = disk.write(path, isDone: true, isPage: true)
      if isDone, let entry = disk.entry(path) {
        openPhotos.remove(entry.photo)
        untoldPhotos.remove(entry.photo)
      }
    case .touch(let path): isDone = disk.touch(path)
    case .save(let path, let beside): isDone = disk.save(path, beside: beside)
    case .rename(let path, let to):
      isFolder = disk.entry(path)?.photo == 0
      let isOverPhoto = (disk.entry(to)?.photo ?? 0) != 0
      isDone = disk.rename(path, to)
      if isDone, isOverPhoto, let photo = disk.entry(to)?.photo,
        !assets.values.contains(where: { $0.simulatedPath == path })
      {
        oracle.noteChanged([photo])
      }
    case .exchange(let path, let with):
      isFolder = disk.entry(path)?.photo == 0 || disk.entry(with)?.photo == 0
      isDone = disk.exchange(path, with)
      if isDone, let one = disk.entry(path)?.photo, let other = disk.entry(with)?.photo, one != 0, other != 0 {
        oracle.noteExchanged(one, other, at: clock.boot)
      }
    case .copy(let path, let to):
      isFolder = disk.entry(path)?.photo == 0
      isDone = disk.copy(path, to)
    case .copyExactly(let path, let to):
      isFolder = disk.entry(path)?.photo == 0
      isDone = disk.copy(path, to, isExact: true)
    case .backUp(let path): isDone = disk.backUp(path)
    case .restore(let path):
      let present = Set(disk.placements(roots: roots, rules: rules).keys)
      let restored = disk.restore(path, present: present)
      isDone = restored != nil
      isFolder = true
      if let restored { oracle.noteRestored(restored) }
    case .carry(let path, let to):
      let isDenied = disk.entry(path).flatMap { placements[$0.photo]?.isDenied } ?? false
      isDone = disk.carry(path, to)
      if isDone, let entry = disk.entry(to) {
        let isSeen = !isDenied && roots.contains { path.hasPrefix($0 + "/") }
        oracle.noteCarried(
          entry.photo, content: disk.resolve(to).map { disk.node($0).content }, isSeen: isSeen, at: clock.boot)
      }
    case .link(let path, let to): isDone = disk.link(path, to)
    case .remove(let path):
      isFolder = disk.entry(path)?.photo == 0 || path.hasSuffix(".nomedia")
      isDone = disk.remove(path)
    case .deny(let path):
      isDone = disk.setReadable(path, false)
      isFolder = true
    case .allow(let path):
      isDone = disk.setReadable(path, true)
      isFolder = true
    case .unmount(let path):
      if let volume = disk.mounts[path] { oracle.remounted.insert(volume) }
      isDone = disk.unmount(path)
      isOtherDisk = true
      oracle.isLossy = true
    case .mount(let volume, let path):
      isDone = disk.mount(volume, at: path)
      isOtherDisk = true
      oracle.remounted.insert(volume)
      oracle.isLossy = true
    default: return
    }
    guard isDone else { return note("  (not done)") }
    if isFolder { oracle.hasFolderChanges = true }
    notePlacements()
  }

  func notePlacements() {
    let now = disk.placements(roots: roots, rules: rules)
    for photo in Set(now.keys).union(placements.keys) where now[photo] != placements[photo] {
      for placement in [placements[photo], now[photo]] { if let placement { touchedPlaces.insert(placement.place) } }
    }
    let known = Set(assets.values.map { $0.simulatedPath.dropFirst($0.simulatedPath.hasPrefix("/usb") ? 4 : 0) })
    oracle.noteChanged(
      now.filter { photo, placement in
        let path = placement.place.drop { $0 != ":" }.dropFirst()
        return placements[photo].map { $0.content != placement.content } ?? false && !known.contains(path)
      }.keys)
    noteWrites(now)
    placements = now
    oracle.note(now)
    noteUndatedSaves()
  }

  /// Notes the files that were written, by their number of names.
  private func noteWrites(_ now: [Int: SimulationOracle.Placement]) {
    for (photo, placement) in now {
      if let before = placements[photo], (before.key, before.content) == (placement.key, placement.content) { continue }
      if !placement.hasLinks {
        writtenByLinks.remove(placement.key)
      } else if placements[photo] != nil {
        writtenByLinks.insert(placement.key)
      }
    }
  }

  /// Notes saved files that changed again before the watcher read the rename.
  private func noteUndatedSaves() {
    guard !unreadSaves.isEmpty else { return }
    let unread = Set(disk.queue.lazy.filter { $0.kind == .movedTo }.map(\.cookie))
    // The record of a save may be lost, too.
    if !oracle.isLossy { unreadSaves = unreadSaves.filter { unread.contains($0.value.cookie) } }
    for (photo, save) in unreadSaves {
      guard let file = placements[photo]?.key else { continue }
      if disk.node(file).changeTime - save.birthTime >= Reconciler.atomicSaveAge.wholeNanoseconds {
        oracle.noteUndatedSave(of: photo)
      }
    }
  }
}
