// SPDX-License-Identifier: Apache-2.0

/// How long a process may be silent before it is replaced.
///
/// A process is silent while it waits in the kernel, for a disk or a share that is slow or does not answer. Another
/// process would wait for the same answer, and begin its work anew. So a slow share must not cause one replacement after
/// another. The rules are:
///
/// 1. After the first limit, the process is late. Callers stop waiting for it, but it may go on.
/// 2. After the current limit, it is killed and replaced. This limit doubles with each replacement. A call that ends at
///    all is soon shorter than the limit, and then the process makes progress. A call that never ends causes fewer and
///    fewer replacements, and none waits for longer than the silence before it has lasted.
/// 3. After ten minutes in which no process was late, the first limit counts again.
struct SilenceLimit {
  /// With a first limit of 20 s, the last one is about ten minutes.
  static let mostDoublings = 5
  static let trustedTime = Duration.seconds(600)

  let first: Duration
  private(set) var current: Duration
  /// When a process was late, or was replaced.
  private var lateAt: SuspendingClock.Instant

  init(first: Duration, at now: SuspendingClock.Instant) {
    self.first = first
    current = first
    lateAt = now
  }

  /// The process has sent something after a silence.
  mutating func noteOutput(after silence: Duration, at now: SuspendingClock.Instant) {
    if silence >= first {
      lateAt = now
    } else if current > first, now - lateAt >= Self.trustedTime {
      current = first
    }
  }

  mutating func noteReplacement(at now: SuspendingClock.Instant) {
    lateAt = now
    current = min(current * 2, first * (1 << Self.mostDoublings))
  }
}
