import Foundation
import Glibc
import TestTools

// The photos of the spawned daemon.

extension DaemonFixture {
  /// A real photo of a few kilobytes; `variant` makes its bytes and size its own.
  package static func photo(_ variant: Int = 0) -> Data {
    sample + Data(String(repeating: "\(variant) ", count: 1 + abs(variant) % 7).utf8)
  }

  private static let sample: Data = {
    let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/made/gen/2011/01/DSC_0000096.JPG")
    do { return try Data(contentsOf: fixtures) } catch { fatalError("the fixture photo is missing: \(error)") }
  }()

  package func path(_ name: String) -> String { photos + "/" + name }

  package func write(_ name: String, _ variant: Int = 0) throws {
    let path = path(name)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Self.photo(variant).write(to: URL(fileURLWithPath: path))
  }

  /// Copies the content only, because the tests may run as another user than the owner of the checkout.
  package func copyFolder(_ folder: URL, to name: String) throws {
    for entry in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    {
      let target = name + "/" + entry.lastPathComponent
      if try entry.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
        try copyFolder(entry, to: target)
      } else {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        try Data(contentsOf: entry).write(to: URL(fileURLWithPath: path(target)))
      }
    }
  }

  package func move(_ from: String, _ to: String) throws {
    try require(rename(path(from), path(to)) == 0, "rename \(from) \(to): \(String(cString: strerror(errno)))")
  }

  /// The photos of at least one byte that a walk finds.
  package func pathsOnDisk() throws -> Set<String> {
    var found: Set<String> = []
    let keys: [URLResourceKey] = [.fileSizeKey, .isRegularFileKey]
    let walk = try require(
      FileManager.default.enumerator(at: URL(fileURLWithPath: photos), includingPropertiesForKeys: keys),
      "\(photos) can't be read")
    for case let url as URL in walk where ["jpg", "jpeg"].contains(url.pathExtension.lowercased()) {
      let values = try url.resourceValues(forKeys: Set(keys))
      if values.isRegularFile == true, (values.fileSize ?? 0) > 0 { found.insert(url.path) }
    }
    return found
  }
}
