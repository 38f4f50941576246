import Glibc
import PhotoMetadata
import WatchRecords

/// A plain walk over a folder, by the rules of photod-watch for wanted names; for dry runs only.
enum DiskCrawl {
  enum Finding {
    case file([UInt8], FileStat)
    /// A folder that can't be read, or a name in it that can't be looked at. The files there, or below, are unknown.
    case unreadable([UInt8])
  }

  /// - Parameter root: the path of the root that the folder is, or is in.
  static func forEachFinding(
    below folder: [UInt8], ofRoot root: [UInt8], by rules: NameRules, in files: any PhotoFiles,
    _ body: (Finding) -> Void
  ) {
    var stack = [folder]
    while let path = stack.popLast() {
      guard let directory = LongPath.openDirectory(path) else {
        if !saysAbsent(errno) { body(.unreadable(path)) }
        continue
      }
      defer { closedir(directory) }
      let descriptor = dirfd(directory)
      guard let names = names(in: directory) else {
        body(.unreadable(path))
        continue
      }
      if names.contains(where: { NameRules.isMarker($0.name) && files.isMarker(path + [UInt8(ascii: "/")] + $0.name) })
      {
        continue
      }
      let below = path.dropFirst(root.count).split(separator: UInt8(ascii: "/"))
      let place = NameRules.Folder(root: root, components: below)
      for (name, type) in names where rules.wantsDirectory(name) || rules.wantsFile(name) {
        let child = path + [UInt8(ascii: "/")] + name
        let isFolder = type == UInt8(DT_DIR) || (type == UInt8(DT_UNKNOWN) && isDirectory(name, in: descriptor))
        guard rules.pattern(ignoring: name, isDirectory: isFolder, in: place) == nil else { continue }
        if isFolder {
          if rules.wantsDirectory(name) { stack.append(child) }
        } else if rules.wantsFile(name) {
          var status = stat()
          if withCPath(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) != 0 {
            if !saysAbsent(errno) { body(.unreadable(child)) }
          } else if let stat = FileStat(status), stat.byteCount > 0 {
            body(.file(child, stat))
          }
        }
      }
    }
  }

  /// - Returns: nil if reading the directory fails.
  private static func names(in directory: OpaquePointer) -> [(name: [UInt8], type: UInt8)]? {
    var names: [(name: [UInt8], type: UInt8)] = []
    while true {
      // At the end of the directory readdir(3) leaves errno alone.
      errno = 0
      guard let entry = readdir(directory) else { return errno == 0 ? names : nil }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      names.append((name, entry.pointee.d_type))
    }
  }

  private static func isDirectory(_ name: [UInt8], in directory: Int32) -> Bool {
    var status = stat()
    return withCPath(name) { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
      && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether nothing can have the name, rather than that it can't be seen.
  private static func saysAbsent(_ errorNumber: Int32) -> Bool {
    errorNumber == ENOENT || errorNumber == ENOTDIR || errorNumber == ELOOP
  }
}
