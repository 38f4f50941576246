import Glibc
import PhotoModel
import WatchRecords

/// A plain walk over a folder, by the rules of photod-watch for wanted names; for dry runs only.
enum DiskCrawl {
  enum Finding {
    case file([UInt8], FileStat)
    /// A folder that can't be read, or a name in it that can't be looked at. The files there, or below, are unknown.
    case unreadable([UInt8])
  }

  /// - Parameter root: the path of the root that the folder is, or is in.
  /// - Throws: `WorkBudget.Spent`, for example if the caller has gone.
  static func forEachFinding(
    below folder: [UInt8], ofRoot root: [UInt8], by rules: NameRules, in files: any PhotoFiles,
    _ body: (Finding) -> Void
  ) throws {
    var stack = [folder]
    while let path = stack.popLast() {
      try WorkBudget.check()
      let entries: [FolderEntry]
      switch files.list(path) {
      case .entries(let found): entries = found
      case .absent: continue
      case .unknown:
        body(.unreadable(path))
        continue
      }
      let prefix = path.last == UInt8(ascii: "/") ? path : path + [UInt8(ascii: "/")]
      if entries.contains(where: { NameRules.isMarker($0.name) && files.isMarker(prefix + $0.name) }) { continue }
      let below = path.dropFirst(root.count).split(separator: UInt8(ascii: "/"))
      let place = NameRules.Folder(root: root, components: below)
      for entry in entries where rules.wantsDirectory(entry.name) || rules.wantsFile(entry.name) {
        try WorkBudget.check()
        let child = prefix + entry.name
        let isFolder = entry.type == UInt8(DT_DIR) || (entry.type == UInt8(DT_UNKNOWN) && files.isFolder(child))
        guard rules.pattern(ignoring: entry.name, isDirectory: isFolder, in: place) == nil else { continue }
        if isFolder {
          if rules.wantsDirectory(entry.name) { stack.append(child) }
        } else if rules.wantsFile(entry.name) {
          switch files.look(child) {
          case .there(let stat) where stat.byteCount > 0: body(.file(child, stat))
          case .there, .absent: break
          case .unknown: body(.unreadable(child))
          }
        }
      }
    }
  }
}
