// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

// The coding is that of RecordCoding.swift: the fields in the order of their declaration. A reason is one byte, and for
// a file system also its name.

extension PollingReason {
  private enum Tag: UInt8 {
    case watchLimit = 1
    case noInstance, fileSystem, refused
  }

  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .watchLimit: bytes.append(Tag.watchLimit.rawValue)
    case .noInstance: bytes.append(Tag.noInstance.rawValue)
    case .fileSystem(let name):
      bytes.append(Tag.fileSystem.rawValue)
      bytes.append(name: name)
    case .refused: bytes.append(Tag.refused.rawValue)
    }
  }

  init(from reader: inout ByteReader) throws(WatchFormatError) {
    let tag: Tag = try reader.choice("a reason of polling")
    self =
      switch tag {
      case .watchLimit: .watchLimit
      case .noInstance: .noInstance
      case .fileSystem: .fileSystem(name: try reader.name("a file system's kind"))
      case .refused: .refused
      }
  }
}

extension WatchBudget {
  func encode(into bytes: inout [UInt8]) {
    bytes.append(integer: watched)
    bytes.append(integer: allowed)
    bytes.append(integer: limit)
    bytes.append(boolean: isNamespaceLimit)
    bytes.append(boolean: isRefused)
    bytes.append(integer: instanceError)
  }

  init(from reader: inout ByteReader) throws(WatchFormatError) {
    watched = try reader.integer("watched directories")
    allowed = try reader.integer("the allowed watches")
    limit = try reader.integer("the limit of watches")
    isNamespaceLimit = try reader.boolean("the limit's kind")
    isRefused = try reader.boolean("a refusal")
    instanceError = try reader.integer("an errno")
  }
}
