/// One request in a queue.
struct ImageTicket: Hashable, Sendable {
  var session: Int
  /// Ascends within a session.
  var sequence: Int64
}

/// The requests that wait for one kind of work, and the work that runs.
///
/// It is a value without locks or threads:
///
/// 1. Turns go between clients, then between the sessions of a client. Within a session, requests are served in the order
///    of their sequence numbers.
/// 2. Requests with equal keys are one job. If the job runs, a request with its key joins it.
/// 3. A request gets work only if its session has room for a result. `reserve` takes that room.
/// 4. A request that was cancelled before its job began never causes one.
struct ImageQueue<Key: Hashable & Sendable>: Sendable {
  typealias Ticket = ImageTicket

  struct Job: Sendable {
    var key: Key
    /// The requests that the job serves. More may join until ``finish(_:)``.
    var waiters: [Ticket]
  }

  enum Cancelled { case waiting, running, unknown }

  private struct Session: Sendable {
    var client: ImageClient
    var lastTurn: UInt64 = 0
    /// Sequence numbers in ascending order, from `head` on. If a number is not in `keys`, its request was cancelled or
    /// has begun.
    var order: [Int64] = []
    var head = 0
    /// The requests that wait.
    var keys: [Int64: Key] = [:]

    mutating func insert(_ sequence: Int64, _ key: Key) {
      keys[sequence] = key
      if order.count - head == 0 || order[order.count - 1] < sequence {
        order.append(sequence)
        return
      }
      // A request that comes from another queue is near the end, or was put back to the front.
      var (low, high) = (head, order.count)
      while low < high {
        let middle = (low + high) / 2
        if order[middle] < sequence { low = middle + 1 } else { high = middle }
      }
      if low == order.count || order[low] != sequence { order.insert(sequence, at: low) }
    }

    mutating func remove(_ sequence: Int64) -> Key? {
      guard let key = keys.removeValue(forKey: sequence) else { return nil }
      if order.count > 2 * keys.count + 64 {
        order = order[head...].filter { keys[$0] != nil }
        head = 0
      }
      return key
    }

    mutating func removeFirst() -> (Int64, Key)? {
      while head < order.count {
        let sequence = order[head]
        head += 1
        if let key = remove(sequence) { return (sequence, key) }
      }
      return nil
    }
  }

  private var sessions: [Int: Session] = [:]
  private var clientTurns: [ImageClient: UInt64] = [:]
  private var turn: UInt64 = 0
  /// The requests that wait for each key.
  private var waiting: [Key: Set<Ticket>] = [:]
  private var running: [Key: [Ticket]] = [:]
  private(set) var waitingCount = 0

  var runningCount: Int { running.count }
  /// Whether a job runs that a request waits for.
  var servesRequest: Bool { running.values.contains { !$0.isEmpty } }

  mutating func addSession(_ session: Int, client: ImageClient) { sessions[session] = Session(client: client) }

  /// Cancels all requests of a session.
  mutating func removeSession(_ session: Int) {
    guard let removed = sessions.removeValue(forKey: session) else { return }
    for (sequence, key) in removed.keys { dropWaiting(Ticket(session: session, sequence: sequence), key) }
    waitingCount -= removed.keys.count
    for key in running.keys { running[key]?.removeAll { $0.session == session } }
    if !sessions.values.contains(where: { $0.client == removed.client }) { clientTurns[removed.client] = nil }
  }

  /// Adds a request. If equal work runs and the session has room, the request joins it.
  mutating func add(_ ticket: Ticket, _ key: Key, reserve: (Int) -> Bool) {
    guard sessions[ticket.session] != nil else { return }
    if running[key] != nil, reserve(ticket.session) {
      running[key]?.append(ticket)
      return
    }
    sessions[ticket.session]?.insert(ticket.sequence, key)
    waiting[key, default: []].insert(ticket)
    waitingCount += 1
  }

  /// - Returns: the state in which the request was. If it was `running`, its room must be given back.
  mutating func cancel(_ ticket: Ticket) -> Cancelled {
    if let key = sessions[ticket.session]?.remove(ticket.sequence) {
      dropWaiting(ticket, key)
      waitingCount -= 1
      return .waiting
    }
    for (key, waiters) in running {
      guard let index = waiters.firstIndex(of: ticket) else { continue }
      running[key]?.remove(at: index)
      return .running
    }
    return .unknown
  }

  /// The requests that wait, of the sessions that have room.
  func waitingCount(hasRoom: (Int) -> Bool) -> Int {
    sessions.reduce(0) { $0 + (!$1.value.keys.isEmpty && hasRoom($1.key) ? $1.value.keys.count : 0) }
  }

  /// Whether `take` would return a job.
  func hasWork(hasRoom: (Int) -> Bool) -> Bool {
    sessions.contains { session, state in !state.keys.isEmpty && hasRoom(session) }
  }

  /// Begins the next job.
  mutating func take(reserve: (Int) -> Bool) -> Job? {
    var excluded: Set<Int> = []
    while let session = nextSession(excluded) {
      guard reserve(session) else {
        excluded.insert(session)
        continue
      }
      guard let (sequence, key) = sessions[session]?.removeFirst() else { return nil }
      let ticket = Ticket(session: session, sequence: sequence)
      dropWaiting(ticket, key)
      waitingCount -= 1
      if running[key] != nil {
        running[key]?.append(ticket)
        continue
      }
      noteTurn(of: session)
      var waiters = [ticket]
      for other in (waiting[key] ?? []).sorted(by: { ($0.sequence, $0.session) < ($1.sequence, $1.session) })
      where reserve(other.session) {
        _ = sessions[other.session]?.remove(other.sequence)
        dropWaiting(other, key)
        waitingCount -= 1
        waiters.append(other)
      }
      running[key] = waiters
      return Job(key: key, waiters: waiters)
    }
    return nil
  }

  /// Begins a job that no request asked for. Requests with its key join it when their session has room.
  /// - Returns: false if such a job runs.
  mutating func begin(_ key: Key) -> Bool {
    guard running[key] == nil else { return false }
    running[key] = []
    return true
  }

  func isWaiting(_ ticket: Ticket) -> Bool { sessions[ticket.session]?.keys[ticket.sequence] != nil }

  /// Whether a job with this key runs, or requests with it wait.
  func exists(_ key: Key) -> Bool { running[key] != nil || waiting[key] != nil }

  func hasWaiters(_ key: Key) -> Bool { running[key]?.isEmpty == false }

  /// Ends a job.
  /// - Returns: the requests that it serves.
  mutating func finish(_ key: Key) -> [Ticket] { running.removeValue(forKey: key) ?? [] }

  // MARK: - Private

  private func nextSession(_ excluded: Set<Int>) -> Int? {
    var best: (client: UInt64, session: UInt64, id: Int)?
    for (id, session) in sessions where !session.keys.isEmpty && !excluded.contains(id) {
      let candidate = (clientTurns[session.client] ?? 0, session.lastTurn, id)
      if best.map({ candidate < ($0.client, $0.session, $0.id) }) ?? true { best = candidate }
    }
    return best?.id
  }

  private mutating func noteTurn(of session: Int) {
    turn += 1
    guard let client = sessions[session]?.client else { return }
    sessions[session]?.lastTurn = turn
    clientTurns[client] = turn
  }

  private mutating func dropWaiting(_ ticket: Ticket, _ key: Key) {
    waiting[key]?.remove(ticket)
    if waiting[key]?.isEmpty == true { waiting[key] = nil }
  }
}
