// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestTools

/// A separate user namespace for photod-watch, in which the limits of inotify can be set.
package enum Namespace {
  package static let isPermitted = system("unshare -Ur true 2>/dev/null") == 0
  package static let canMount = system("unshare -Urm sh -c 'mount -t tmpfs none /mnt && umount /mnt' 2>/dev/null") == 0
  /// Whether bindfs is installed and FUSE is permitted.
  package static let canMountBindFS =
    system(
      """
      D=$(mktemp -d) && mkdir $D/a $D/b && unshare -Urm sh -c "bindfs $D/a $D/b && umount $D/b" >/dev/null 2>&1
      S=$?; rm -rf $D; exit $S
      """) == 0

  package enum Limit: String {
    case watches = "max_inotify_watches"
    case instances = "max_inotify_instances"
  }

  /// A program that sets the limit and becomes photod-watch.
  ///
  /// - Parameter variables: assignments of the environment, as the shell has them.
  package static func wrapper(_ disk: Disk, _ limit: Limit, _ value: Int, variables: String = "") throws -> String {
    let executable = BuiltPrograms.path("photod-watch")
    let command = "echo \(value) > /proc/sys/user/\(limit.rawValue); \(variables) exec \(executable)"
    return script(disk, "unshare -Ur sh -c '\(command)'")
  }

  /// A program that becomes photod-watch in the namespace of another process.
  package static func wrapper(_ disk: Disk, joining process: pid_t?) throws -> String {
    let executable = BuiltPrograms.path("photod-watch")
    return script(
      disk, "nsenter -t \(try require(process, "photod-watch does not run")) -U --preserve-credentials \(executable)")
  }

  package static func script(_ disk: Disk, _ command: String) -> String {
    let script = disk.outside + "/started"
    Disk.write(script, "#!/bin/sh\nexec \(command)\n")
    chmod(script, 0o755)
    return script
  }

  /// Sets a limit in the namespace of a running process.
  package static func set(_ limit: Limit, _ value: Int, of process: pid_t?) throws {
    let process = try require(process, "photod-watch does not run")
    let status = system(
      "nsenter -t \(process) -U --preserve-credentials sh -c 'echo \(value) > /proc/sys/user/\(limit.rawValue)'")
    try require(status == 0, "\(limit) can't be set")
  }

  /// The inodes that a process watches, from /proc/PID/fdinfo (see proc_pid_fdinfo(5)).
  package static func watches(of process: pid_t?) throws -> Set<UInt64> {
    let process = try require(process, "photod-watch does not run")
    var inodes: Set<UInt64> = []
    for descriptor in 0..<64 {
      for line in Disk.read("/proc/\(process)/fdinfo/\(descriptor)")?.split(separator: "\n") ?? [] {
        guard line.hasPrefix("inotify wd:"),
          let inode = line.split(separator: " ").first(where: { $0.hasPrefix("ino:") })
        else { continue }
        inodes.insert(try require(UInt64(inode.dropFirst(4), radix: 16), "\(inode)"))
      }
    }
    return inodes
  }

  package static func watchCount(of process: pid_t?) throws -> Int { try watches(of: process).count }
}
