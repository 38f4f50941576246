// SPDX-License-Identifier: GPL-2.0-or-later

import CInotifyTools
import CWatchShim
import Glibc

/// What ends photod-watch before it can begin, said on standard error.
struct StartError: Error {
  var message: String
}

/// The kernel's one queue of events, owned and read by libinotifytools. One a process, for its life: the library keeps it
/// in globals.
struct InotifyInstance {
  /// What names a change of a directory's contents. Never MODIFY, OPEN or ACCESS: photod's own reading would flood the
  /// queue. IN_IGNORED, IN_UNMOUNT and IN_Q_OVERFLOW come unasked.
  static let contentMask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK)
  /// The top of a root also says what becomes of itself; any other directory's parent says that.
  static let topMask = contentMask | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

  /// For poll(2) and inotify_add_watch(2); reading is the library's.
  let descriptor: Int32

  /// - throws: `StartError` when the kernel gives no instance (EMFILE: fs.inotify.max_user_instances).
  init() throws(StartError) {
    let before = try Self.instances()
    guard inotifytools_initialize() == 1 else {
      let number = inotifytools_error()
      throw StartError(
        message: """
          no inotify instance: \(describe(number)); \
          the limits are fs.inotify.max_user_instances and the open files of this process
          """)
    }
    let new = Set(try Self.instances()).subtracting(before)
    guard new.count == 1, let descriptor = new.first else {
      throw StartError(message: "libinotifytools opened \(new.count) inotify instances, not one")
    }
    self.descriptor = descriptor
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
      throw StartError(message: "the inotify instance can't be made non-blocking: \(describe(errno))")
    }
  }

  /// Watches the directory that `directory` is open on. The same directory always gives the same number, wherever it was
  /// moved: that is the test of its identity.
  func watch(_ directory: Int32, mask: UInt32) -> Result<Int32, SystemError> {
    let watch = watchshim_watch_descriptor(descriptor, directory, mask)
    return watch < 0 ? .failure(SystemError(number: -watch)) : .success(watch)
  }

  /// EINVAL, for a watch that the kernel has removed already, is no error: its directory is gone.
  func unwatch(_ watch: Int32) {
    _ = inotify_rm_watch(descriptor, watch)
  }

  /// Copies what the kernel has queued to `backlog`.
  /// - returns: false when the backlog was full before the queue was empty.
  func read(into backlog: inout EventBacklog) -> Bool {
    while !backlog.isFull {
      guard let event = inotifytools_next_events(0, 1) else { return true }
      backlog.append(event)
    }
    return false
  }

  func close() { inotifytools_cleanup() }

  private static func instances() throws(StartError) -> [Int32] {
    var descriptors = [Int32](repeating: -1, count: 64)
    let count = watchshim_inotify_descriptors(&descriptors, 64)
    guard count >= 0 else { throw StartError(message: "/proc/self/fd can't be read: \(describe(-count))") }
    return Array(descriptors.prefix(Int(count)))
  }
}

/// An errno.
struct SystemError: Error {
  var number: Int32
}

func describe(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }
