// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoWatch
import Testing
import WatchRecords

/// A user namespace of photod-watch's own, in which the limits of inotify can be set.
enum Namespace {
  static let isPermitted = system("unshare -Ur true 2>/dev/null") == 0

  enum Limit: String {
    case watches = "max_inotify_watches"
    case instances = "max_inotify_instances"
  }

  /// A program that sets the limit and becomes photod-watch.
  static func wrapper(_ disk: Disk, _ limit: Limit, _ value: Int) throws -> String {
    let executable = try WatchSession.builtExecutable()
    return script(disk, "unshare -Ur sh -c 'echo \(value) > /proc/sys/user/\(limit.rawValue); exec \(executable)'")
  }

  /// A program that becomes photod-watch in the namespace of another.
  static func wrapper(_ disk: Disk, joining process: pid_t?) throws -> String {
    let executable = try WatchSession.builtExecutable()
    return script(disk, "nsenter -t \(try #require(process)) -U --preserve-credentials \(executable)")
  }

  static func script(_ disk: Disk, _ command: String) -> String {
    let script = disk.outside + "/started"
    Disk.write(script, "#!/bin/sh\nexec \(command)\n")
    chmod(script, 0o755)
    return script
  }

  /// Sets it in the namespace of a process that runs.
  static func set(_ limit: Limit, _ value: Int, of process: pid_t?) throws {
    let process = try #require(process)
    let status = system(
      "nsenter -t \(process) -U --preserve-credentials sh -c 'echo \(value) > /proc/sys/user/\(limit.rawValue)'")
    try #require(status == 0)
  }

  /// The inodes that a process watches, by /proc/PID/fdinfo (proc_pid_fdinfo(5)).
  static func watches(of process: pid_t?) throws -> Set<UInt64> {
    let process = try #require(process)
    var inodes: Set<UInt64> = []
    for descriptor in 0..<64 {
      for line in Disk.read("/proc/\(process)/fdinfo/\(descriptor)")?.split(separator: "\n") ?? [] {
        guard line.hasPrefix("inotify wd:"),
          let inode = line.split(separator: " ").first(where: { $0.hasPrefix("ino:") })
        else { continue }
        inodes.insert(try #require(UInt64(inode.dropFirst(4), radix: 16)))
      }
    }
    return inodes
  }

  static func watchCount(of process: pid_t?) throws -> Int { try watches(of: process).count }
}

extension WatchSession {
  var lastPolling: WatchRecord? { records.last { if case .polling = $0 { true } else { false } } }

  var lastBudget: WatchBudget? {
    for case .watchBudget(let budget) in records.reversed() { return budget }
    return nil
  }

  /// Returns once exactly these directories in the root, and the root, have watches, beside the sync cookies.
  func waitForWatches(_ root: String, _ names: [String]) async throws {
    let wanted = Set(try (names.map { root + "/" + $0 } + [root]).map(Disk.inode))
    for _ in 0..<3000 {
      let watches = try Namespace.watches(of: watcher.processID)
      if watches.isSuperset(of: wanted), watches.count == wanted.count + 1 { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("other directories are watched")
  }
}

extension Disk {
  static func inode(_ path: String) throws -> UInt64 {
    var look = stat()
    try #require(lstat(path, &look) == 0)
    return UInt64(look.st_ino)
  }

  /// Gives a file or directory a time long ago, nothing else.
  static func age(_ path: String, seconds: Int) {
    let then = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    utimensat(AT_FDCWD, path, [then, then], 0)
  }

  /// Writes into a file as it is: of its directory nothing changes.
  static func edit(_ path: String, _ content: String) {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var content = content
    _ = content.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
  }
}
