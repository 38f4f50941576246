import PhotoModel

/// A fair queue of jobs, without threads or clocks. It decides which job runs next, so that no process delays another.
///
/// 1. Processes take turns. Within a process, jobs run in the order in which they came. A connection has one call at a
///    time, so its connections take turns too.
/// 2. A process has at most half of the threads.
/// 3. A process that has recently used much processor time is heavy, and has at most one thread. Heavy processes together
///    have at most half of the threads, so that the others find a free one, however many heavy ones there are.
///
/// An application that fetches page after page is heavy too. Because of the third rule, one process with jobs of seconds
/// does not take all threads of the heavy ones from it.
///
/// A process is identified by the process id that the kernel reported when it connected.
struct ProcessTurns<Job> {
  /// A process that uses a tenth of one processor for long is heavy. Shorter bursts than this do not count.
  private static var heavyFrom: Int64 { 100_000_000 }
  private static var repaidPerSecond: Int64 { 100_000_000 }
  /// With this limit, a process is light again after 20 seconds, whatever it did.
  private static var mostDebt: Int64 { 2_000_000_000 }

  private struct Process {
    var waiting: [(number: Int, job: Job)] = []
    var runningCount = 0
    /// The processor time, in nanoseconds at `debtAt`, that the process has used and not repaid by waiting.
    var debt: Int64 = 0
    var debtAt = MonotonicTime.boot

    func debt(at now: MonotonicTime) -> Int64 {
      let seconds = Double(max(0, (now - debtAt).wholeNanoseconds)) / 1e9
      return max(0, debt - Int64(seconds * Double(ProcessTurns.repaidPerSecond)))
    }

    func isHeavy(at now: MonotonicTime) -> Bool { debt(at: now) >= ProcessTurns.heavyFrom }
  }

  /// A job that begins.
  struct Turn {
    let process: Int32
    let job: Job
    let isHeavy: Bool
  }

  private let share: Int
  private let threadCount: Int
  private var processes: [Int32: Process] = [:]
  /// Processes with waiting jobs. The first one has the next turn.
  private var turns: [Int32] = []
  private var lastNumber = 0
  private(set) var runningCount = 0

  init(threadCount: Int) {
    precondition(threadCount >= 2, "one thread can't be shared")
    self.threadCount = threadCount
    share = threadCount / 2
  }

  var waitingCount: Int { processes.values.reduce(0) { $0 + $1.waiting.count } }

  /// - Returns: the job's number, for ``remove(_:of:)``.
  mutating func append(_ job: Job, of process: Int32) -> Int {
    lastNumber += 1
    if processes[process, default: Process()].waiting.isEmpty { turns.append(process) }
    processes[process, default: Process()].waiting.append((lastNumber, job))
    return lastNumber
  }

  /// Removes a job that has not begun; nil if it has.
  mutating func remove(_ number: Int, of process: Int32) -> Job? {
    guard let index = processes[process]?.waiting.firstIndex(where: { $0.number == number }) else { return nil }
    let job = processes[process]!.waiting.remove(at: index).job
    if processes[process]!.waiting.isEmpty { turns.removeAll { $0 == process } }
    return job
  }

  /// Begins the next job if a thread is free for it. ``end(of:processorTime:at:)`` must follow.
  mutating func next(at now: MonotonicTime) -> Turn? {
    guard runningCount < threadCount else { return nil }
    let heavyRunning = processes.values.reduce(0) { $0 + ($1.isHeavy(at: now) ? $1.runningCount : 0) }
    let index = turns.firstIndex { id in
      guard let process = processes[id] else { return false }
      return process.isHeavy(at: now)
        ? process.runningCount == 0 && heavyRunning < share : process.runningCount < share
    }
    guard let index else { return nil }
    let id = turns.remove(at: index)
    let job = processes[id]!.waiting.removeFirst().job
    processes[id]!.runningCount += 1
    runningCount += 1
    if !processes[id]!.waiting.isEmpty { turns.append(id) }
    return Turn(process: id, job: job, isHeavy: processes[id]!.isHeavy(at: now))
  }

  /// - Parameter processorTime: the time that the job took, in nanoseconds.
  mutating func end(of id: Int32, processorTime: Int64, at now: MonotonicTime) {
    guard var process = processes[id] else { return }
    runningCount -= 1
    process.runningCount -= 1
    process.debt = min(Self.mostDebt, process.debt(at: now) + processorTime)
    process.debtAt = now
    processes[id] = process
    // Processes come and go, so those without debt are dropped now and then.
    guard processes.count > 64 else { return }
    processes = processes.filter { _, process in
      process.runningCount > 0 || !process.waiting.isEmpty || process.debt(at: now) > 0
    }
  }
}

extension ProcessTurns.Turn: Sendable where Job: Sendable {}
