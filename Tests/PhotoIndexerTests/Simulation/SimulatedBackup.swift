/// The photos of a folder and of its subfolders at the time of a backup.
struct SimulatedBackup {
  struct File {
    let photo: Int
    let content: Int
    let byteCount: Int64
    let modificationTime: Int64
  }

  var files: [String: File] = [:]
  var folders: [String: SimulatedBackup] = [:]
}

extension SimulatedDisk {
  func backUp(_ path: String) -> Bool {
    guard let key = resolve(path), node(key).isDirectory else { return false }
    backups[path] = backup(key)
    return true
  }

  private func backup(_ folder: NodeKey) -> SimulatedBackup {
    var backup = SimulatedBackup()
    for (name, entry) in node(folder).entries {
      let key = NodeKey(volume: folder.volume, inode: entry.inode)
      let node = node(key)
      if node.isDirectory {
        backup.folders[name] = self.backup(key)
      } else if node.content != 0, !node.isPartial {
        backup.files[name] = .init(
          photo: entry.photo, content: node.content, byteCount: node.byteCount,
          modificationTime: node.modificationTime)
      }
    }
    return backup
  }

  /// Puts back a folder that was removed.
  ///
  /// - Parameter present: the photos that are on some disk. If one of them is put back, that file is a copy of it.
  /// - Returns: the photos that are there again; nil if the folder could not be put back.
  func restore(_ path: String, present: Set<Int>) -> Set<Int>? {
    guard let backup = backups[path], makeDirectory(path) else { return nil }
    var restored: Set<Int> = []
    for (name, file) in backup.files.sorted(by: { $0.key < $1.key }) {
      let target = path + "/" + name
      guard write(target, isDone: true, content: file.content), let key = resolve(target) else { continue }
      edit(key) { $0.byteCount = file.byteCount }
      setTime(key, file.modificationTime)
      guard !present.contains(file.photo), let parent = resolve(path) else { continue }
      edit(parent) { $0.entries[name]?.photo = file.photo }
      restored.insert(file.photo)
    }
    for (name, folder) in backup.folders.sorted(by: { $0.key < $1.key }) {
      backups[path + "/" + name] = folder
      restored.formUnion(restore(path + "/" + name, present: present) ?? [])
    }
    return restored
  }
}
