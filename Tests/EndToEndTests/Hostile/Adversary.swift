import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Synchronization

/// A malicious or broken client of the same user. Its threads attack photod in every way that a socket allows.
final class Adversary: Sendable {
  enum Action: String, CaseIterable, Codable, Sendable {
    case everyMethod, malformed, hugeMessages, longLists, longArguments, longPaths
    case onewayFloods, sentAhead, slowReaders, halfOpen, manyConnections, churn
    case expensivePredicates, expensiveObservers, floodedHashes, rescans, favorites
    case albums, undo, costlySmartAlbums
  }

  /// Counts of the adversary's actions and of photod's replies.
  struct Report: Codable, Sendable {
    var actions: [String: Int] = [:]
    /// The longest time that each action took, in milliseconds.
    var longest: [String: Int] = [:]
    var methods: [String: Int] = [:]
    /// The count of each error, by its name without the interface.
    var errors: [String: Int] = [:]
    /// The methods of the contract.
    var allMethods: Set<String> = []
    /// The number of calls of ``ContractCalls``, in which each member has each of its strange values once.
    var allCallCount = 0
  }

  /// PHOTOD_HOSTILE_ACTIONS=churn,rescans plays only these actions.
  static let chosen: [Action] = {
    guard let named = ProcessInfo.processInfo.environment["PHOTOD_HOSTILE_ACTIONS"] else { return Action.allCases }
    return named.split(separator: ",").map { name in
      guard let action = Action(rawValue: String(name)) else {
        fatalError("PHOTOD_HOSTILE_ACTIONS names the unknown action \(name)")
      }
      return action
    }
  }()

  let socket: String
  /// The folder of the library.
  let folder: String
  /// The ids of photos that are in the library.
  let ids: [AssetID]
  let calls: ContractCalls
  let held = HeldConnections()
  /// The actions that no thread has begun yet.
  private let firstRound = Mutex(Adversary.chosen[...])
  private let salt = Atomic<Int>(0)
  private let callNumber = Atomic<Int>(0)
  private let written = Mutex(Report())

  init(socket: String, folder: String, ids: [AssetID]) throws {
    self.socket = socket
    self.folder = folder
    self.ids = ids
    calls = try ContractCalls(socket: socket)
    written.withLock { ($0.allMethods, $0.allCallCount) = (calls.methods, calls.count) }
    // The adversary may have as many connections as the system allows.
    var files = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { throw RawSocket.failure() }
    files.rlim_cur = files.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { throw RawSocket.failure() }
  }

  var report: Report { written.withLock { $0 } }

  /// Does every action once. Then it repeats them in random order until `time` is over.
  func run(for time: Duration, threads: Int, seed: Int) async throws {
    let deadline = ContinuousClock.now + time
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<threads {
        group.addTask {
          try await onThread {
            try Self.takeOnlyIdleTime()
            var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed + thread)))
            while let action = self.firstRound.withLock({ $0.popFirst() }) {
              try self.repeatUntilDone(action, using: &random)
            }
            while ContinuousClock.now < deadline, let action = Self.chosen.randomElement(using: &random) {
              // One thread tries all calls of the contract. At random, some would be left at the end.
              let isForCalls = thread == 0 && Self.chosen.contains(.everyMethod) && self.hasCallsLeft
              try self.attempt(isForCalls ? .everyMethod : action, using: &random)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Gives the calling thread only the time of the processors that photod and the normal client leave.
  ///
  /// The kernel divides the processors between processes, and photod has no part in that. With this, the times of the
  /// normal client show only how photod divides its own time between its clients.
  private static func takeOnlyIdleTime() throws {
    // SCHED_IDLE of sched.h, which Glibc's module leaves out.
    let idle: Int32 = 5
    var parameters = sched_param(sched_priority: 0)
    guard sched_setscheduler(0, idle, &parameters) == 0 else { throw RawSocket.failure() }
  }

  /// Repeats an action until it was done, but for two minutes at most. photod may refuse connections while another
  /// thread holds too many. The test then expects each action in the report.
  private func repeatUntilDone(_ action: Action, using random: inout SeededGenerator) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !attempt(action, using: &random), ContinuousClock.now < deadline { usleep(100_000) }
  }

  /// - Returns: whether the action was done. The report counts only actions that were done.
  @discardableResult
  private func attempt(_ action: Action, using random: inout SeededGenerator) throws -> Bool {
    let start = ContinuousClock.now
    do {
      guard try perform(action, using: &random) else { return false }
    } catch let error as POSIXError where Self.refusals.contains(error.code) {
      // photod may refuse the connection.
      return false
    }
    let time = ContinuousClock.now - start
    written.withLock { report in
      report.actions[action.rawValue, default: 0] += 1
      report.longest[action.rawValue] = max(report.longest[action.rawValue] ?? 0, Int(time / .milliseconds(1)))
    }
    return true
  }

  /// The errors of `connect` if photod accepts no connection at the moment.
  private static let refusals: Set<POSIXErrorCode> = [.ECONNREFUSED, .EAGAIN, .ECONNRESET]

  func nextSalt() -> Int { salt.add(1, ordering: .relaxed).newValue }
  func nextCall() -> Int { callNumber.add(1, ordering: .relaxed).oldValue }
  /// Whether photod has taken fewer calls than there are. A refused call does not count.
  private var hasCallsLeft: Bool { written.withLock { $0.methods.values.reduce(0, +) } < calls.count }

  func connect(timeout: Duration = .milliseconds(500)) throws -> RawSocket {
    try RawSocket(socket, timeout: timeout)
  }

  /// Sends a call. If photod refuses the connection, it tries again with a new one, because another thread may hold all
  /// connections that a process may have.
  ///
  /// - Returns: whether photod took the call, so that it replied or kept the call for longer than `timeout`.
  @discardableResult
  func ask(_ call: [UInt8], timeout: Duration) throws -> Bool {
    for _ in 0..<50 {
      do {
        let connection = try connect(timeout: timeout)
        if connection.send(call), receive(connection) != nil || !connection.isClosed { return true }
      } catch let error as POSIXError where Self.refusals.contains(error.code) {
        // The next try may be accepted.
      }
      usleep(100_000)
    }
    return false
  }

  /// Counts a reply that is an error.
  @discardableResult
  func receive(_ connection: RawSocket) -> [UInt8]? {
    guard let reply = connection.receive() else { return nil }
    let start = String(decoding: reply.prefix(200), as: UTF8.self)
    if let name = start.firstMatch(of: #/^{"error":"[^"]*\.([^".]*)"/#)?.1 {
      written.withLock { $0.errors[String(name), default: 0] += 1 }
    }
    return reply
  }

  func note(method: String) { written.withLock { $0.methods[method, default: 0] += 1 } }
}

/// Connections that stay open for 12 seconds. That is longer than photod waits for a client to read a page.
final class HeldConnections: Sendable {
  private static let time = Duration.seconds(12)

  private struct Held: @unchecked Sendable {
    // One thread at a time uses the sockets: first the thread that calls `hold`, then the thread to which `hold`
    // returns them.
    let connections: [RawSocket]
    let since: ContinuousClock.Instant
  }

  private let held = Mutex<[Held]>([])

  /// Keeps the connections open.
  ///
  /// - Returns: connections of earlier calls whose time is over. They are closed when the caller releases them.
  @discardableResult
  func hold(_ connections: [RawSocket]) -> [RawSocket] {
    let new = Held(connections: connections, since: .now)
    let now = ContinuousClock.now
    let ended = held.withLock { held in
      held.append(new)
      defer { held.removeAll { $0.since + Self.time < now } }
      return held.filter { $0.since + Self.time < now }
    }
    return ended.flatMap(\.connections)
  }
}
