// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// The result of one statx(2) call.
struct FileLook {
  private let raw: watchshim_stat

  /// Looks at `name` (which ends with a NUL) in an open directory, without following a symbolic link.
  static func at(_ directory: Int32, _ name: UnsafePointer<CChar>) -> Result<FileLook, SystemError> {
    var raw = watchshim_stat()
    let number = watchshim_stat_at(directory, name, &raw)
    return number == 0 ? .success(FileLook(raw: raw)) : .failure(SystemError(number: number))
  }

  static func at(_ directory: Int32, _ name: [UInt8]) -> Result<FileLook, SystemError> {
    withCName(name) { at(directory, $0) }
  }

  static func of(_ descriptor: Int32) -> Result<FileLook, SystemError> {
    var raw = watchshim_stat()
    let number = watchshim_stat_descriptor(descriptor, &raw)
    return number == 0 ? .success(FileLook(raw: raw)) : .failure(SystemError(number: number))
  }

  var isRegularFile: Bool { raw.mode & S_IFMT == S_IFREG }
  var isDirectory: Bool { raw.mode & S_IFMT == S_IFDIR }
  var mode: UInt32 { UInt32(raw.mode) }
  var linkCount: UInt32 { raw.link_count }
  var identity: FileIdentity {
    FileIdentity(device: raw.device, inode: raw.inode, birthTime: FileTime(nanoseconds: raw.birth_time))
  }

  var stat: FileStat {
    FileStat(
      identity: identity, byteCount: raw.byte_count, modificationTime: FileTime(nanoseconds: raw.modification_time),
      changeTime: FileTime(nanoseconds: raw.change_time))
  }
}

/// Calls `body` with the name as a C string. A name contains no NUL: it came from the kernel or was cut at one.
func withCName<Result>(_ name: some Collection<UInt8>, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: name.count + 1) { buffer in
    var end = 0
    for byte in name {
      buffer[end] = CChar(bitPattern: byte)
      end += 1
    }
    buffer[end] = 0
    guard let base = buffer.baseAddress else { preconditionFailure("a buffer of at least one byte has an address") }
    return body(base)
  }
}
