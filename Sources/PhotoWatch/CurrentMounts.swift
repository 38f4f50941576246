// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import WatchRecords

/// The mount table, read again only after something was mounted or unmounted. poll(2) reports such changes, so a
/// question about a path costs one system call.
package final class CurrentMounts: Sendable {
  package static let shared = CurrentMounts()

  private let descriptor: Int32
  private let last: Mutex<MountTable>

  init() {
    // It is opened before the first reading, so that no later change is missed.
    descriptor = open(MountTable.file, O_RDONLY | O_CLOEXEC)
    last = Mutex(MountTable.current())
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The current mount table; empty if it can't be read.
  package var table: MountTable {
    last.withLock { table in
      var polled = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
      if descriptor < 0 || poll(&polled, 1, 0) != 0 { table = MountTable.current() }
      return table
    }
  }
}
