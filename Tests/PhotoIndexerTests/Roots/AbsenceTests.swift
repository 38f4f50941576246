import Foundation
import Testing

@testable import PhotoIndexer

/// Reading the stat of a path may fail with an error that does not mean that the path is absent.
@Suite struct AbsenceTests {
  /// No name may be longer than 255 bytes. A folder that can't be entered has the same effect, but not for root.
  @Test func aPathWhoseStatFailsIsNotAbsent() throws {
    let top = NSTemporaryDirectory() + "photod-look-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(atPath: top) } catch { Issue.record(error) } }
    try Data([1]).write(to: URL(fileURLWithPath: top + "/a.jpg"))
    try FileManager.default.createSymbolicLink(atPath: top + "/loop", withDestinationPath: "loop")
    let disk = DiskFiles()
    func look(_ name: String) -> (FileLookup, exists: Bool) {
      let path = Array("\(top)/\(name)".utf8)
      return (disk.look(path), disk.exists(path))
    }
    guard case (.there, true) = look("a.jpg") else {
      Issue.record("a file")
      return
    }
    for name in ["none", "a.jpg/inside", "loop/a.jpg"] {
      guard case (.absent, false) = look(name) else {
        Issue.record("\(name)")
        return
      }
    }
    guard case (.unknown, true) = look(String(repeating: "n", count: 256)) else {
      Issue.record("a name that is too long")
      return
    }
  }
}
