// SPDX-License-Identifier: GPL-2.0-or-later

/// The events of the kernel: their source, those that were read and not handled, and how far the handling is.
struct EventQueue {
  /// If it is not open, everything is polled.
  var inotify = InotifyInstance()
  var backlog = EventBacklog()
  var progress = EventProgress()
}
