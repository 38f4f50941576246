import Glibc
import PhotoIndexer
import PhotoModel
import PhotoWatch
import SystemErrors
import WatchRecords

/// The roots as the library needs them. Links are resolved once, no root repeats, and no root lies in a folder that
/// another root indexes. A root in a folder that its outer root skips stays, because the person named it.
struct RootList {
  /// ``FilePath`` texts, in the order given.
  private(set) var roots: [String] = []
  /// The roots that lie in a folder which another root indexes.
  private(set) var inner: [String] = []
  /// Messages for the log, about roots that repeat, lie inside another root, or do not exist now.
  private(set) var remarks: [String] = []

  /// - Parameter ignore: the configured patterns. An outer root skips the folders that match them.
  /// - Throws: `configuration` for a root that exists and is not a folder.
  /// - Complexity: O(n²) in the number of roots.
  init(_ texts: [String], ignore: [String] = []) throws(StartError) {
    let ignore = ignore.map { Array($0.utf8) }
    var paths: [[UInt8]] = []
    for text in texts {
      let path = try resolved(text)
      if paths.contains(path) {
        remarks.append("\(text) is given twice, or leads to the same folder as another root; it is used once")
      } else {
        paths.append(path)
      }
    }
    for path in paths {
      let outer = paths.first { outer in
        Self.contains(outer, path) && WatchRules.indexes(path, belowRoot: outer, ignoring: ignore)
      }
      if let outer {
        inner.append(FilePath.text(path))
        remarks.append(
          "\(FilePath.text(path)) lies inside the root \(FilePath.text(outer)), which covers it unless a share is mounted there"
        )
      } else {
        roots.append(FilePath.text(path))
      }
    }
  }

  /// Returns the path without links. For a folder that does not exist, these are its own bytes. Nothing on a share is
  /// examined, because photod could wait for the share.
  private mutating func resolved(_ text: String) throws(StartError) -> [UInt8] {
    let bytes = FilePath.bytes(text)
    guard bytes.count < Int(PATH_MAX) else {
      throw StartError(
        .configuration, "a root has \(bytes.count) bytes, more than \(PATH_MAX - 1)",
        remedy: "Give a folder with a shorter path.")
    }
    guard let mounts = CurrentMounts.shared.table else {
      throw StartError(
        .system, "\(MountTable.file) can't be opened or read, so it is not known which folders are on shares",
        remedy: "Mount /proc, or let photod open more files.")
    }
    if let place = PlaceOnShare.reached(by: bytes, mounts: mounts) { return place }
    let name = bytes.map { CChar(bitPattern: $0) } + [0]
    guard let real = realpath(name, nil) else {
      remarks.append("\(text) can't be found (\(errorText(errno))); photod watches it as soon as it exists")
      return bytes
    }
    defer { free(real) }
    var status = stat()
    if stat(real, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw StartError(
        .configuration, "the root \(text) is not a folder", remedy: "Give the folder that contains your photos.")
    }
    return Array(UnsafeBufferPointer(start: real, count: strlen(real))).map { UInt8(bitPattern: $0) }
  }

  /// Whether the second path lies strictly inside the first.
  private static func contains(_ outer: [UInt8], _ inner: [UInt8]) -> Bool {
    if outer == [UInt8(ascii: "/")] { return inner.count > 1 }
    return inner.count > outer.count && inner.starts(with: outer) && inner[outer.count] == UInt8(ascii: "/")
  }
}
