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

  init() throws { disk = try Disk() }

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

  private static func files(in records: [WatchRecord]) -> Int {
    records.count { if case .fileFound = $0 { true } else { false } }
  }

  /// Waits until the process sleeps, and used no processor time from one look to the next.
  private static func waitUntilAsleep(_ process: pid_t) async throws {
    var last = ""
    var calmLooks = 0
    try await eventually("photod-watch sleeps") {
      let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
      // The state, and the processor times in user and kernel mode (proc(5)).
      let now = ([fields[0]] + fields[11...12]).joined(separator: " ")
      calmLooks = now == last && now.hasPrefix("S") ? calmLooks + 1 : 0
      last = now
      return calmLooks >= 10
    }
  }
}
