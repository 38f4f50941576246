// SPDX-License-Identifier: Apache-2.0

import Foundation
import PhotoTestSupport
import PhotoWatch
import TestTools
import Testing
import WatchRecords

/// A requested scan stays close to photod's own progress, so that an event does not wait behind all files of it.
@Suite(.timeLimit(.minutes(10))) struct PaceTests {
  private static let folderCount = 60
  private static let fileCount = 6_000

  let disk: Disk

  /// Thousands of files are made sooner in memory than on a disk.
  init() throws { disk = try Disk(in: "/dev/shm") }

  @Test func eventDoesNotWaitForTheWholeOfARequestedScan() async throws {
    for index in 0..<Self.fileCount { disk.write("d\(index % Self.folderCount)/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root])
    let request = session.watcher.rescan(root: 1, directory: nil)
    // No records are taken now, so photod-watch goes on until it has to wait.
    try await Self.waitUntilAsleep(try #require(session.watcher.processID))
    disk.write("d0/new.jpg")
    let before = try await session.take {
      if case .fileFound(_, let name, _, _) = $0 { name == Array("new.jpg".utf8) } else { false }
    }
    #expect(before.contains(.scanStarted(root: 1, request: request, reason: .rescan)))
    #expect(Self.files(in: before) < Self.fileCount / 4, "files of the scan before the event")
    // The scan goes on when records are taken.
    let after = try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    #expect(Self.files(in: before) + Self.files(in: after) > Self.fileCount)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// Each folder is larger than the distance of two checkpoints, and the consumer has taken everything before.
  @Test func requestedScansOfLargeFoldersEnd() async throws {
    for index in 0..<1_800 { disk.write("d\(index % 3)/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root])
    for _ in 0..<20 {
      let request = session.watcher.rescan(root: 1, directory: nil)
      let said = try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
      #expect(Self.files(in: said) == 1_800)
    }
    await session.watcher.stop()
  }

  /// A drive with an open file can't be unmounted.
  @Test func aDelayedScanKeepsNoFolderOpen() async throws {
    for index in 0..<Self.fileCount { disk.write("d\(index % Self.folderCount)/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root])
    let request = session.watcher.rescan(root: 1, directory: nil)
    let process = try #require(session.watcher.processID)
    try await Self.waitUntilAsleep(process)
    let descriptors = "/proc/\(process)/fd"
    let open = try FileManager.default.contentsOfDirectory(atPath: descriptors).filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + $0))?.hasPrefix(disk.root) == true
    }
    #expect(open.isEmpty, "\(open.count) folders are open")
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// A folder that one scan has yet to list is moved to another root. The scan of that root lists it too, and does not wait
  /// for photod as the first one does.
  @Test func aFolderThatIsMovedDuringADelayedScanIsListedByTheScanOfItsNewRoot() async throws {
    for index in 0..<1_200 { disk.write("A/d\(index % 40)/\(index).jpg") }
    disk.write("A/z/a.jpg")
    disk.write("A/z/sub/b.jpg")
    disk.makeDirectory("B")
    let roots = [disk.path("A"), disk.path("B")]
    let session = try await WatchSession(roots: [roots[0]])
    var moved: DirectoryNumber?
    for case .directoryFound(let number, _, _, Array("z".utf8), _) in session.records { moved = number }
    let number = try #require(moved)
    let request = session.watcher.rescan(root: 1, directory: nil)
    let process = try #require(session.watcher.processID)
    try await Self.waitUntilAsleep(process)
    // The new root is scanned before the move counts as a removal.
    kill(process, SIGSTOP)
    disk.rename("A/z", "B/z")
    session.watcher.setRoots(
      roots.enumerated().map { WatchRoot(number: UInt16($0 + 1), path: Array($1.utf8)) })
    kill(process, SIGCONT)
    try await Self.waitUntilAsleep(process)
    let said = try await session.take { if case .scanEnded(2, _, true) = $0 { true } else { false } }
    let isMoved = said.contains { if case .directoryMoved(number, _, _) = $0 { true } else { false } }
    let isListed = said.contains { $0 == .listingEnded(number: number, complete: true) }
    #expect(isMoved && isListed)
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    try await session.sync()
    session.expectDiskState(roots)
    await session.watcher.stop()
  }

  /// Only few folders have watches, so that a scan must confirm that a folder has left. This scan is delayed.
  @Test(.enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"))
  func aFolderThatIsMissingDuringADelayedScanUsesNoProcessorTime() async throws {
    for index in 0..<1_200 { disk.write("d\(index % 40)/\(index).jpg") }
    disk.write("leaving/a.jpg")
    let session = try await WatchSession(roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 40))
    let request = session.watcher.rescan(root: 1, directory: nil)
    let process = try #require(session.watcher.processID)
    try await Self.waitUntilAsleep(process)
    rename(disk.path("leaving"), disk.outside + "/left")
    // The grace period of the missing folder must have passed before the measurement begins.
    try await Task.sleep(for: .milliseconds(500))
    let before = try Self.processorTicks(process)
    try await Task.sleep(for: .seconds(1))
    #expect(try Self.processorTicks(process) - before < 20, "of about 100 ticks in the meantime")
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  private static func files(in records: [WatchRecord]) -> Int {
    records.count { if case .fileFound = $0 { true } else { false } }
  }

  /// The fields of /proc/PID/stat from the state on (proc(5)).
  private static func status(_ process: pid_t) throws -> [Substring] {
    let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return text.split(separator: ")").last?.split(separator: " ") ?? []
  }

  /// The processor time in user and kernel mode, in clock ticks.
  private static func processorTicks(_ process: pid_t) throws -> Int {
    try status(process)[11...12].reduce(0) { $0 + (Int($1) ?? 0) }
  }

  /// Waits until the process sleeps, and used no processor time from one look to the next.
  private static func waitUntilAsleep(_ process: pid_t) async throws {
    var last = ""
    var calmLooks = 0
    try await eventually("photod-watch sleeps") {
      let fields = try status(process)
      // The state, and the processor times in user and kernel mode.
      let now = ([fields[0]] + fields[11...12]).joined(separator: " ")
      calmLooks = now == last && now.hasPrefix("S") ? calmLooks + 1 : 0
      last = now
      return calmLooks >= 10
    }
  }
}
