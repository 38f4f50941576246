// Mounts and unmounts of file systems.
extension SimulatedDisk {
  func addVolume(_ kind: Kind) -> Int {
    // The serial number of a FAT volume has eight digits. photod sees from that whether its inodes last.
    let number = volumes.count
    let identity = kind == .fat ? "uuid:5A1D-000\(number)" : "uuid:6f1c1f9e-0000-4000-8000-00000000000\(number)"
    var volume = Volume(kind: kind, identity: identity, device: 0)
    let time = clock.wall
    volume.nodes[1] = Node(
      isDirectory: true, birthTime: kind.hasBirthTimes ? time : 0, modificationTime: time, changeTime: time)
    volumes.append(volume)
    return volumes.count - 1
  }

  func mount(_ volume: Int, at path: String) -> Bool {
    guard !mounts.values.contains(volume), mounts[path] == nil,
      path == "" || resolve(path).map({ node($0).isDirectory }) == true
    else { return false }
    mounts[path] = volume
    lastDevice += 1
    volumes[volume].device = lastDevice
    identities[lastDevice] = volumes[volume].identity
    if volumes[volume].kind == .fat { renumber(volume) }
    mountsChanged = true
    return true
  }

  func unmount(_ path: String) -> Bool {
    guard let volume = mounts[path], path != "" else { return false }
    mounts[path] = nil
    for (key, watch) in watches.sorted(by: { $0.value < $1.value }) where key.volume == volume {
      emit(watch, .unmount)
      emit(watch, .ignored)
      watches[key] = nil
    }
    mountsChanged = true
    return true
  }

  /// FAT stores no inodes. They are assigned at each mount.
  private func renumber(_ index: Int) {
    let old = volumes[index]
    var nodes: [UInt64: Node] = [:]
    var last = old.lastInode
    func copy(_ inode: UInt64, as number: UInt64) {
      guard var node = old.nodes[inode] else { return }
      for (name, entry) in node.entries.sorted(by: { $0.key < $1.key }) {
        last += 1
        let child = last
        node.entries[name] = Entry(inode: child, photo: entry.photo)
        copy(entry.inode, as: child)
      }
      nodes[number] = node
    }
    copy(1, as: 1)
    volumes[index].nodes = nodes
    volumes[index].lastInode = last
    volumes[index].freeInodes = []
  }
}
