// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Records on their way to photod, cut into frames and buffered while photod is slow. Nothing here ever blocks.
struct RecordOutput {
  /// Above this size, no event is read and no directory is listed until half of it has been sent. Meanwhile the kernel's
  /// queue overflows, and everything is scanned again. This is the policy for a photod that does not read.
  static let maximumBufferedBytes = 64 << 20
  /// Under load, a partial frame waits at most this long for more records.
  static let maximumFrameAge = Interval.milliseconds(10)

  private var builder = FrameBuilder()
  private var builderSince = Moment.start
  private var frames: [[UInt8]] = []
  private var head = 0
  /// How many bytes of `frames[head]` have been sent.
  private var sent = 0
  private var bufferedBytes = 0
  private(set) var isPaused = false

  var wantsToWrite: Bool { head < frames.count }

  mutating func begin() {
    frames.append(WatchStream.greeting)
    bufferedBytes += WatchStream.greeting.count
  }

  mutating func report(_ record: WatchRecord) {
    if builder.isEmpty { builderSince = Moment.now }
    builder.append(record)
    if builder.isFull { cut() }
  }

  /// Makes a frame of the pending records if they have waited long enough.
  ///
  /// - Parameter quiet: whether there is no other work. If so, the frame is made at once.
  mutating func cutIfDue(quiet: Bool) {
    guard !builder.isEmpty, quiet || Moment.now - builderSince >= Self.maximumFrameAge else { return }
    cut()
  }

  private mutating func cut() {
    let frame = builder.take()
    bufferedBytes += frame.count
    frames.append(frame)
    if bufferedBytes > Self.maximumBufferedBytes { isPaused = true }
  }

  /// Sends as much as the socket takes.
  /// - Throws: `SystemError` if photod has closed its end.
  mutating func write(to socket: Int32) throws(SystemError) {
    while head < frames.count {
      let count = frames[head].withUnsafeBytes { bytes in
        send(
          socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count < 0 {
        switch errno {
        case EINTR: continue
        case EAGAIN: return
        default: throw SystemError(number: errno)
        }
      }
      sent += count
      bufferedBytes -= count
      if sent == frames[head].count {
        frames[head] = []
        head += 1
        sent = 0
        if head == 1024 {
          frames.removeFirst(head)
          head = 0
        }
      }
      if isPaused, bufferedBytes < Self.maximumBufferedBytes / 2 { isPaused = false }
    }
    frames.removeAll(keepingCapacity: true)
    head = 0
  }
}
