import Glibc
import PhotoMetadata
import WatchRecords

/// A plain walk over a folder, by the rules of photod-watch for what is wanted; for dry runs only.
enum DiskCrawl {
  /// - Parameter root: the path of the root that the folder is, or is in.
  static func forEachFile(
    below folder: [UInt8], ofRoot root: [UInt8], by rules: NameRules, in files: any PhotoFiles,
    _ body: ([UInt8], FileStat) -> Void
  ) {
    var stack = [folder]
    while let path = stack.popLast() {
      guard let directory = LongPath.openDirectory(path) else { continue }
      defer { closedir(directory) }
      let descriptor = dirfd(directory)
      var names: [(name: [UInt8], type: UInt8)] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        names.append((name, entry.pointee.d_type))
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
        } else if rules.wantsFile(name), let stat = FileStat(name: name, in: descriptor), stat.byteCount > 0 {
          body(child, stat)
        }
      }
    }
  }

  private static func isDirectory(_ name: [UInt8], in directory: Int32) -> Bool {
    var status = stat()
    return withCPath(name) { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
      && status.st_mode & S_IFMT == S_IFDIR
  }
}

func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
