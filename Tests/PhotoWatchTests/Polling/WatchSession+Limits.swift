// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

extension WatchSession {
  var lastPolling: WatchRecord? { records.last { if case .polling = $0 { true } else { false } } }

  var lastBudget: WatchBudget? {
    for case .watchBudget(let budget) in records.reversed() { return budget }
    return nil
  }

  /// Returns once exactly these directories in the root, the root and the sync cookies have watches.
  func waitForWatches(_ root: String, _ names: [String]) async throws {
    let wanted = Set(try (names.map { root + "/" + $0 } + [root]).map(Disk.inode))
    try await eventually("these directories are watched and no others") {
      let watches = try Namespace.watches(of: watcher.processID)
      return watches.isSuperset(of: wanted) && watches.count == wanted.count + 1
    }
  }
}

extension Disk {
  static func inode(_ path: String) throws -> UInt64 {
    var look = stat()
    try #require(lstat(path, &look) == 0)
    return UInt64(look.st_ino)
  }

  /// Returns once the last change of the directories is longer ago than this.
  static func wait(untilUnchangedFor time: Duration, _ directories: [String]) async throws {
    try await eventually("the directories were changed longer ago") {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      return try directories.allSatisfy { directory in
        var look = stat()
        try #require(lstat(directory, &look) == 0)
        let age =
          Duration.seconds(now.tv_sec - look.st_ctim.tv_sec) + .nanoseconds(now.tv_nsec - look.st_ctim.tv_nsec)
        return age > time
      }
    }
  }

  /// Sets the times of a file or directory this far back, and changes nothing else.
  static func age(_ path: String, seconds: Int) {
    let then = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    utimensat(AT_FDCWD, path, [then, then], 0)
  }

  /// Writes into a file in place, so that nothing of its directory changes.
  static func edit(_ path: String, _ content: String) {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var content = content
    _ = content.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
  }
}
