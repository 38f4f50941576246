// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// A directory to list again, because it or something in it could not be read for a reason that may pass.
struct ListingRetry {
  /// The first wait. Each later wait is twice as long, up to `longestWait`.
  static let firstWait = Interval.milliseconds(20)
  static let longestWait = Interval.seconds(60)
  /// The number of attempts that a sync waits for; they take 0.3 s.
  static let awaitedAttempts = 4
  /// A missing directory may be inside one that can't be read. It counts as gone only after this number of attempts,
  /// which take 5 s. A root that can't be read goes offline after the same number.
  static let trustedAttempts = 8

  var attempts = 0
  var retryAt: Moment
  /// Known directories below are listed, too.
  var isRecursive: Bool
  /// A scan could not finish this listing. Names that the listing lacks count as missed by the scan.
  var isBelated: Bool
  /// The stamp of the work in which the directory first failed (see `EventProgress`). The retry counts as a part of it.
  var stamp: UInt64
  /// The directory is being listed. If that fails again, the next wait begins.
  var isUnderWay = false
}

/// Whether the same call may succeed a little later by itself: after a disk error, a lack of memory or descriptors, or
/// a network failure. A denied access is not among them, because IN_ATTRIB reports new permissions. It is retried only if
/// no such event can be expected (`awaitsPermission`, `flagRefusing`).
func mayPass(_ errorNumber: Int32) -> Bool {
  switch errorNumber {
  case EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR, EBUSY, ENOBUFS, EREMOTEIO, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH,
    ENETDOWN, ENETUNREACH, ENOTCONN, ECONNREFUSED, ECONNABORTED, ECONNRESET:
    true
  default: false
  }
}
