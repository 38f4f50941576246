// SPDX-License-Identifier: GPL-2.0-or-later

import CInotifyTools
import CWatchShim
import Glibc
import WatchRecords

/// A reason why photod-watch, or its cookie directory, can't start. It is written to standard error.
struct WatchStartError: Error {
  var message: String
}

/// The kernel's queue of events, owned and read by libinotifytools. The library keeps it in global variables, so a
/// process has at most one, and keeps it until it ends.
struct InotifyInstance {
  /// The events that report a change of a directory's contents. Never MODIFY, OPEN or ACCESS: photod's own reading
  /// would flood the queue. The kernel reports IN_IGNORED, IN_UNMOUNT and IN_Q_OVERFLOW without a request.
  static let contentMask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK)
  /// The top of a root also reports its own deletion and rename. For any other directory, its parent does that.
  static let topMask = contentMask | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

  /// Used for inotify_add_watch(2) and poll(2), which skips -1. Only the library reads from it.
  private(set) var descriptor: Int32 = -1
  /// Why it could not be opened (EMFILE: fs.inotify.max_user_instances, or this process's limit of open files).
  private(set) var errorNumber: Int32 = 0

  var isOpen: Bool { descriptor >= 0 }

  /// Opens the instance. After a failure it may be called again at any time.
  mutating func open() {
    guard !isOpen else { return }
    guard inotifytools_initialize() == 1 else {
      errorNumber = inotifytools_error()
      return
    }
    // The library does not reveal its descriptor. Inherited descriptors were closed, so exactly one is inotify's.
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

  /// Watches the directory that `directory` is open on. The kernel gives a directory the same number each time,
  /// wherever it was moved. This number is the test of a directory's identity.
  func watch(_ directory: Int32, mask: UInt32) -> Result<Int32, SystemError> {
    guard isOpen else { return .failure(SystemError(number: EMFILE)) }
    let watch = watchshim_watch_descriptor(descriptor, directory, mask)
    return watch < 0 ? .failure(SystemError(number: -watch)) : .success(watch)
  }

  /// Ends a watch. EINVAL is no error: the kernel has removed the watch already, because its directory is gone.
  func unwatch(_ watch: Int32) {
    _ = inotify_rm_watch(descriptor, watch)
  }

  /// Copies what the kernel has queued to `backlog`.
  /// - returns: false when the backlog was full before the queue was empty.
  func read(into backlog: inout EventBacklog) -> Bool {
    guard isOpen else { return true }
    let time = FileTime.now
    while !backlog.isFull {
      guard let event = inotifytools_next_events(0, 1) else { return true }
      backlog.append(event, time: time)
    }
    return false
  }

  func close() {
    if isOpen { inotifytools_cleanup() }
  }
}

/// An errno value.
struct SystemError: Error {
  var number: Int32
}

extension FolderWatch {
  /// Opens the inotify instance and the directory for sync cookies, if they are not open yet. If the instance comes
  /// late, the directories that were polled without it get watches one after another, and are listed.
  func openInotify() {
    if !events.inotify.isOpen {
      directories.closeAll()
      events.inotify.open()
      guard events.inotify.isOpen else { return }
      polling.directories.instanceCame()
      polling.mustRebalance = true
    }
    guard syncing.cookies == nil else { return }
    do throws(WatchStartError) {
      syncing.cookies = try CookieDirectory(inotify: events.inotify)
    } catch {
      if !syncing.hasReportedNoCookies { complain("sync cookies can't be used: \(error.message)") }
      syncing.hasReportedNoCookies = true
    }
  }
}
