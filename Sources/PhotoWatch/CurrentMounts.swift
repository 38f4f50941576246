// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import WatchRecords

/// The mount table, read again only after something was mounted or unmounted. poll(2) reports such changes, so a
/// question about a path costs one system call.
///
/// All readings use one descriptor, so a later reading can't fail because the process has no free descriptor. After a failed
/// reading, the old table stays, and the next question reads again.
package final class CurrentMounts: Sendable {
  package static let shared = CurrentMounts()

  private struct State {
    var descriptor: Int32 = -1
    var table: MountTable?
    /// poll(2) reports a change only once, so a failed reading must not forget it.
    var isOutdated = true
  }

  private let file: String
  private let state = Mutex(State())

  /// - Parameter file: the file that is read. Tests use another.
  init(file: String = MountTable.file) { self.file = file }

  deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// The current mount table; nil if it could never be read.
  package var table: MountTable? {
    state.withLock { state in
      // It is opened before the first reading, so that no later change is missed.
      if state.descriptor < 0 { state.descriptor = open(file, O_RDONLY | O_CLOEXEC) }
      guard state.descriptor >= 0 else { return nil }
      var polled = pollfd(fd: state.descriptor, events: Int16(POLLPRI), revents: 0)
      if poll(&polled, 1, 0) != 0 { state.isOutdated = true }
      if state.isOutdated, let table = Self.read(state.descriptor) {
        state.table = table
        state.isOutdated = false
      }
      return state.table
    }
  }

  private static func read(_ descriptor: Int32) -> MountTable? {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { return nil }
      if count == 0 { return MountTable(bytes) }
      bytes += buffer[..<count]
    }
  }
}
