// Writes to photo files.
extension SimulatedDisk {
  func stamp(_ volume: Int) -> Int64 {
    let time = clock.wall
    return time - time % volumes[volume].kind.grain
  }

  func makeNode(_ volume: Int, isDirectory: Bool) -> UInt64 {
    let time = stamp(volume)
    let inode: UInt64
    if volumes[volume].kind != .fat, let free = volumes[volume].freeInodes.popLast() {
      inode = free
    } else {
      volumes[volume].lastInode += 1
      inode = volumes[volume].lastInode
    }
    let birth = volumes[volume].kind.hasBirthTimes ? clock.wall - clock.wall % (4 * milliseconds) : 0
    volumes[volume].nodes[inode] = Node(
      isDirectory: isDirectory, birthTime: birth, modificationTime: time, changeTime: time)
    return inode
  }

  func edit(_ key: NodeKey, _ body: (inout Node) -> Void) { body(&volumes[key.volume].nodes[key.inode]!) }

  func setEntry(_ folder: NodeKey, _ name: String, _ entry: Entry?) {
    let time = stamp(folder.volume)
    edit(folder) { node in
      node.entries[name] = entry
      node.modificationTime = time
      node.changeTime = time
    }
  }

  /// Writes a new file, or a new picture into an existing one.
  ///
  /// - Parameters:
  ///   - isDone: the program closes the file; otherwise the file is half written and open.
  ///   - content: the number of the content; nil for a new picture.
  ///   - isPage: the new picture is a page of a scanner.
  func write(_ path: String, isDone: Bool, content: Int? = nil, isPage: Bool = false) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory else { return false }
    if node(parent).entries[name] == nil {
      lastPhoto += 1
      let inode = makeNode(parent.volume, isDirectory: false)
      setEntry(parent, name, Entry(inode: inode, photo: lastPhoto))
      emit(parent, .create, name)
    }
    guard let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    let key = NodeKey(volume: parent.volume, inode: entry.inode)
    if let content { fill(key, content) } else { fill(key, isDone: isDone, isPage: isPage) }
    if isDone { emit(parent, .closeWrite, name) }
    return true
  }

  private func fill(_ key: NodeKey, isDone: Bool, isPage: Bool = false) {
    repeat { lastContent += 1 } while isPage && !Self.isPage(lastContent)
    fill(key, lastContent, isPartial: !isDone)
  }

  private func fill(_ key: NodeKey, _ content: Int, isPartial: Bool = false) {
    let time = stamp(key.volume)
    edit(key) { node in
      node.content = content
      node.isPartial = isPartial
      node.byteCount = isPartial ? 10 + Int64(content % 7) : node.isPage ? 5000 : 1000 + Int64(content % 97)
      node.modificationTime = time
      node.changeTime = time
    }
  }

  /// Writes a new file with the bytes of the file that was removed from the other path.
  func writeAgain(_ path: String, bytesOf other: String) -> Bool {
    guard let removed = removedContents[other], entry(path) == nil,
      write(path, isDone: true, content: removed.content), let written = resolve(path)
    else { return false }
    edit(written) { $0.byteCount = removed.byteCount }
    return true
  }

  /// Writes the rest of a half written file. It stays open, so no event reports it.
  func finish(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    fill(NodeKey(volume: parent.volume, inode: entry.inode), isDone: true)
    return true
  }

  /// Creates an empty file.
  func create(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory, node(parent).entries[name] == nil else {
      return false
    }
    lastPhoto += 1
    let inode = makeNode(parent.volume, isDirectory: false)
    setEntry(parent, name, Entry(inode: inode, photo: lastPhoto))
    emit(parent, .create, name)
    return true
  }

  /// Writes other bytes and sets the modification time back, as `exiv2 -k` does.
  func edit(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    let key = NodeKey(volume: parent.volume, inode: entry.inode)
    guard node(key).content != 0, !node(key).isPartial else { return false }
    let time = stamp(parent.volume)
    // Within one tick of the file system's clock an edit leaves no trace.
    guard node(key).changeTime != time else { return false }
    lastContent += 1
    edit(key) { node in
      node.content = lastContent
      node.changeTime = time
    }
    emit(parent, .closeWrite, name)
    return true
  }

  /// Closes a file after writing. The bytes stay the same, and a program that has the file open for writing closes it.
  func touch(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    emit(parent, .closeWrite, name)
    return true
  }

  /// Saves through a temporary file that is renamed over the photo. A person regards it as the same photo.
  func save(_ path: String, beside temporary: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let entry = entry(path), entry.photo != 0, self.entry(folder + "/" + temporary) == nil,
      write(folder + "/" + temporary, isDone: true)
    else { return false }
    let parent = resolve(folder)!
    let before = lastPhoto
    guard rename(folder + "/" + temporary, path) else { return false }
    lastPhoto = max(before, lastPhoto)
    let inode = node(parent).entries[name]!.inode
    edit(parent) { $0.entries[name] = Entry(inode: inode, photo: entry.photo) }
    return true
  }

  /// Ends a save whose first half was reported: `other` is less than two seconds old and is renamed over `path`.
  func replace(_ path: String, by other: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let old = entry(path), old.photo != 0, let new = entry(other), new.photo != 0, let key = resolve(other),
      volumes[key.volume].kind == .ext4, node(key).linkCount == 1,
      clock.wall - node(key).birthTime < 1900 * milliseconds, rename(other, path)
    else { return false }
    edit(resolve(folder)!) { $0.entries[name]?.photo = old.photo }
    return true
  }
}
