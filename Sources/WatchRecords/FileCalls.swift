// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

// The calls by which photod has `photod-watch --files` open the files of a share, and the answers. Each is one frame of
// `WatchStream`, in the coding of RecordCoding.swift. Answers come in the order of the calls.

/// A call about one path of a share. Symbolic links are not followed.
public enum FileCall: Hashable, Sendable {
  case look(path: [UInt8])
  /// Reads at most `count` bytes of a regular file, and never more than `FileAnswer.maximumBytes`.
  case read(path: [UInt8], offset: UInt64, count: UInt32)

  public func encode(into bytes: inout [UInt8]) {
    switch self {
    case .look(let path):
      bytes.append(1)
      bytes.append(name: path)
    case .read(let path, let offset, let count):
      bytes.append(2)
      bytes.append(name: path)
      bytes.append(integer: offset)
      bytes.append(integer: count)
    }
  }

  public init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    let tag: UInt8 = try reader.integer("a call's tag")
    switch tag {
    case 1: self = .look(path: try reader.name("a path"))
    case 2:
      self = .read(
        path: try reader.name("a path"), offset: try reader.integer("an offset"), count: try reader.integer("a count"))
    default: throw WatchFormatError(what: "tag \(tag) is no call", offset: 0)
    }
  }

  /// The longest path that the coding can hold. No system call takes a longer one.
  public static let maximumPathBytes = Int(UInt16.max)
}

/// The state of the file at a share's path, and some of its bytes.
public struct FileAnswer: Hashable, Sendable {
  public static let maximumBytes = 1 << 17

  /// errno, or 0 if the other fields are valid.
  public var errorNumber: Int32
  /// As in stat(2), including the type of the file.
  public var mode: UInt32
  /// The state of the file before its bytes were read.
  public var stat: FileStat
  /// Fewer than requested if the file ends before.
  public var bytes: [UInt8]

  public init(errorNumber: Int32, mode: UInt32 = 0, stat: FileStat? = nil, bytes: [UInt8] = []) {
    self.errorNumber = errorNumber
    self.mode = mode
    self.stat =
      stat
      ?? FileStat(
        identity: FileIdentity(device: 0, inode: 0, birthTime: 0), byteCount: 0, modificationTime: 0, changeTime: 0)
    self.bytes = bytes
  }

  public func encode(into payload: inout [UInt8]) {
    payload.append(integer: errorNumber)
    payload.append(integer: mode)
    stat.encode(into: &payload)
    payload.append(integer: UInt32(bytes.count))
    payload.append(contentsOf: bytes)
  }

  public init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    errorNumber = try reader.integer("an errno")
    mode = try reader.integer("a mode")
    stat = try FileStat(from: &reader)
    let count: UInt32 = try reader.integer("a number of bytes")
    bytes = try reader.bytes(Int(count), "a file's bytes")
  }
}
