import Foundation
import Glibc
import PhotoTestSupport
import TestTools
import Testing

/// An open folder at any depth. Names are bytes.
final class RawFolder {
  let descriptor: Int32
  let path: [UInt8]

  private init(descriptor: Int32, path: [UInt8]) throws {
    try #require(descriptor >= 0, "\(String(decoding: path.suffix(300), as: UTF8.self)): \(errno)")
    self.descriptor = descriptor
    self.path = path
  }

  convenience init(_ path: String) throws {
    try self.init(descriptor: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: Array(path.utf8))
  }

  deinit { close(descriptor) }

  /// Makes a folder, or opens it.
  func folder(_ name: [UInt8]) throws -> RawFolder {
    let descriptor = Self.withName(name) { name in
      mkdirat(self.descriptor, name, 0o755)
      return openat(self.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    return try RawFolder(descriptor: descriptor, path: path + [UInt8(ascii: "/")] + name)
  }

  func write(_ name: [UInt8], _ content: Data) throws {
    let file = Self.withName(name) { openat(descriptor, $0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
    try #require(file >= 0, "\(name): \(errno)")
    defer { close(file) }
    try #require(content.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == content.count)
  }

  func rename(_ from: [UInt8], _ to: [UInt8]) throws {
    let result = Self.withName(from) { from in Self.withName(to) { renameat(descriptor, from, descriptor, $0) } }
    try #require(result == 0)
  }

  func remove(_ name: [UInt8]) throws {
    try #require(Self.withName(name) { unlinkat(descriptor, $0, 0) } == 0, "\(String(cString: strerror(errno)))")
  }

  func setModificationTime(_ name: [UInt8], _ seconds: Int) throws {
    var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    try #require(Self.withName(name) { utimensat(descriptor, $0, &times, 0) } == 0)
  }

  /// Opens an absolute path of any length, folder by folder.
  static func inode(at path: some Collection<UInt8>) throws -> UInt64 {
    var current = open("/", O_RDONLY | O_CLOEXEC)
    for name in path.split(separator: UInt8(ascii: "/")) {
      let next = withName(Array(name)) { openat(current, $0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
      close(current)
      try #require(next >= 0, "\(String(decoding: name, as: UTF8.self)): \(errno)")
      current = next
    }
    defer { close(current) }
    var status = stat()
    try #require(fstat(current, &status) == 0)
    return UInt64(status.st_ino)
  }

  func inode(_ name: [UInt8]) throws -> UInt64 {
    var status = stat()
    try #require(Self.withName(name) { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0)
    return UInt64(status.st_ino)
  }

  private static func withName<Value>(_ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (name + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
    }
  }
}

extension DaemonFixture {
  /// Runs photoctl to its end.
  func photoctl(_ arguments: String...) throws -> (output: Data, errors: String, status: Int32) {
    try photoctl(arguments)
  }

  func photoctl(_ arguments: [String]) throws -> (output: Data, errors: String, status: Int32) {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", socket] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    let errors = directory + "/" + UUID().uuidString
    try Data().write(to: URL(fileURLWithPath: errors))
    let handle = try #require(FileHandle(forWritingAtPath: errors))
    process.standardError = handle
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (output, try String(contentsOfFile: errors, encoding: .utf8), process.terminationStatus)
  }

  /// The paths of all photos, as photoctl prints them for other programs.
  func paths0() throws -> Set<[UInt8]> {
    let result = try photoctl("query", "--synced", "--format", "paths0")
    #expect(result.status == 0)
    return Set(result.output.split(separator: 0).map(Array.init))
  }

  /// Removes the photos with rm(1), which walks step by step if a path is too long.
  func removePhotos() throws {
    let remove = TestProcess()
    remove.executableURL = URL(fileURLWithPath: "/bin/rm")
    remove.arguments = ["-rf", photos]
    try remove.run()
    remove.waitUntilExit()
  }
}
