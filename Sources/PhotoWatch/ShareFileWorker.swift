// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Logging
import Synchronization
import WatchRecords
import WorkerProcess

/// Looks at and reads the files of one share, in a separate process (`photod-watch --files`). photod itself never opens
/// them, so it never waits for the share.
///
/// The process passes bytes rather than descriptors. Reading from a share's descriptor may block just like opening a
/// file, and a thread that blocks in the kernel would keep photod from ending. Nearly all files have their metadata in
/// the first 64 KiB, so most need one call.
package final class ShareFileWorker: WorkerDialogue {
  /// A waiting caller.
  private final class Caller: Sendable {
    let answered = DispatchSemaphore(value: 0)
    let answer = Mutex<FileAnswer?>(nil)
  }

  private struct State {
    var outgoing: [UInt8] = []
    /// The callers in the order of the calls. nil stands for a caller that no longer waits.
    var callers: [Caller?] = []
    /// The share did not answer a call in time, and has not answered since.
    var isSilent = false
    /// When the process answered last.
    var lastAnswer: DispatchTime?
  }

  /// The clock by which callers wait. Tests have one of their own.
  struct Clock: Sendable {
    var now: @Sendable () -> DispatchTime = { .now() }
    /// Waits for a semaphore until a time.
    var wait: @Sendable (DispatchSemaphore, DispatchTime) -> DispatchTimeoutResult = { $0.wait(timeout: $1) }
  }

  /// The longest time without an answer of the process. After it, the share counts as silent, and no other caller waits
  /// until the share answers again.
  ///
  /// The calls of a slow share wait for each other, because the process makes one at a time. So the time begins anew with
  /// each answer. A call waits for as many answers as there are threads that ask the share.
  package static let patience = Duration.seconds(2)
  /// A process that does not answer for this long is replaced. The next process tests whether the share is back.
  static let longestSilence = Duration.seconds(10)

  private let root: [UInt8]
  private let logger: Logger
  private let state = Mutex(State())
  private let assembler = Mutex(FrameAssembler())
  private let worker = Worker()
  private let slots: ProcessSlots
  private let clock: Clock
  private let onCall: (@Sendable () -> Void)?

  /// - Parameters:
  ///   - slots: for its process, among those of other workers at this root.
  ///   - onCall: is called after each call was added. Tests answer it there, without a process.
  init(
    root: [UInt8], slots: ProcessSlots = .shared, logger: Logger, clock: Clock = Clock(),
    onCall: (@Sendable () -> Void)? = nil
  ) {
    self.root = root
    self.slots = slots
    self.logger = logger
    self.clock = clock
    self.onCall = onCall
  }

  func start(executable: String) throws {
    try worker.start(
      Worker.Configuration(
        name: "photod-watch", executable: executable, arguments: ["--files"], longestSilence: Self.longestSilence,
        slots: slots, place: "files of \(String(decoding: root, as: UTF8.self))"),
      dialogue: self, logger: logger)
  }

  /// Its thread could not be started. Until it is, no caller waits.
  func noteNotStarted() { release(isSilent: true) }

  /// The process that runs now, or nil.
  package var processID: pid_t? { worker.processID }

  func endSoon() { if !worker.endSoon() { finish() } }

  /// Whether `stop()` would return at once.
  var isOver: Bool { worker.isOver }

  func stop() async { await worker.stop() }

  /// Makes a call, and waits for its answer while the process gives any answers (``patience``).
  ///
  /// - Parameter end: when the caller stops waiting in any case. The share does not count as silent then.
  /// - Returns: nil if the share did not answer.
  package func ask(_ call: FileCall, until end: DispatchTime = .distantFuture) -> FileAnswer? {
    guard call.path.count <= FileCall.maximumPathBytes else { return FileAnswer(errorNumber: ENAMETOOLONG) }
    let caller = Caller()
    let asked = clock.now()
    let isAsked = state.withLock { state in
      guard !state.isSilent else { return false }
      state.outgoing += WatchStream.frame(call)
      state.callers.append(caller)
      return true
    }
    guard isAsked else { return nil }
    worker.wake()
    onCall?()
    var limit: DispatchTime? = min(asked + Self.patienceInterval, end)
    while let next = limit, clock.wait(caller.answered, next) == .timedOut { limit = waitAgain(caller, asked, end) }
    return caller.answer.withLock { $0 }
  }

  private static let patienceInterval = DispatchTimeInterval.seconds(Int(patience.components.seconds))

  /// Decides whether a caller without an answer waits on.
  /// - Returns: how long; nil if the caller leaves.
  private func waitAgain(_ caller: Caller, _ asked: DispatchTime, _ end: DispatchTime) -> DispatchTime? {
    let now = clock.now()
    return state.withLock { state in
      // It may have been answered since its time was over.
      guard let position = state.callers.firstIndex(where: { $0 === caller }) else { return nil }
      let limit = max(asked, state.lastAnswer ?? asked) + Self.patienceInterval
      if now < min(limit, end) { return min(limit, end) }
      state.callers[position] = nil
      if now >= limit { state.isSilent = true }
      return nil
    }
  }

  /// Whether it is later than this, by the clock by which callers wait.
  package func hasPassed(_ limit: DispatchTime) -> Bool { clock.now() >= limit }

  /// Whether the share answers. A call finds out.
  package var answers: Bool { ask(.look(path: root)) != nil }

  // MARK: - WorkerDialogue

  package var isFull: Bool { false }
  package var expectsOutput: Bool { state.withLock { !$0.callers.isEmpty } }

  package func begin(session: Int) -> [UInt8] {
    assembler.withLock { $0 = FrameAssembler() }
    return state.withLock { state in
      defer { state.outgoing = [] }
      if state.isSilent {
        // Any answer shows that the share is back.
        state.outgoing = WatchStream.frame(.look(path: root))
        state.callers = [nil]
      }
      return WatchStream.greeting + state.outgoing
    }
  }

  package func takeOutgoing() -> [UInt8] {
    state.withLock { state in
      defer { state.outgoing = [] }
      return state.outgoing
    }
  }

  package func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
    do {
      return try assembler.withLock { assembler in
        assembler.append(bytes)
        while let payload = try assembler.next() {
          guard take(try FileAnswer(payload)) else { return "it sent a reply without a call" }
        }
        return nil
      }
    } catch {
      return "it sent an invalid reply (\(error))"
    }
  }

  private func take(_ answer: FileAnswer) -> Bool {
    let now = clock.now()
    return state.withLock { state in
      guard !state.callers.isEmpty else { return false }
      state.isSilent = false
      state.lastAnswer = now
      if let caller = state.callers.removeFirst() {
        caller.answer.withLock { $0 = answer }
        caller.answered.signal()
      }
      return true
    }
  }

  package func note(errorLine line: String) {
    logger.warning("photod-watch says", metadata: ["line": "\(line)"])
  }

  package func end(session: Int, reason: String, isSilent: Bool) {
    logger.error("photod-watch died", metadata: ["reason": "\(reason)", "session": "\(session)"])
    release(isSilent: isSilent)
  }

  package func finish() { release(isSilent: true) }

  /// Releases all callers, because no more answers come.
  private func release(isSilent: Bool) {
    state.withLock { state in
      for caller in state.callers { caller?.answered.signal() }
      (state.callers, state.outgoing) = ([], [])
      if isSilent { state.isSilent = true }
    }
  }
}
