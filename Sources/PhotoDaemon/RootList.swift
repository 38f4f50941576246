import Glibc
import PhotoModel

/// Roots as the library wants them: links resolved once, no two the same, none inside another.
struct RootList {
  /// ``FilePath`` texts, in the order given.
  private(set) var roots: [String] = []
  /// What was done to them, for the log.
  private(set) var remarks: [String] = []

  /// - Throws: `configuration` for a root that is there and is no folder.
  /// - Complexity: O(n²) in the number of roots.
  init(_ texts: [String]) throws(StartError) {
    var paths: [[UInt8]] = []
    for text in texts {
      let path = try resolved(text)
      if paths.contains(path) {
        remarks.append("\(text) is given twice, or leads to the same folder as another root; it is kept once")
      } else {
        paths.append(path)
      }
    }
    for path in paths {
      if let outer = paths.first(where: { Self.contains($0, path) }) {
        remarks.append("\(FilePath.text(path)) lies inside the root \(FilePath.text(outer)), which covers it")
      } else {
        roots.append(FilePath.text(path))
      }
    }
  }

  /// What `realpath` says; of a folder that is not there, its own bytes.
  private mutating func resolved(_ text: String) throws(StartError) -> [UInt8] {
    let bytes = FilePath.bytes(text)
    let name = bytes.map { CChar(bitPattern: $0) } + [0]
    guard let real = realpath(name, nil) else {
      remarks.append("\(text) is not there now (\(systemMessage(errno))); it is watched as soon as it is")
      return bytes
    }
    defer { free(real) }
    var status = stat()
    if stat(real, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw StartError(
        .configuration, "the root \(text) is not a folder", remedy: "Give the folder that holds your photos.")
    }
    return Array(UnsafeBufferPointer(start: real, count: strlen(real))).map { UInt8(bitPattern: $0) }
  }

  /// Whether the second lies strictly inside the first.
  private static func contains(_ outer: [UInt8], _ inner: [UInt8]) -> Bool {
    if outer == [UInt8(ascii: "/")] { return inner.count > 1 }
    return inner.count > outer.count && inner.starts(with: outer) && inner[outer.count] == UInt8(ascii: "/")
  }
}
