import Glibc
import PhotoMetadata
import WatchRecords

/// A plain walk over a folder, by the rules of photod-watch for what is wanted; for dry runs only.
enum DiskCrawl {
  static func forEachFile(below folder: [UInt8], _ body: ([UInt8], FileStat) -> Void) {
    var stack = [folder]
    while let path = stack.popLast() {
      guard let directory = withCPath(path, { opendir($0) }) else { continue }
      defer { closedir(directory) }
      var names: [(name: [UInt8], type: UInt8)] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        names.append((name, entry.pointee.d_type))
      }
      if names.contains(where: { WatchRules.markers.contains($0.name) }) { continue }
      for (name, type) in names where name.first != UInt8(ascii: ".") {
        let child = path + [UInt8(ascii: "/")] + name
        if type == UInt8(DT_DIR) || (type == UInt8(DT_UNKNOWN) && isDirectory(child)) {
          if !WatchRules.ignoredDirectoryNames.contains(name) { stack.append(child) }
        } else if MediaFormat.promised(byName: name) != nil, let stat = withCPath(child, { FileStat(path: $0) }),
          stat.byteCount > 0
        {
          body(child, stat)
        }
      }
    }
  }
}

private func isDirectory(_ path: [UInt8]) -> Bool {
  var status = stat()
  return withCPath(path) { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Which names photod-watch is asked for.
package enum WatchRules {
  /// Folders that programs and file systems keep beside photos; hidden ones are passed over anyway.
  package static let ignoredDirectoryNames: [[UInt8]] = [
    "@eaDir", "#recycle", "#snapshot", "@Recycle", "lost+found", "$RECYCLE.BIN", "System Volume Information",
  ].map { Array($0.utf8) }

  /// A folder that holds one of these keeps media programs out.
  package static let markers: Set<[UInt8]> = [Array(".nomedia".utf8), Array(".trackerignore".utf8)]

  package static let extensions: [[UInt8]] = MediaFormat.extensions.map { Array($0.utf8) }
}

func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
