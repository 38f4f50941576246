// Creates, moves, copies and removes names.
extension SimulatedDisk {
  func makeDirectory(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory, node(parent).entries[name] == nil else {
      return false
    }
    let inode = makeNode(parent.volume, isDirectory: true)
    setEntry(parent, name, Entry(inode: inode, photo: 0))
    emit(parent, .create, name, isDirectory: true)
    return true
  }

  func rename(_ from: String, _ to: String) -> Bool {
    guard from != to, !to.hasPrefix(from + "/"),
      !mounts.keys.contains(where: { $0 == from || $0.hasPrefix(from + "/") }),
      mounts[to] == nil
    else { return false }
    let (fromFolder, fromName) = Self.split(from)
    let (toFolder, toName) = Self.split(to)
    guard let source = resolve(fromFolder), let target = resolve(toFolder), source.volume == target.volume,
      node(target).isDirectory, let entry = node(source).entries[fromName]
    else { return false }
    if let occupant = node(target).entries[toName] {
      guard (occupant.photo == 0) == (entry.photo == 0), occupant.inode != entry.inode else { return false }
      if occupant.photo == 0, !node(NodeKey(volume: target.volume, inode: occupant.inode)).entries.isEmpty {
        return false
      }
    }
    lastCookie += 1
    setEntry(source, fromName, nil)
    let occupant = node(target).entries[toName]
    setEntry(target, toName, entry)
    let moved = NodeKey(volume: source.volume, inode: entry.inode)
    let time = stamp(source.volume)
    edit(moved) { $0.changeTime = time }
    let isDirectory = entry.photo == 0
    emit(source, .movedFrom, fromName, isDirectory: isDirectory, cookie: lastCookie)
    emit(target, .movedTo, toName, isDirectory: isDirectory, cookie: lastCookie)
    if isDirectory, let watch = watches[moved] { emit(watch, .moveSelf) }
    if let occupant { release(NodeKey(volume: target.volume, inode: occupant.inode)) }
    return true
  }

  func exchange(_ first: String, _ second: String) -> Bool {
    guard first != second, !second.hasPrefix(first + "/"), !first.hasPrefix(second + "/"),
      !mounts.keys.contains(where: { $0.hasPrefix(first) || $0.hasPrefix(second) })
    else { return false }
    let (firstFolder, firstName) = Self.split(first)
    let (secondFolder, secondName) = Self.split(second)
    guard let one = resolve(firstFolder), let two = resolve(secondFolder), one.volume == two.volume,
      let a = node(one).entries[firstName], let b = node(two).entries[secondName], a.inode != b.inode
    else { return false }
    setEntry(one, firstName, b)
    setEntry(two, secondName, a)
    let time = stamp(one.volume)
    for entry in [a, b] { edit(NodeKey(volume: one.volume, inode: entry.inode)) { $0.changeTime = time } }
    for (from, fromName, to, toName, entry) in [
      (one, firstName, two, secondName, a), (two, secondName, one, firstName, b),
    ] {
      lastCookie += 1
      emit(from, .movedFrom, fromName, isDirectory: entry.photo == 0, cookie: lastCookie)
      emit(to, .movedTo, toName, isDirectory: entry.photo == 0, cookie: lastCookie)
      if entry.photo == 0, let watch = watches[NodeKey(volume: one.volume, inode: entry.inode)] {
        emit(watch, .moveSelf)
      }
    }
    return true
  }

  func link(_ from: String, _ to: String) -> Bool {
    let (fromFolder, fromName) = Self.split(from)
    let (toFolder, toName) = Self.split(to)
    guard let source = resolve(fromFolder), let target = resolve(toFolder), source.volume == target.volume,
      volumes[source.volume].kind.hasLinks, node(target).isDirectory, node(target).entries[toName] == nil,
      let entry = node(source).entries[fromName], entry.photo != 0
    else { return false }
    lastPhoto += 1
    let time = stamp(source.volume)
    let key = NodeKey(volume: source.volume, inode: entry.inode)
    edit(key) { node in
      node.linkCount += 1
      node.changeTime = time
    }
    setEntry(target, toName, Entry(inode: entry.inode, photo: lastPhoto))
    emit(target, .create, toName)
    return true
  }

  /// - Parameter isExact: the copy of a file keeps the modification time, as with `cp -a`.
  func copy(_ from: String, _ to: String, isExact: Bool = false) -> Bool {
    guard from != to, let source = resolve(from), !to.hasPrefix(from + "/") else { return false }
    let node = node(source)
    if node.isDirectory {
      guard makeDirectory(to) else { return false }
      for name in node.entries.keys.sorted() {
        _ = copy(from + "/" + name, to + "/" + name, isExact: isExact)
      }
      return true
    }
    guard node.content != 0, !node.isPartial, entry(to) == nil else { return false }
    guard write(to, isDone: true, content: node.content), let copied = resolve(to) else { return false }
    // After an edit, the size may differ from the one with which the content was written.
    edit(copied) { $0.byteCount = node.byteCount }
    if isExact { setTime(copied, node.modificationTime) }
    return true
  }

  func setTime(_ file: NodeKey, _ time: Int64) {
    let grain = volumes[file.volume].kind.grain
    edit(file) { $0.modificationTime = time - time % grain }
  }

  /// Moves a file between file systems, as mv(1) does. A person regards it as the same photo.
  func carry(_ from: String, _ to: String) -> Bool {
    guard let source = resolve(from), !node(source).isDirectory, let entry = entry(from),
      let target = resolve(Self.split(to).folder), target.volume != source.volume, node(source).linkCount == 1
    else { return false }
    guard copy(from, to, isExact: true) else { return false }
    edit(target) { $0.entries[Self.split(to).name]?.photo = entry.photo }
    return remove(from)
  }

  /// Removes a file, or a directory with everything below it.
  func remove(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name],
      !mounts.keys.contains(where: { $0 == path || $0.hasPrefix(path + "/") })
    else { return false }
    let key = NodeKey(volume: parent.volume, inode: entry.inode)
    if entry.photo == 0 {
      for child in node(key).entries.keys.sorted() { _ = remove(path + "/" + child) }
    } else if node(key).content != 0, !node(key).isPartial {
      removedContents[path] = (node(key).content, node(key).byteCount)
    }
    setEntry(parent, name, nil)
    release(key)
    emit(parent, .delete, name, isDirectory: entry.photo == 0)
    return true
  }

  private func release(_ key: NodeKey) {
    let time = stamp(key.volume)
    edit(key) { node in
      node.linkCount -= 1
      node.changeTime = time
    }
    guard node(key).linkCount == 0 else { return }
    if let watch = watches.removeValue(forKey: key) {
      emit(watch, .deleteSelf)
      emit(watch, .ignored)
    }
    volumes[key.volume].nodes[key.inode] = nil
    volumes[key.volume].freeInodes.append(key.inode)
  }

  func setReadable(_ path: String, _ isReadable: Bool) -> Bool {
    let (folder, name) = Self.split(path)
    guard let key = resolve(path), node(key).isDirectory, node(key).isReadable != isReadable else { return false }
    let time = stamp(key.volume)
    edit(key) { node in
      node.isReadable = isReadable
      node.changeTime = time
    }
    if let watch = watches[key] { emit(watch, .attributes) }
    if let parent = resolve(folder) { emit(parent, .attributes, name, isDirectory: true) }
    return true
  }
}
