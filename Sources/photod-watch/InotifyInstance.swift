// SPDX-License-Identifier: GPL-2.0-or-later

import CInotifyTools
import CWatchShim
import Glibc

/// What ends photod-watch before it can begin, said on standard error.
struct StartError: Error {
  var message: String
}

/// The kernel's one queue of events, owned and read by libinotifytools. One a process, from when the kernel gives it to the
/// process's end: the library keeps it in globals.
struct InotifyInstance {
  /// What names a change of a directory's contents. Never MODIFY, OPEN or ACCESS: photod's own reading would flood the
  /// queue. IN_IGNORED, IN_UNMOUNT and IN_Q_OVERFLOW come unasked.
  static let contentMask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK)
  /// The top of a root also says what becomes of itself; any other directory's parent says that.
  static let topMask = contentMask | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

  /// For poll(2), which passes over -1, and inotify_add_watch(2); reading is the library's.
  private(set) var descriptor: Int32 = -1
  /// Why there is none (EMFILE: fs.inotify.max_user_instances, or the open files of this process).
  private(set) var errorNumber: Int32 = 0

  var isOpen: Bool { descriptor >= 0 }

  /// Asks the kernel for it; where there is none it may be asked again at any time.
  mutating func open() {
    guard !isOpen else { return }
    guard inotifytools_initialize() == 1 else {
      errorNumber = inotifytools_error()
      return
    }
    // The library does not say which descriptor it has; what was inherited is closed, so there is one.
    var descriptors: [Int32] = [-1, -1]
    let count = watchshim_inotify_descriptors(&descriptors, 2)
    guard count == 1, fcntl(descriptors[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptors[0], F_SETFL, O_NONBLOCK) == 0
    else {
      errorNumber = count < 0 ? -count : count == 1 ? errno : EBADF
      inotifytools_cleanup()
      return
    }
    descriptor = descriptors[0]
    errorNumber = 0
  }

  /// Watches the directory that `directory` is open on. The same directory always gives the same number, wherever it was
  /// moved: that is the test of its identity.
  func watch(_ directory: Int32, mask: UInt32) -> Result<Int32, SystemError> {
    guard isOpen else { return .failure(SystemError(number: EMFILE)) }
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
    guard isOpen else { return true }
    while !backlog.isFull {
      guard let event = inotifytools_next_events(0, 1) else { return true }
      backlog.append(event)
    }
    return false
  }

  func close() {
    if isOpen { inotifytools_cleanup() }
  }
}

/// An errno.
struct SystemError: Error {
  var number: Int32
}

func describe(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }

extension FolderWatch {
  /// Gets the inotify instance, and the directory for sync cookies, where they are not there yet. When the instance comes
  /// late, what was polled without it is watched, directory by directory, and listed.
  func openInotify() {
    if !inotify.isOpen {
      directories.closeAll()
      inotify.open()
      guard inotify.isOpen else { return }
      polled.instanceCame()
      mustRebalance = true
    }
    guard cookies == nil else { return }
    do throws(StartError) {
      cookies = try CookieDirectory(inotify: inotify)
    } catch {
      if !saidNoCookies { complain("no sync cookies: \(error.message)") }
      saidNoCookies = true
    }
  }
}
