// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestTools
import WatchRecords

/// A folder for one test, removed at the end of the test.
package final class Disk: Sendable {
  package let root: String
  /// A folder beside the root, on the same file system, that is not watched.
  package let outside: String
  private let base: String

  package init(in place: String = Disk.temporaryDirectory) throws {
    var template = Array("\(place)/photod-test.XXXXXX".utf8CString)
    try require(mkdtemp(&template) != nil, "mkdtemp: \(errno)")
    base = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    root = base + "/root"
    outside = base + "/outside"
    try require(mkdir(root, 0o755) == 0 && mkdir(outside, 0o755) == 0, "mkdir: \(errno)")
  }

  deinit { Disk.removeTree(base) }

  package static var temporaryDirectory: String {
    if let given = getenv("TMPDIR"), given.pointee != 0 { return String(cString: given) }
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
  }

  package func path(_ relative: String) -> String { root + "/" + relative }

  /// Creates a file with this content, and the directories above it.
  package func write(_ relative: String, _ content: String = "x") {
    let path = path(relative)
    if let slash = path.lastIndex(of: "/") { Disk.makeDirectories(String(path[..<slash])) }
    Disk.write(path, content)
  }

  @discardableResult
  package static func write(_ path: String, _ content: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    var content = content
    return content.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) } == content.utf8.count
  }

  package static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  package func makeDirectory(_ relative: String) { Disk.makeDirectories(path(relative)) }

  package static func makeDirectories(_ path: String) {
    var partial = ""
    for component in path.split(separator: "/") {
      partial += "/" + component
      mkdir(partial, 0o755)
    }
  }

  package func rename(_ from: String, _ to: String) { Glibc.rename(path(from), path(to)) }

  /// Exchanges two names by renameat2(2) with RENAME_EXCHANGE. Swift does not import that function.
  package func exchange(_ one: String, _ other: String) throws {
    typealias Function = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    let renameat2 = unsafeBitCast(
      try require(dlsym(nil, "renameat2"), "the C library has renameat2"), to: Function.self)
    try require(
      renameat2(AT_FDCWD, path(one), AT_FDCWD, path(other), 2) == 0, "\(one) and \(other) exchange their names")
  }

  package static func removeTree(_ path: String) {
    chmod(path, 0o755)
    if let stream = opendir(path) {
      while let entry = readdir(stream) {
        let name = Disk.name(entry)
        if name == [0x2E] || name == [0x2E, 0x2E] { continue }
        let isDirectory = entry.pointee.d_type == UInt8(DT_DIR)
        var child = Array(path.utf8) + [0x2F] + name
        child.append(0)
        child.withUnsafeBytes { bytes in
          guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
          if isDirectory {
            if rmdir(start) != 0 { removeTree(String(decoding: bytes.dropLast(), as: UTF8.self)) }
          } else {
            unlink(start)
          }
        }
      }
      closedir(stream)
    }
    rmdir(path)
  }

  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
  }

  package struct Truth: Equatable {
    package var inode: UInt64
    package var byteCount: Int64
    package var modificationTime: FileTime
  }

  /// All .jpg files of at least one byte, and all directories, from an independent walk.
  package static func walk(_ top: String) -> (files: [[UInt8]: Truth], directories: Set<[UInt8]>) {
    var files: [[UInt8]: Truth] = [:]
    var directories: Set<[UInt8]> = []
    var open = [Array(top.utf8)]
    while let path = open.popLast() {
      directories.insert(path)
      guard let stream = withCString(path, { opendir($0) }) else { continue }
      while let entry = readdir(stream) {
        let name = name(entry)
        if name.first == 0x2E { continue }
        let child = path + [0x2F] + name
        var look = stat()
        guard withCString(child, { lstat($0, &look) }) == 0 else { continue }
        if look.st_mode & S_IFMT == S_IFDIR {
          open.append(child)
        } else if look.st_mode & S_IFMT == S_IFREG, look.st_size > 0, name.suffix(4) == Array(".jpg".utf8)[...] {
          files[child] = Truth(
            inode: UInt64(look.st_ino), byteCount: Int64(look.st_size),
            modificationTime: FileTime(
              nanoseconds: Int64(look.st_mtim.tv_sec) * 1_000_000_000 + Int64(look.st_mtim.tv_nsec)))
        }
      }
      closedir(stream)
    }
    return (files, directories)
  }

  package static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("never empty") }
      return body(start)
    }
  }
}

extension Disk.Truth {
  package init(_ stat: FileStat) {
    self.init(inode: stat.identity.inode, byteCount: stat.byteCount, modificationTime: stat.modificationTime)
  }
}
