// SPDX-License-Identifier: Apache-2.0

import CThread
import Glibc
import Logging
import SystemErrors

/// The thread that starts a worker's process, reads its socket and standard error, writes to it and reaps it.
final class WorkerThread {
  private enum SessionEnd {
    case stopped
    case died(String, isSilent: Bool)
  }

  /// Why a session ended.
  private struct Failure {
    var reason: String
    var isSilent = false
  }

  /// The pause between two starts doubles from 0.1 s to 10 s. After 60 s of life, it begins with 0.1 s again.
  static let shortestBackoff = Duration.milliseconds(100)
  static let longestBackoff = Duration.seconds(10)
  static let healthyLife = Duration.seconds(60)
  /// How long an end waits for a `stop()` that would explain it. After that, it counts as a death.
  static let orderlyEnd = Duration.milliseconds(200)
  /// How often a worker looks for a free slot of its place.
  static let slotInterval = Duration.seconds(1)
  /// A process that hangs does not end by itself when photod stops, so it gets only this time.
  static let hangingEndPatience = Duration.milliseconds(300)

  private let worker: Worker
  private let configuration: Worker.Configuration
  private let dialogue: any WorkerDialogue
  private let logger: Logger
  private var session = 0
  private var backoff = WorkerThread.shortestBackoff
  /// The bytes that the socket has not accepted yet.
  private var outgoing: [UInt8] = []
  private var errorLine: [UInt8] = []
  private var standardErrorEnded = false
  /// This clock stops while the machine is suspended, so that a night is no silence.
  private let clock = SuspendingClock()
  /// The last time when bytes came, when there was no room to read them, or when none were expected. So only silence
  /// counts that photod could have noticed.
  private var silentSince = SuspendingClock().now {
    didSet { isLate = false }
  }
  /// The dialogue knows that the process is late.
  private var isLate = false
  private var silenceLimit: SilenceLimit

  init(worker: Worker, configuration: Worker.Configuration, dialogue: any WorkerDialogue, logger: Logger) {
    self.worker = worker
    self.configuration = configuration
    self.dialogue = dialogue
    self.logger = logger
    silenceLimit = SilenceLimit(first: configuration.longestSilence, at: SuspendingClock().now)
  }

  /// The thread holds this object until it ends.
  func start() throws {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let number = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<WorkerThread>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    guard number == 0 else {
      context.release()
      throw WorkerError("no thread can be started for \(configuration.name)", errorNumber: number)
    }
    pthread_detach(thread)
  }

  private func run() {
    cthread_set_name("photod-worker")
    // A sync waits for the thread of photod-watch twice. If the kernel refuses the slice, the sync takes longer on a busy
    // machine.
    _ = cthread_request_slice(cthread_shortest_slice)
    while !isStopping {
      guard takeSlot() else { break }
      session += 1
      let begun = ContinuousClock.now
      guard case .died(let reason, let isSilent) = runSession() else { break }
      // A service manager or a terminal signals all processes at once. Then the worker may end a moment before photod
      // stops it.
      pause(Self.orderlyEnd)
      if isStopping { break }
      dialogue.end(session: session, reason: reason, isSilent: isSilent)
      if ContinuousClock.now - begun >= Self.healthyLife { backoff = Self.shortestBackoff }
      pause(backoff)
      backoff = min(backoff * 2, Self.longestBackoff)
    }
    dialogue.finish()
    let waiters = worker.state.withLock { state in
      state.hasEnded = true
      defer { state.stopWaiters = [] }
      return state.stopWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private var isStopping: Bool { worker.state.withLock { $0.isStopping } }

  /// Waits for a free slot of the place.
  /// - Returns: false if the worker stops before.
  private func takeSlot() -> Bool {
    while !isStopping {
      if configuration.slots.take(configuration.place, maximum: configuration.maximumProcesses) { return true }
      pause(Self.slotInterval)
    }
    return false
  }

  private func pause(_ duration: Duration) {
    let end = ContinuousClock.now + duration
    while !isStopping {
      let left = end - ContinuousClock.now
      guard left > .zero else { return }
      var polled = pollfd(fd: worker.wakeup.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&polled, 1, left.wholeMilliseconds) > 0 { worker.wakeup.drain() }
    }
  }

  // MARK: - One session

  private func runSession() -> SessionEnd {
    let child: ChildProcess
    do {
      child = try ChildProcess(executable: configuration.executable, arguments: configuration.arguments)
    } catch {
      configuration.slots.release(configuration.place)
      return .died("\(error)", isSilent: true)
    }
    standardErrorEnded = false
    silentSince = clock.now
    // The first start is logged as debug, because it is expected.
    logger.log(
      level: session == 1 ? .debug : .info, "\(configuration.name) started",
      metadata: ["pid": "\(child.processID)", "session": "\(session)"])
    worker.state.withLock { $0.processID = child.processID }
    outgoing = dialogue.begin(session: session)
    var failure: Failure?
    while failure == nil, !isStopping { failure = turn(child) }
    worker.state.withLock { $0.processID = nil }
    // If the process has been silent for a while, the stop of photod does not wait for it.
    let isHanging = dialogue.expectsOutput && clock.now - silentSince > configuration.longestSilence / 2
    let patience = isHanging ? min(Self.hangingEndPatience, configuration.endPatience) : configuration.endPatience
    let end = child.end(
      patience: patience, kill: configuration.kill, beforeClosing: { logErrors(child.standardError) })
    if end == nil {
      configuration.slots.abandon(child.processID, configuration.place)
    } else {
      configuration.slots.release(configuration.place)
    }
    return failure.map {
      .died("\($0.reason): \(end ?? "it was killed, and hangs in the kernel")", isSilent: $0.isSilent)
    } ?? .stopped
  }

  /// Waits for one of the descriptors and handles it.
  /// - Returns: why the session ended; nil while it goes on.
  private func turn(_ child: ChildProcess) -> Failure? {
    outgoing += dialogue.takeOutgoing()
    let isFull = dialogue.isFull
    let expectsOutput = dialogue.expectsOutput
    if !expectsOutput { silentSince = clock.now }
    var events: Int16 = isFull ? 0 : Int16(POLLIN)
    if !outgoing.isEmpty { events |= Int16(POLLOUT) }
    // Even without requested events, poll(2) would report POLLHUP again and again. While full, only room or a stop
    // counts.
    var polled = [
      pollfd(fd: events == 0 ? -1 : child.socket, events: events, revents: 0),
      pollfd(fd: worker.wakeup.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: child.standardError, events: Int16(POLLIN), revents: 0),
    ]
    if standardErrorEnded { polled[2].fd = -1 }
    let waitBegan = clock.now
    let limit = isLate ? silenceLimit.current : silenceLimit.first
    let patience = max(limit - (waitBegan - silentSince), .zero)
    let isPatient = isFull || !expectsOutput
    let readyCount = poll(&polled, nfds_t(polled.count), isPatient ? -1 : patience.wholeMilliseconds)
    guard readyCount >= 0 else {
      return errno == EINTR ? nil : Failure(reason: "poll failed: \(errorText(errno))")
    }
    if isPatient { silentSince = clock.now }
    if readyCount == 0, let failure = noteSilence(child, excess: clock.now - waitBegan - patience) { return failure }
    if polled[1].revents != 0 { worker.wakeup.drain() }
    if polled[2].revents != 0 { logErrors(child.standardError) }
    if polled[0].revents & Int16(POLLOUT) != 0, let failure = writeOutgoing(child.socket) { return failure }
    guard !isFull, polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return nil }
    return readOutput(child.socket)
  }

  /// Handles a wait that ended without an event.
  /// - Parameter excess: how much longer the wait was than requested. It is long if photod itself did not run, for
  ///   example in a frozen cgroup. The process did not run either then, so its silence proves nothing.
  /// - Returns: the failure if it hangs and was killed.
  private func noteSilence(_ child: ChildProcess, excess: Duration) -> Failure? {
    if excess > .seconds(1) { silentSince = clock.now }
    let silence = clock.now - silentSince
    if silence >= silenceLimit.current {
      configuration.kill(child.processID)
      defer { silenceLimit.noteReplacement(at: clock.now) }
      return Failure(reason: "it sent nothing for \(silenceLimit.current)", isSilent: true)
    }
    if silence >= silenceLimit.first, !isLate {
      isLate = true
      dialogue.noteLateness()
    }
    return nil
  }

  private func writeOutgoing(_ socket: Int32) -> Failure? {
    let count = outgoing.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count >= 0 {
      outgoing.removeFirst(count)
    } else if errno != EAGAIN, errno != EINTR {
      return Failure(reason: "it reads no orders (\(errorText(errno)))")
    }
    return nil
  }

  /// Reads only once, so that a request to stop is noticed in a flood of bytes.
  private func readOutput(_ socket: Int32) -> Failure? {
    withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer -> Failure? in
      let count = recv(socket, buffer.baseAddress, buffer.count, 0)
      if count == 0 { return Failure(reason: "it closed its connection") }
      if count < 0 {
        return errno == EAGAIN || errno == EINTR
          ? nil : Failure(reason: "it can't be read (\(errorText(errno)))")
      }
      silenceLimit.noteOutput(after: clock.now - silentSince, at: clock.now)
      silentSince = clock.now
      return dialogue.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])).map { Failure(reason: $0) }
    }
  }

  private func logErrors(_ descriptor: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { standardErrorEnded = true }
      guard count > 0 else { return }
      for byte in buffer[..<count] {
        if byte != UInt8(ascii: "\n"), errorLine.count < 1000 {
          errorLine.append(byte)
        } else if !errorLine.isEmpty {
          dialogue.note(errorLine: String(decoding: errorLine, as: UTF8.self))
          errorLine = []
        }
      }
    }
  }
}

extension Duration {
  /// Rounded up, for poll(2).
  fileprivate var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    return Int32(min(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000, 60_000))
  }
}
