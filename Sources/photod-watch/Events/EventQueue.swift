// SPDX-License-Identifier: GPL-2.0-or-later

/// The events of the kernel: the inotify instance, the events that were read but not handled yet, and the progress of
/// their handling.
struct EventQueue {
  /// If the instance is not open, all directories are polled.
  var inotify = InotifyInstance()
  var backlog = EventBacklog()
  var progress = EventProgress()
}
