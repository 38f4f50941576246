// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

// A record is its tag (one byte), followed by its fields in the order of their declaration. Integers are little-endian.
// A name is a u16 length and its bytes. Booleans and choices take one byte. An optional is a boolean, followed by the
// value if it is 1. A tag never gets another meaning: a new record gets a new tag, and the protocol a new version.

extension WatchRecord {
  private enum Tag: UInt8 {
    case polling = 48
    case directoryFound = 1
    case directoryMoved, directoryGone, listingStarted, listingEnded, fileFound, fileGone, fileMoved, scanStarted
    case scanEnded, rootOffline, overflow, synced, watchBudget, unreadable
    case ignored = 32
    case alive, checkpoint
  }

  /// Appends this record's bytes.
  public func encode(into bytes: inout [UInt8]) {
    switch self {
    case .directoryFound(let number, let parent, let root, let name, let identity):
      bytes.append(Tag.directoryFound.rawValue)
      bytes.append(integer: number)
      bytes.append(integer: parent)
      bytes.append(integer: root)
      bytes.append(name: name)
      identity.encode(into: &bytes)
    case .directoryMoved(let number, let parent, let name):
      bytes.append(Tag.directoryMoved.rawValue)
      bytes.append(integer: number)
      bytes.append(integer: parent)
      bytes.append(name: name)
    case .directoryGone(let number, let evidence):
      bytes.append(Tag.directoryGone.rawValue)
      bytes.append(integer: number)
      bytes.append(evidence.rawValue)
    case .listingStarted(let number, let evidence):
      bytes.append(Tag.listingStarted.rawValue)
      bytes.append(integer: number)
      bytes.append(evidence.rawValue)
    case .listingEnded(let number, let complete):
      bytes.append(Tag.listingEnded.rawValue)
      bytes.append(integer: number)
      bytes.append(boolean: complete)
    case .fileFound(let directory, let name, let stat, let event):
      bytes.append(Tag.fileFound.rawValue)
      bytes.append(integer: directory)
      bytes.append(name: name)
      stat.encode(into: &bytes)
      event.encode(into: &bytes)
    case .fileGone(let directory, let name):
      bytes.append(Tag.fileGone.rawValue)
      bytes.append(integer: directory)
      bytes.append(name: name)
    case .fileMoved(let from, let fromName, let to, let toName, let stat, let event):
      bytes.append(Tag.fileMoved.rawValue)
      bytes.append(integer: from)
      bytes.append(name: fromName)
      bytes.append(integer: to)
      bytes.append(name: toName)
      bytes.append(boolean: stat != nil)
      stat?.encode(into: &bytes)
      event.encode(into: &bytes)
    case .scanStarted(let root, let request, let reason):
      bytes.append(Tag.scanStarted.rawValue)
      bytes.append(integer: root)
      bytes.append(integer: request)
      bytes.append(reason.rawValue)
    case .scanEnded(let root, let request, let complete):
      bytes.append(Tag.scanEnded.rawValue)
      bytes.append(integer: root)
      bytes.append(integer: request)
      bytes.append(boolean: complete)
    case .rootOffline(let root, let errorNumber):
      bytes.append(Tag.rootOffline.rawValue)
      bytes.append(integer: root)
      bytes.append(integer: errorNumber)
    case .overflow:
      bytes.append(Tag.overflow.rawValue)
    case .synced(let number):
      bytes.append(Tag.synced.rawValue)
      bytes.append(integer: number)
    case .polling(let root, let reason, let polled, let directories):
      bytes.append(Tag.polling.rawValue)
      bytes.append(integer: root)
      reason.encode(into: &bytes)
      bytes.append(integer: polled)
      bytes.append(integer: directories)
    case .watchBudget(let budget):
      bytes.append(Tag.watchBudget.rawValue)
      budget.encode(into: &bytes)
    case .unreadable(let directory, let name, let errorNumber):
      bytes.append(Tag.unreadable.rawValue)
      bytes.append(integer: directory)
      bytes.append(name: name)
      bytes.append(integer: errorNumber)
    case .ignored(let directory, let name):
      bytes.append(Tag.ignored.rawValue)
      bytes.append(integer: directory)
      bytes.append(name: name)
    case .alive:
      bytes.append(Tag.alive.rawValue)
    case .checkpoint(let number):
      bytes.append(Tag.checkpoint.rawValue)
      bytes.append(integer: number)
    }
  }

  init(from reader: inout ByteReader) throws(WatchFormatError) {
    let start = reader.offset
    let raw: UInt8 = try reader.integer("a record's tag")
    guard let tag = Tag(rawValue: raw) else { throw WatchFormatError(what: "tag \(raw) is no record", offset: start) }
    self =
      switch tag {
      case .directoryFound:
        .directoryFound(
          number: try reader.integer("a directory's number"), parent: try reader.integer("a directory's parent"),
          root: try reader.integer("a root"), name: try reader.name("a directory's name"),
          identity: try FileIdentity(from: &reader))
      case .directoryMoved:
        .directoryMoved(
          number: try reader.integer("a directory's number"), parent: try reader.integer("a directory's parent"),
          name: try reader.name("a directory's name"))
      case .directoryGone:
        .directoryGone(number: try reader.integer("a directory's number"), evidence: try reader.choice("evidence"))
      case .listingStarted:
        .listingStarted(number: try reader.integer("a directory's number"), evidence: try reader.choice("evidence"))
      case .listingEnded:
        .listingEnded(number: try reader.integer("a directory's number"), complete: try reader.boolean("completeness"))
      case .fileFound:
        .fileFound(
          directory: try reader.integer("a file's directory"), name: try reader.name("a file's name"),
          stat: try FileStat(from: &reader), event: try FileEvent(from: &reader))
      case .fileGone:
        .fileGone(directory: try reader.integer("a file's directory"), name: try reader.name("a file's name"))
      case .fileMoved:
        .fileMoved(
          from: try reader.integer("a file's old directory"), fromName: try reader.name("a file's old name"),
          to: try reader.integer("a file's directory"), toName: try reader.name("a file's name"),
          stat: try reader.boolean("presence of a stat") ? try FileStat(from: &reader) : nil,
          event: try FileEvent(from: &reader))
      case .scanStarted:
        .scanStarted(
          root: try reader.integer("a root"), request: try reader.integer("a request"),
          reason: try reader.choice("a scan's reason"))
      case .scanEnded:
        .scanEnded(
          root: try reader.integer("a root"), request: try reader.integer("a request"),
          complete: try reader.boolean("completeness"))
      case .rootOffline:
        .rootOffline(root: try reader.integer("a root"), errorNumber: try reader.integer("an errno"))
      case .overflow: .overflow
      case .synced: .synced(number: try reader.integer("a sync number"))
      case .polling:
        .polling(
          root: try reader.integer("a root"), reason: try PollingReason(from: &reader),
          polled: try reader.integer("polled directories"), directories: try reader.integer("a root's directories"))
      case .watchBudget: .watchBudget(try WatchBudget(from: &reader))
      case .unreadable:
        .unreadable(
          directory: try reader.integer("a directory's number"), name: try reader.name("a name"),
          errorNumber: try reader.integer("an errno"))
      case .ignored:
        .ignored(directory: try reader.integer("a directory's number"), name: try reader.name("a name"))
      case .alive: .alive
      case .checkpoint: .checkpoint(number: try reader.integer("a checkpoint"))
      }
  }
}

extension WatchOrder {
  private enum Tag: UInt8 {
    case configure = 1
    case addRoot, removeRoot, rescan, sync, begin, passed, setPollInterval
  }

  /// Appends this order's bytes.
  public func encode(into bytes: inout [UInt8]) {
    switch self {
    case .configure(let extensions, let ignoredDirectoryNames, let ignoredPatterns):
      bytes.append(Tag.configure.rawValue)
      for list in [extensions, ignoredDirectoryNames, ignoredPatterns] {
        precondition(list.count <= Int(UInt16.max), "a list of \(list.count) names")
        bytes.append(integer: UInt16(list.count))
        for name in list { bytes.append(name: name) }
      }
    case .addRoot(let root, let path):
      bytes.append(Tag.addRoot.rawValue)
      bytes.append(integer: root)
      bytes.append(name: path)
    case .removeRoot(let root):
      bytes.append(Tag.removeRoot.rawValue)
      bytes.append(integer: root)
    case .setPollInterval(let root, let seconds):
      bytes.append(Tag.setPollInterval.rawValue)
      bytes.append(integer: root)
      bytes.append(integer: seconds)
    case .rescan(let root, let directory, let request):
      bytes.append(Tag.rescan.rawValue)
      bytes.append(integer: root)
      bytes.append(boolean: directory != nil)
      if let directory { bytes.append(integer: directory) }
      bytes.append(integer: request)
    case .sync(let number):
      bytes.append(Tag.sync.rawValue)
      bytes.append(integer: number)
    case .begin(let firstNumber, let watchPercent, let refusesShares):
      bytes.append(Tag.begin.rawValue)
      bytes.append(integer: firstNumber)
      bytes.append(integer: watchPercent)
      bytes.append(boolean: refusesShares)
    case .passed(let checkpoint):
      bytes.append(Tag.passed.rawValue)
      bytes.append(integer: checkpoint)
    }
  }

  init(from reader: inout ByteReader) throws(WatchFormatError) {
    let start = reader.offset
    let raw: UInt8 = try reader.integer("an order's tag")
    guard let tag = Tag(rawValue: raw) else { throw WatchFormatError(what: "tag \(raw) is no order", offset: start) }
    switch tag {
    case .configure:
      let extensions = try Self.names("an extension", from: &reader)
      self = .configure(
        extensions: extensions, ignoredDirectoryNames: try Self.names("an ignored directory name", from: &reader),
        ignoredPatterns: try Self.names("an ignored pattern", from: &reader))
    case .addRoot: self = .addRoot(root: try reader.integer("a root"), path: try reader.name("a root's path"))
    case .removeRoot: self = .removeRoot(root: try reader.integer("a root"))
    case .setPollInterval:
      self = .setPollInterval(root: try reader.integer("a root"), seconds: try reader.integer("an interval"))
    case .rescan:
      self = .rescan(
        root: try reader.integer("a root"),
        directory: try reader.boolean("presence of a directory") ? try reader.integer("a directory's number") : nil,
        request: try reader.integer("a request"))
    case .sync: self = .sync(number: try reader.integer("a sync number"))
    case .begin:
      self = .begin(
        firstNumber: try reader.integer("a directory's number"), watchPercent: try reader.integer("a share of watches"),
        refusesShares: try reader.boolean("a refusal of shares"))
    case .passed: self = .passed(checkpoint: try reader.integer("a checkpoint"))
    }
  }

  /// Reserves no memory by the count that it reads. A wrong count ends in an error at the end of the frame.
  private static func names(_ field: String, from reader: inout ByteReader) throws(WatchFormatError) -> [[UInt8]] {
    let count: UInt16 = try reader.integer("a number of names")
    var names: [[UInt8]] = []
    for _ in 0..<count { names.append(try reader.name(field)) }
    return names
  }
}

extension FileIdentity {
  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(integer: device)
    bytes.append(integer: inode)
    bytes.append(integer: birthTime.nanoseconds)
  }

  fileprivate init(from reader: inout ByteReader) throws(WatchFormatError) {
    device = try reader.integer("a device")
    inode = try reader.integer("an inode")
    birthTime = FileTime(nanoseconds: try reader.integer("a birth time"))
  }
}

extension FileEvent {
  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(integer: time.nanoseconds)
    bytes.append(boolean: isWritten)
    bytes.append(naming.rawValue)
  }

  fileprivate init(from reader: inout ByteReader) throws(WatchFormatError) {
    time = FileTime(nanoseconds: try reader.integer("an event's time"))
    isWritten = try reader.boolean("whether a file was written")
    naming = try reader.choice("how a file got its name")
  }
}

extension FileStat {
  func encode(into bytes: inout [UInt8]) {
    identity.encode(into: &bytes)
    bytes.append(integer: byteCount)
    bytes.append(integer: modificationTime.nanoseconds)
    bytes.append(integer: changeTime.nanoseconds)
  }

  init(from reader: inout ByteReader) throws(WatchFormatError) {
    identity = try FileIdentity(from: &reader)
    byteCount = try reader.integer("a byte count")
    modificationTime = FileTime(nanoseconds: try reader.integer("a modification time"))
    changeTime = FileTime(nanoseconds: try reader.integer("a change time"))
  }
}
