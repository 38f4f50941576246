/// The requests for decoded pictures, and the work that runs.
///
/// Requests for files on shares have a queue of their own, and all threads but one: a slow share holds its
/// threads for long. If both queues have work, they take turns.
struct RenderingQueue: Sendable {
  typealias Key = PicturePlan.WorkKey
  typealias Job = ImageQueue<Key>.Job

  private var local = ImageQueue<Key>()
  private var shares = ImageQueue<Key>()
  /// The most jobs for files on shares that run at a time.
  var mostShareJobs = 1
  private var wasShareTurn = false

  var runningCount: Int { local.runningCount + shares.runningCount }
  var waitingCount: Int { local.waitingCount + shares.waitingCount }
  /// Whether a job for a file on a share may begin.
  var hasShareTurn: Bool { shares.runningCount < mostShareJobs }
  /// Whether a request is served now whose file is on no share.
  var servesLocalRequest: Bool { local.servesRequest }

  mutating func addSession(_ session: Int, client: ImageClient) {
    local.addSession(session, client: client)
    shares.addSession(session, client: client)
  }

  mutating func removeSession(_ session: Int) {
    local.removeSession(session)
    shares.removeSession(session)
  }

  mutating func add(_ ticket: ImageTicket, _ key: Key, reserve: (Int) -> Bool) {
    if key.isOnShare { shares.add(ticket, key, reserve: reserve) } else { local.add(ticket, key, reserve: reserve) }
  }

  mutating func cancel(_ ticket: ImageTicket) -> ImageQueue<Key>.Cancelled {
    let cancelled = local.cancel(ticket)
    if case .unknown = cancelled { return shares.cancel(ticket) }
    return cancelled
  }

  /// The requests that wait, of the sessions that have room.
  func waitingCount(hasRoom: (Int) -> Bool) -> Int {
    local.waitingCount(hasRoom: hasRoom) + shares.waitingCount(hasRoom: hasRoom)
  }

  /// Whether `take` would return a job.
  func hasWork(hasRoom: (Int) -> Bool) -> Bool {
    local.hasWork(hasRoom: hasRoom) || hasShareTurn && shares.hasWork(hasRoom: hasRoom)
  }

  mutating func take(reserve: (Int) -> Bool) -> Job? {
    if !wasShareTurn, hasShareTurn, let job = shares.take(reserve: reserve) {
      wasShareTurn = true
      return job
    }
    wasShareTurn = false
    if let job = local.take(reserve: reserve) { return job }
    return hasShareTurn ? shares.take(reserve: reserve) : nil
  }

  /// How a job that no request asked for begins.
  enum Beginning {
    case begun
    /// Such a job runs.
    case isRunning
    /// The file is on a share, and has to wait for its turn.
    case noTurn
  }

  mutating func begin(_ key: Key) -> Beginning {
    guard key.isOnShare else { return local.begin(key) ? .begun : .isRunning }
    guard hasShareTurn else { return .noTurn }
    return shares.begin(key) ? .begun : .isRunning
  }

  func hasWaiters(_ key: Key) -> Bool { key.isOnShare ? shares.hasWaiters(key) : local.hasWaiters(key) }

  /// Whether a job with this key runs, or requests with it wait.
  func exists(_ key: Key) -> Bool { key.isOnShare ? shares.exists(key) : local.exists(key) }

  /// Ends a job.
  /// - Returns: the requests that it serves.
  mutating func finish(_ key: Key) -> [ImageTicket] { key.isOnShare ? shares.finish(key) : local.finish(key) }
}
