// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Wakes a worker's thread from poll(2).
final class Wakeup: Sendable {
  /// The reading and the writing end; -1 until `open`. They are closed with this object, which the thread holds.
  private let ends = Mutex<(read: Int32, write: Int32)>((-1, -1))

  func open() throws {
    try ends.withLock { ends in
      guard ends.read < 0 else { return }
      let pair = try makeSocketPair(nonBlocking: true)
      ends = (pair[0], pair[1])
    }
  }

  deinit {
    ends.withLock { ends in
      guard ends.read >= 0 else { return }
      close(ends.read)
      close(ends.write)
    }
  }

  var descriptor: Int32 { ends.withLock { $0.read } }

  /// A full buffer is no problem: the thread is awake then.
  func signal() {
    ends.withLock { ends in
      guard ends.write >= 0 else { return }
      var byte: UInt8 = 1
      while write(ends.write, &byte, 1) < 0, errno != EAGAIN {
        // The kernel has no memory for this byte. The loop tries again, because the thread sleeps until the byte arrives.
        if errno != EINTR { usleep(1000) }
      }
    }
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let descriptor = self.descriptor
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
