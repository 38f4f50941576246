// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// The socket pair to photod, with the bytes that were not sent or not decoded yet.
struct Connection {
  let socket: Int32
  var output = RecordOutput()
  /// The orders of photod that were received in part.
  var orders = FrameAssembler()

  init(socket: Int32) { self.socket = socket }
}
