// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import TestTools
import WatchRecords

extension SeededGenerator {
  mutating func any<Value: FixedWidthInteger>() -> Value {
    switch Int.random(in: 0..<6, using: &self) {
    case 0: .min
    case 1: .max
    default: Value(truncatingIfNeeded: next())
    }
  }

  mutating func name() -> [UInt8] {
    let length = Int.random(in: 0..<10, using: &self) == 0 ? 255 : Int.random(in: 0...40, using: &self)
    return (0..<length).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  mutating func stat() -> FileStat {
    FileStat(identity: identity(), byteCount: any(), modificationTime: time(), changeTime: time())
  }

  mutating func event() -> FileEvent {
    FileEvent(
      time: time(), isWritten: .random(using: &self), naming: .init(rawValue: .random(in: 0...2, using: &self))!)
  }

  mutating func identity() -> FileIdentity { FileIdentity(device: any(), inode: any(), birthTime: time()) }

  mutating func time() -> FileTime { FileTime(nanoseconds: any()) }
}

extension WatchRecord {
  static func random(_ random: inout SeededGenerator) -> WatchRecord {
    let flag = Bool.random(using: &random)
    return switch Int.random(in: -1..<18, using: &random) {
    case -1:
      .polling(
        root: random.any(),
        reason: [.watchLimit, .noInstance, .fileSystem(name: random.name()), .refused][
          Int.random(in: 0..<4, using: &random)],
        polled: random.any(), directories: random.any())
    case 0:
      .directoryFound(
        number: random.any(), parent: random.any(), root: random.any(), name: random.name(),
        identity: random.identity())
    case 1: .directoryMoved(number: random.any(), parent: random.any(), name: random.name())
    case 2: .directoryGone(number: random.any(), evidence: flag ? .event : .scan)
    case 3: .listingStarted(number: random.any(), evidence: flag ? .event : .scan)
    case 4: .listingEnded(number: random.any(), complete: flag)
    case 5: .fileFound(directory: random.any(), name: random.name(), stat: random.stat(), event: random.event())
    case 6: .fileGone(directory: random.any(), name: random.name())
    case 7:
      .fileMoved(
        from: random.any(), fromName: random.name(), to: random.any(), toName: random.name(),
        stat: flag ? random.stat() : nil)
    case 8:
      .scanStarted(
        root: random.any(), request: random.any(),
        reason: [.start, .overflow, .rescan, .rootReturned, .rules][Int.random(in: 0..<5, using: &random)])
    case 9: .scanEnded(root: random.any(), request: random.any(), complete: flag)
    case 10: .rootOffline(root: random.any(), errorNumber: random.any())
    case 11: .overflow
    case 12: .synced(number: random.any())
    case 13:
      .watchBudget(
        WatchBudget(
          watched: random.any(), allowed: random.any(), limit: random.any(), isNamespaceLimit: flag,
          isRefused: Bool.random(using: &random), instanceError: random.any()))
    case 14: .ignored(directory: random.any(), name: random.name())
    case 15: .alive
    case 16: .checkpoint(number: random.any())
    default: .unreadable(directory: random.any(), name: random.name(), errorNumber: random.any())
    }
  }
}

extension WatchOrder {
  static func random(_ random: inout SeededGenerator) -> WatchOrder {
    func names() -> [[UInt8]] { (0..<Int.random(in: 0..<5, using: &random)).map { _ in random.name() } }
    return switch Int.random(in: 0..<8, using: &random) {
    case 7: .setPollInterval(root: random.any(), seconds: random.any())
    case 4: .begin(firstNumber: random.any(), watchPercent: random.any(), refusesShares: Bool.random(using: &random))
    case 0: .configure(extensions: names(), ignoredDirectoryNames: names(), ignoredPatterns: names())
    case 1: .addRoot(root: random.any(), path: random.name())
    case 2: .removeRoot(root: random.any())
    case 5: .passed(checkpoint: random.any())
    case 3:
      .rescan(
        root: random.any(), directory: Bool.random(using: &random) ? random.any() : nil, request: random.any())
    default: .sync(number: random.any())
    }
  }
}
