// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

// The calls by which photod has `photod-watch --files` open the files of a share, and the answers. Each is one frame of
// `WatchStream`, in the coding of RecordCoding.swift. Answers come in the order of the calls.

/// A call about one path of a share. Symbolic links are not followed.
public enum FileCall: Hashable, Sendable {
  case look(path: [UInt8])
  /// Reads at most `count` bytes of a regular file, and never more than `FileAnswer.maximumBytes`.
  case read(path: [UInt8], offset: UInt64, count: UInt32)
  /// Reads the next names of a folder. The answer has them as `FolderEntry` codes them, and none at the end.
  ///
  /// - position: the number of names that were answered before; 0 begins anew. One folder is listed at a time.
  case list(path: [UInt8], position: UInt64)

  public var path: [UInt8] {
    switch self {
    case .look(let path), .read(let path, _, _), .list(let path, _): path
    }
  }

  /// The path must not be longer than `maximumPathBytes`.
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
    case .list(let path, let position):
      bytes.append(3)
      bytes.append(name: path)
      bytes.append(integer: position)
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
    case 3: self = .list(path: try reader.name("a path"), position: try reader.integer("a position"))
    default: throw WatchFormatError(what: "tag \(tag) is no call", offset: 0)
    }
  }

  /// The longest path that the coding can hold.
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
        identity: FileIdentity(device: 0, inode: 0, birthTime: .unknown), byteCount: 0, modificationTime: .unknown,
        changeTime: .unknown)
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

/// A name in a folder.
public struct FolderEntry: Hashable, Sendable {
  public var name: [UInt8]
  /// As `d_type` of readdir(3).
  public var type: UInt8

  public init(name: [UInt8], type: UInt8) {
    self.name = name
    self.type = type
  }

  public func encode(into bytes: inout [UInt8]) {
    bytes.append(type)
    bytes.append(name: name)
  }

  public static func all(in bytes: [UInt8]) throws(WatchFormatError) -> [FolderEntry] {
    var reader = ByteReader(bytes[...])
    var entries: [FolderEntry] = []
    while !reader.isAtEnd {
      let type: UInt8 = try reader.integer("a type")
      entries.append(FolderEntry(name: try reader.name("a name"), type: type))
    }
    return entries
  }
}
