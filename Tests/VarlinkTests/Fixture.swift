import Dispatch
import Foundation
import Synchronization
import TestTools
import Testing
import Varlink

/// A service with one made-up interface, on a socket in its own folder, for the duration of a test.
struct Fixture: Sendable {
  let directory: String
  let service: VarlinkService
  let interface: ExampleInterface
  let log: EventLog

  var path: String { directory + "/test.sock" }

  func connect() async throws -> VarlinkClient { try await VarlinkClient.connect(path: path) }

  /// Runs a test against a live service, then shuts it down. Fails if tasks of the service do not end.
  static func with(
    limits: VarlinkService.Limits = .init(), socketMode: mode_t = 0o600,
    allowedUserID: UInt32 = geteuid(), _ body: @Sendable (Fixture) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder("varlink")
    defer { withExtendedLifetime(folder) {} }
    let directory = folder.path
    let interface = ExampleInterface()
    let log = EventLog()
    let service = VarlinkService(
      identity: .init(vendor: "Example", product: "exampled", version: "1.2", url: "https://example.org"),
      interfaces: [interface], limits: limits, allowedUserID: allowedUserID, onEvent: { log.append($0) })
    let fixture = Fixture(directory: directory, service: service, interface: interface, log: log)
    let descriptor = try VarlinkSocket.listen(path: fixture.path, mode: socketMode)
    try await withThrowingTaskGroup { group in
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      do {
        try await body(fixture)
      } catch {
        service.shutDown(within: .zero)
        throw error
      }
      service.shutDown(within: .zero)
      try await group.waitForAll()
    }
    #expect(service.connectionCount == 0)
  }
}

/// The events that a service reported. A test can read them or wait for one.
final class EventLog: Sendable {
  typealias Condition = @Sendable ([String]) -> Bool

  private struct State {
    var events: [String] = []
    var waiters: [(Condition, CheckedContinuation<Void, Never>)] = []
  }
  private let state = Mutex(State())

  var events: [String] { state.withLock { $0.events } }

  /// Malformed messages are left out. There may be hundreds of thousands, and their senders get errors.
  func append(_ event: VarlinkService.Event) {
    if case .malformed = event { return }
    append(String(describing: event))
  }

  func append(_ text: String) {
    let woken = state.withLock { state in
      state.events.append(text)
      let events = state.events
      let woken = state.waiters.filter { $0.0(events) }
      state.waiters.removeAll { $0.0(events) }
      return woken
    }
    for (_, waiter) in woken { waiter.resume() }
  }

  /// Waits for an event whose text contains this. Past events count, too.
  func wait(for text: String) async {
    await wait { events in events.contains { $0.contains(text) } }
  }

  func wait(until condition: @escaping Condition) async {
    await withCheckedContinuation { continuation in
      let isTrue = state.withLock { state in
        if condition(state.events) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if isTrue { continuation.resume() }
    }
  }
}

struct Echo: Codable, Sendable, Equatable {
  var text: String
  var note: String?
}

struct Number: Codable, Sendable, Equatable {
  var number: Int
  var padding: String?
}

struct CountOptions: Codable, Sendable {
  var to: Int
  var bytes: Int?
}

/// `org.example.test`. Tests misuse each of its methods.
final class ExampleInterface: VarlinkInterface {
  let name = "org.example.test"
  let definition = """
    # Made up for tests. // Comments stay as they are: "—".
    interface org.example.test

    # Sizes are bytes; kind is (file, folder): see Item.
    type Item (
      name: string, kind: (file, folder),
      size: ?int, tags: []string, attributes: [string]string, error: ?(none, some)
    )

    # Says it again. // A second kind of comment.
    method Echo(text: string, note: ?string) -> (text: string, note: ?string)
    # `more`: 1, 2, ..., to.
    method Count(to: int, bytes: ?int) -> (number: int, padding: ?string)
    # `more`: as Count, the same bytes each time.
    method Pages(to: int, bytes: int) -> (padding: string)
    method Items(items: []Item, nested: ?(a: int, b: (c: ?[]string))) -> (items: []Item)
    method Fail(how: string) -> ()
    # Answers when it is cancelled, and not before.
    method Wait() -> (state: (waiting, done))
    method Later() -> ()
    # Says how large its parameters were before and after it released them.
    method Release(text: string) -> (before: int, after: int)

    error Refused (reason: string)
    """

  /// The actions of the interface, in words.
  let log = EventLog()
  /// The number that Count sent last, and the largest number of concurrent Echo calls.
  let counted = Atomic(0)
  private let running = Atomic(0)
  let mostRunning = Atomic(0)

  struct Unexpected: Error {}

  func respond(to call: VarlinkServiceCall) async throws {
    switch call.method {
    case "Echo":
      let now = running.add(1, ordering: .relaxed).newValue
      mostRunning.max(now, ordering: .relaxed)
      defer { running.subtract(1, ordering: .relaxed) }
      let echo = try call.parameters(Echo.self)
      await Task.yield()
      log.append("echo \(echo.text)")
      try await call.reply(echo)
    case "Count": try await count(call)
    case "Pages":
      let options = try call.parameters(CountOptions.self)
      let page = try VarlinkEncoded(encoding: ["padding": String(repeating: "x", count: options.bytes ?? 0)])
      for _ in 1..<max(options.to, 1) { try await call.replyContinuing(encoded: page) }
      try await call.reply(encoded: page)
    case "Items":
      struct Item: Codable {
        var name: String
        var size: Int?
      }
      struct Items: Codable { var items: [Item] }
      try await call.reply(call.parameters(Items.self))
    case "Fail":
      struct Options: Decodable { var how: String }
      switch try call.parameters(Options.self).how {
      case "refused": throw VarlinkError("org.example.test.Refused", ["reason": "because"])
      case "silent": return
      case "twice":
        try await call.reply(VarlinkEmpty())
        try await call.reply(VarlinkEmpty())
      case "midway":
        try await call.replyContinuing(Number(number: 1))
        throw VarlinkError("org.example.test.Refused", ["reason": "midway"])
      default: throw Unexpected()
      }
    case "Release":
      struct Sizes: Codable {
        var before: Int
        var after: Int
      }
      let before = call.parameterByteCount
      call.releaseMessage()
      log.append("released")
      await log.wait(for: "go on")
      try await call.reply(Sizes(before: before, after: call.parameterByteCount))
    case "Wait":
      log.append("waiting")
      do {
        try await Task.sleep(for: .seconds(3600))
      } catch {
        log.append("cancelled")
        throw error
      }
    default: throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  private func count(_ call: VarlinkServiceCall) async throws {
    let options = try call.parameters(CountOptions.self)
    do {
      for number in 1..<max(options.to, 1) {
        // It is created for each reply, so that an unbounded buffer would show.
        let padding = options.bytes.map { String(repeating: "x", count: $0) }
        try await call.replyContinuing(Number(number: number, padding: padding))
        counted.store(number, ordering: .relaxed)
      }
      try await call.reply(Number(number: options.to))
    } catch is CancellationError {
      log.append("count cancelled")
      throw CancellationError()
    }
  }
}

/// A client made of plain system calls, for messages that the real client would never send. It blocks its own threads,
/// not those of tasks.
final class RawClient: Sendable {
  private let descriptor: CInt
  private let sending = DispatchQueue(label: "raw client sends")
  private let receiving = DispatchQueue(label: "raw client receives")
  private let pending = Mutex<[UInt8]>([])

  init(path: String) throws {
    descriptor = try connectedSocket(path: path)
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(descriptor) }

  /// Sends a message and its NUL.
  func send(_ message: String) async throws { try await send(Array(message.utf8) + [0]) }

  func send(_ bytes: [UInt8]) async throws {
    let sent = try await offer(bytes, timeout: 120_000)
    guard sent == bytes.count else { throw POSIXError(.ETIMEDOUT) }
  }

  /// Sends as much as the other side accepts. Stops if it accepts nothing for `timeout` milliseconds, or has gone.
  func offer(_ bytes: [UInt8], timeout: CInt) async throws -> Int {
    try await on(sending) { [descriptor] in
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes { buffer in
          Glibc.send(
            descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent,
            CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
        if count >= 0 {
          sent += count
        } else {
          guard errno == EAGAIN else { break }
          var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard Glibc.poll(&poll, 1, timeout) > 0 else { break }
        }
      }
      return sent
    }
  }

  /// The next message without its NUL; nil if the other side closed the connection. Fails after 20 s.
  func receive() async throws -> String? {
    try await on(receiving) { [self] in
      while true {
        let message = pending.withLock { pending -> [UInt8]? in
          guard let end = pending.firstIndex(of: 0) else { return nil }
          defer { pending.removeSubrange(...end) }
          return Array(pending[..<end])
        }
        if let message { return String(decoding: message, as: UTF8.self) }
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 || (count < 0 && (errno == ECONNRESET || errno == EPIPE)) { return nil }
        guard count > 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        pending.withLock { $0 += chunk[..<count] }
      }
    }
  }

  /// Ends the sending direction. Replies can still be read.
  func halfClose() { shutdown(descriptor, CInt(SHUT_WR)) }

  func close() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  private func on<T: Sendable>(_ queue: DispatchQueue, _ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// The resident memory of this process, in bytes (proc(5), statm).
func residentBytes() throws -> Int {
  let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  return try #require(pages) * Int(sysconf(CInt(_SC_PAGESIZE)))
}
