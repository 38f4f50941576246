// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import WatchRecords

/// The one thread that starts photod-watch, reads its socket and standard error, gives it orders and reaps it.
final class WatcherThread {
  private enum SessionEnd {
    case stopped
    case died(String)
  }

  /// Waits between two starts: 0.1 s doubling to 10 s; after 60 s of life it begins anew.
  static let shortestBackoff = Duration.milliseconds(100)
  static let longestBackoff = Duration.seconds(10)
  static let healthyLife = Duration.seconds(60)
  /// How long an end waits for the `stop()` that explains it, before it is a death.
  static let orderlyEnd = Duration.milliseconds(200)

  private let watcher: Watcher
  private let executable: String
  private var session = 0
  private var backoff = WatcherThread.shortestBackoff
  /// Bytes of orders that the socket has not taken yet.
  private var outgoing: [UInt8] = []
  private var errorLine: [UInt8] = []
  private var standardErrorEnded = false
  /// Processes that were killed and did not end: they hang in the kernel, on a disk that does not answer.
  private var unreaped: [pid_t] = []
  /// The clock stands still while the machine sleeps: a night is no silence.
  private let clock = SuspendingClock()
  /// When something was read last, or could not be for want of room: only silence that was listened to counts.
  private var heardAt = SuspendingClock().now

  init(watcher: Watcher, executable: String) {
    self.watcher = watcher
    self.executable = executable
  }

  /// The thread holds this object until it ends.
  func start() throws {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let number = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<WatcherThread>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    guard number == 0 else {
      context.release()
      throw WatchError("no thread for photod-watch", errorNumber: number)
    }
    pthread_detach(thread)
  }

  private func run() {
    while !isStopping {
      session += 1
      unreaped.removeAll { waitpid($0, nil, WNOHANG) != 0 }
      let begun = ContinuousClock.now
      guard case .died(let reason) = runSession() else { break }
      // A signal to all of us, as a service manager or a terminal sends it, ends it a moment before photod says so.
      pause(Self.orderlyEnd)
      if isStopping { break }
      watcher.channel.add(.died(session: session, reason: reason))
      watcher.logger.error("photod-watch died", metadata: ["reason": "\(reason)", "session": "\(session)"])
      if ContinuousClock.now - begun >= Self.healthyLife { backoff = Self.shortestBackoff }
      pause(backoff)
      backoff = min(backoff * 2, Self.longestBackoff)
    }
    watcher.channel.finish()
    let waiters = watcher.wishes.withLock { wishes in
      wishes.hasEnded = true
      defer { wishes.stopWaiters = [] }
      return wishes.stopWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private var isStopping: Bool { watcher.wishes.withLock { $0.isStopping } }

  private func pause(_ duration: Duration) {
    let end = ContinuousClock.now + duration
    while !isStopping {
      let left = end - ContinuousClock.now
      guard left > .zero else { return }
      var polled = pollfd(fd: watcher.wakeup.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&polled, 1, left.wholeMilliseconds) > 0 { watcher.wakeup.drain() }
    }
  }

  // MARK: - One photod-watch

  private func runSession() -> SessionEnd {
    let child: ChildProcess
    do {
      child = try ChildProcess(executable: executable)
    } catch {
      return .died("\(error)")
    }
    standardErrorEnded = false
    heardAt = clock.now
    begin(child)
    var assembler = FrameAssembler()
    var failure: String?
    while failure == nil, !isStopping { failure = turn(child, &assembler) }
    watcher.wishes.withLock { wishes in
      wishes.isConnected = false
      wishes.orders = []
      wishes.processID = nil
    }
    let end = child.end(patience: .seconds(2), beforeClosing: { logErrors(child.standardError) })
    if end == nil { unreaped.append(child.processID) }
    return failure.map { .died("\($0): \(end ?? "it was killed, and hangs in the kernel")") } ?? .stopped
  }

  /// Tells a fresh photod-watch everything that one before it may have known.
  private func begin(_ child: ChildProcess) {
    watcher.channel.add(.started(session: session))
    // The first is no news.
    watcher.logger.log(
      level: session == 1 ? .debug : .info, "photod-watch started",
      metadata: ["pid": "\(child.processID)", "session": "\(session)"])
    outgoing = WatchStream.greeting
    watcher.wishes.withLock { wishes in
      outgoing += WatchStream.frame(watcher.configureOrder(wishes.ignoredPatterns))
      wishes.processID = child.processID
      wishes.isConnected = true
      wishes.orders = wishes.roots.map { .addRoot(root: $0.number, path: $0.path) }
      for (request, root) in wishes.openRescans.sorted(by: { $0.key < $1.key }) {
        wishes.orders.append(.rescan(root: root, directory: nil, request: request))
      }
      for number in wishes.openSyncs { wishes.orders.append(.sync(number: number)) }
    }
  }

  /// Waits for something and deals with it.
  /// - returns: why the session is over, nil while it goes on.
  private func turn(_ child: ChildProcess, _ assembler: inout FrameAssembler) -> String? {
    takeOrders()
    let isFull = watcher.channel.isFull
    var events: Int16 = isFull ? 0 : Int16(POLLIN)
    if !outgoing.isEmpty { events |= Int16(POLLOUT) }
    // With nothing wanted of it poll still says POLLHUP, and without end: while full, only room or a stop counts.
    var polled = [
      pollfd(fd: events == 0 ? -1 : child.socket, events: events, revents: 0),
      pollfd(fd: watcher.wakeup.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: child.standardError, events: Int16(POLLIN), revents: 0),
    ]
    if standardErrorEnded { polled[2].fd = -1 }
    let asleepAt = clock.now
    let patience = max(watcher.configuration.longestSilence - (asleepAt - heardAt), .zero)
    let readyCount = poll(&polled, nfds_t(polled.count), isFull ? -1 : patience.wholeMilliseconds)
    guard readyCount >= 0 else {
      return errno == EINTR ? nil : "poll failed: \(String(cString: strerror(errno)))"
    }
    if isFull { heardAt = clock.now }
    if readyCount == 0, let failure = noteSilence(child, overslept: clock.now - asleepAt - patience) { return failure }
    if polled[1].revents != 0 { watcher.wakeup.drain() }
    if polled[2].revents != 0 { logErrors(child.standardError) }
    if polled[0].revents & Int16(POLLOUT) != 0, let failure = writeOrders(child.socket) { return failure }
    guard !isFull, polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return nil }
    return readRecords(child.socket, &assembler)
  }

  /// Nothing came while we waited.
  /// - parameter overslept: how much longer it was than asked for: much when we stood still ourselves, and photod-watch with
  ///   us, as in a frozen cgroup. That says nothing of it.
  /// - returns: that it hangs and was killed.
  private func noteSilence(_ child: ChildProcess, overslept: Duration) -> String? {
    if overslept > .seconds(1) { heardAt = clock.now }
    guard clock.now - heardAt >= watcher.configuration.longestSilence else { return nil }
    kill(child.processID, SIGKILL)
    return "it said nothing for \(watcher.configuration.longestSilence)"
  }

  private func takeOrders() {
    let orders = watcher.wishes.withLock { wishes in
      defer { wishes.orders = [] }
      return wishes.orders
    }
    for order in orders { outgoing += WatchStream.frame(order) }
  }

  private func writeOrders(_ socket: Int32) -> String? {
    let count = outgoing.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count >= 0 {
      outgoing.removeFirst(count)
    } else if errno != EAGAIN, errno != EINTR {
      return "it takes no orders (\(String(cString: strerror(errno))))"
    }
    return nil
  }

  /// One read at a time, so that a flood is passed on in order with the wish to stop.
  private func readRecords(_ socket: Int32, _ assembler: inout FrameAssembler) -> String? {
    let failure = withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { buffer -> String? in
      let count = recv(socket, buffer.baseAddress, buffer.count, 0)
      if count == 0 { return "it closed its end" }
      if count < 0 {
        return errno == EAGAIN || errno == EINTR ? nil : "it can't be read (\(String(cString: strerror(errno))))"
      }
      heardAt = clock.now
      assembler.append(buffer[..<count])
      return nil
    }
    if failure != nil { return failure }
    do {
      while let payload = try assembler.next() {
        var records = try WatchStream.records(in: payload)
        records.removeAll { $0 == .alive }
        if records.isEmpty { continue }
        noteAnswers(records)
        watcher.channel.add(.batch(records))
      }
      return nil
    } catch {
      return "it said what can't be understood (\(error))"
    }
  }

  private func noteAnswers(_ records: [WatchRecord]) {
    for record in records {
      switch record {
      case .synced(let number):
        watcher.wishes.withLock { wishes in
          if let position = wishes.openSyncs.firstIndex(of: number) { wishes.openSyncs.remove(at: position) }
        }
      case .scanEnded(_, let request, _) where request != 0:
        watcher.wishes.withLock { $0.openRescans[request] = nil }
      default: break
      }
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
          watcher.logger.warning(
            "photod-watch says", metadata: ["line": "\(String(decoding: errorLine, as: UTF8.self))"])
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
