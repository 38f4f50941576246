// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization

/// The protocol with one kind of worker process: the bytes for it, and the handling of its output. A `Worker` calls all
/// of this on its one thread.
package protocol WorkerDialogue: AnyObject, Sendable {
  /// A new process runs.
  /// - Returns: the first bytes for it.
  func begin(session: Int) -> [UInt8]
  /// - Returns: the bytes for the process that were added since the last call.
  func takeOutgoing() -> [UInt8]
  /// While this is true, the output of the process is not read. `Worker.wake()` must follow when it becomes false.
  var isFull: Bool { get }
  /// Whether a silent process counts as hanging. It may be silent while no work is requested.
  var expectsOutput: Bool { get }
  /// The process has sent these bytes.
  /// - Returns: why the process must be replaced; nil if it need not be.
  func receive(_ bytes: UnsafeRawBufferPointer) -> String?
  /// The process must send something, and has sent nothing for `longestSilence`. It may go on later.
  func noteLateness()
  /// The process has written this line to its standard error.
  func note(errorLine line: String)
  /// The process has ended without an order. Another one follows.
  /// - Parameter isSilent: whether it hung and may still hang, or could not be started.
  func end(session: Int, reason: String, isSilent: Bool)
  /// No process follows, because the worker was ordered to stop.
  func finish()
}

extension WorkerDialogue {
  /// Does nothing, for a worker whose callers do not wait that long.
  package func noteLateness() {}
}

/// A child process that is started, fed and supervised, and is started again when it dies. All of that happens on one
/// thread. The calls here only wake it.
///
/// A process that hangs is killed, after growing times (`SilenceLimit`). If it does not end even then, it hangs in the
/// kernel, on a disk or share that does not answer. It is abandoned and another one is started, until `maximumProcesses`
/// of the same place have not ended. The next one is started when one of them has.
package final class Worker: Sendable {
  package struct Configuration: Sendable {
    /// The name for the log.
    package var name: String
    package var executable: String
    package var arguments: [String]
    /// A process that must send something, and sends nothing for this long, is late. The first one is replaced then, and
    /// later ones after longer times (`SilenceLimit`).
    package var longestSilence: Duration
    /// How long a process may take to end by itself. After it was killed, it may take the same time again. Both together
    /// must be shorter than a stop of photod may take, 1.8 s (`Daemon.stopTime`).
    package var endPatience: Duration
    /// Workers of one place share its slots. Each process takes one.
    package var slots: ProcessSlots
    package var place: String
    package var maximumProcesses = 2
    /// Kills a process. A test replaces it by a process that can't be killed.
    package var kill: @Sendable (pid_t) -> Void = { Glibc.kill($0, SIGKILL) }

    package init(
      name: String, executable: String, arguments: [String] = [], longestSilence: Duration,
      endPatience: Duration = .milliseconds(600), slots: ProcessSlots = ProcessSlots(), place: String = ""
    ) {
      self.name = name
      self.executable = executable
      self.arguments = arguments
      self.longestSilence = longestSilence
      self.endPatience = endPatience
      self.slots = slots
      self.place = place
    }
  }

  struct State {
    var isStarted = false
    var isStopping = false
    var hasEnded = false
    var processID: pid_t?
    var stopWaiters: [CheckedContinuation<Void, Never>] = []

    var isOver: Bool { !isStarted || hasEnded }
  }

  let state = Mutex(State())
  let wakeup = Wakeup()

  package init() {}

  /// The process that runs now, or nil.
  package var processID: pid_t? { state.withLock { $0.processID } }

  /// Starts the thread, but only once. The thread holds the dialogue until it ends.
  package func start(_ configuration: Configuration, dialogue: some WorkerDialogue, logger: Logger) throws {
    try wakeup.open()
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    guard isFirst else { return }
    do {
      try WorkerThread(worker: self, configuration: configuration, dialogue: dialogue, logger: logger).start()
    } catch {
      state.withLock { $0.isStarted = false }
      throw error
    }
  }

  /// Wakes the thread, because there are bytes for the process or there is room for its output.
  package func wake() { wakeup.signal() }

  /// Orders the thread to end, without waiting for it.
  /// - Returns: false if there is no thread. Then `WorkerDialogue.finish()` is not called.
  @discardableResult
  package func endSoon() -> Bool {
    let isRunning = state.withLock { state in
      state.isStopping = true
      return state.isStarted && !state.hasEnded
    }
    wakeup.signal()
    return isRunning
  }

  /// Whether `stop()` would return at once: the thread has ended, or was never started.
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// Returns when the process has ended or was abandoned.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        state.isStopping = true
        if state.isOver { return true }
        state.stopWaiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() } else { wakeup.signal() }
    }
  }
}
