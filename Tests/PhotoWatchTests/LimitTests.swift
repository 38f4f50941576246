// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoWatch
import Testing
import WatchRecords

/// Few watches, by a user namespace of its own; where that is not permitted these tests are skipped.
@Suite struct LimitTests {
  static let isPermitted = system("unshare -Ur true 2>/dev/null") == 0

  let disk: Disk

  init() throws { disk = try Disk() }

  private func wrapper(_ setting: String) throws -> String {
    let script = disk.outside + "/limited"
    let executable = try WatchSession.builtExecutable()
    Disk.write(script, "#!/bin/sh\nexec unshare -Ur sh -c 'echo \(setting); exec \(executable)'\n")
    chmod(script, 0o755)
    return script
  }

  @Test(.enabled(if: isPermitted, "user namespaces are not permitted here"))
  func directoriesWithoutAWatchAreCountedListedAndPolled() async throws {
    for index in 0..<100 { disk.write("d\(index)/a.jpg") }
    let session = try await WatchSession(
      roots: [disk.root], executable: try wrapper("50 > /proc/sys/user/max_inotify_watches"))
    session.expectTruth([disk.root])
    let said = session.records.last { if case .polling = $0 { true } else { false } }
    // 50 watches: 49 directories and the sync cookies.
    #expect(said == .polling(root: 1, reason: .watchLimit, polled: 52, directories: 101))
    for index in 0..<100 { disk.write("d\(index)/b.jpg") }
    disk.write("d99/new/c.jpg")
    disk.rename("d98", "moved")
    try await session.sync()
    session.expectTruth([disk.root])
    for index in 0..<97 { Disk.removeTree(disk.path("d\(index)")) }
    try await session.sync()
    session.expectTruth([disk.root])
    // Watches are free again: what has none gets one at the next look.
    try await session.sync()
    let last = session.records.last { if case .polling = $0 { true } else { false } }
    guard case .polling(1, .watchLimit, 0, _) = last else {
      Issue.record("\(String(describing: last))")
      return
    }
    await session.watcher.stop()
  }

  @Test(.enabled(if: isPermitted, "user namespaces are not permitted here"))
  func withoutAnInstanceItSaysWhyItEnds() async throws {
    let session = try await WatchSession(
      roots: [disk.root], executable: try wrapper("0 > /proc/sys/user/max_inotify_instances"), waiting: false)
    while session.deaths.isEmpty { try await session.takeInput() }
    #expect(session.deaths[0].contains("status 1"))
    await session.watcher.stop()
  }
}
