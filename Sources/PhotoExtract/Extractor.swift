import ExtractRecords
import Glibc
import Logging
import Synchronization

/// Reads the facts of files in processes without rights (photod-extract).
///
/// A process reads one file after another. If a file ends the process, the file is read once more by a new process. It
/// is blamed only if it ends that one too. If a file takes longer than the deadline, it is blamed and the process is
/// killed. A file that takes longer than ``patience`` is handed to the caller as ``Extraction/unfinished(_:)``, and
/// other processes read the files after it.
///
/// A file is not to blame if the process did not start its work, if a signal from outside ended it, or if it waits for a
/// disk.
package final class Extractor: Sendable {
  /// How long one file may take, by a clock that stops while the machine is suspended.
  let deadline: Duration
  /// How long a caller waits for one file. Other commits of the library wait as long.
  package static let patience = Duration.milliseconds(40)
  /// How long a file of a share may take together with the share. Meanwhile it holds a process.
  private static let longestFetching = Duration.seconds(60)
  /// `FileWindow` of PhotoMetadata makes fewer reads.
  private static let mostFetches = 600

  let pool: ExtractorPool
  private let blamed = Atomic(0)

  /// - Parameters:
  ///   - executable: the path of photod-extract.
  ///   - readerCount: how many files of one drive are read at a time. Some more processes may run for other file systems:
  ///     see ``ExtractorPermits``.
  ///   - deadline: how long one file may take. Tests shorten it in order to wait less.
  package init(executable: String, readerCount: Int, deadline: Duration = .seconds(5), logger: Logger) {
    self.deadline = deadline
    pool = ExtractorPool(executable: executable, readerCount: readerCount, logger: logger)
  }

  /// Starts processes before they are needed.
  package func prepare(_ count: Int) { pool.prepare(count) }

  /// Ends the idle processes. After that, no file is read.
  package func end() { pool.end() }

  /// The processes that run now.
  package var processCount: Int { pool.running }
  /// How often a process was replaced because of a file.
  package var restartCount: Int { pool.restarts }
  /// How many files were blamed.
  package var blamedCount: Int { blamed.load(ordering: .relaxed) }

  /// The most files that are requested with one message. At most two messages are without an answer. So a process that has
  /// answered the first goes on with the second.
  package static let mostFiles = ExtractStream.mostRequests / 2

  /// An empty queue of files that are to be read.
  package func queue() -> ExtractionQueue { ExtractionQueue(self) }

  /// Reads files of one folder, at most ``mostFiles``.
  ///
  /// - Returns: a result for each file, in their order.
  package func read(_ sources: [MediaSource]) -> [Extraction] {
    var queue = queue()
    queue.add(sources)
    let results = sources.map { _ in queue.next() }
    queue.end()
    return results
  }

  /// Reads one file, however long it takes. It never returns ``Extraction/unfinished(_:)``.
  package func readToTheEnd(_ source: MediaSource) -> Extraction { readToTheEnd(source, isSecondTry: false) }

  func readToTheEnd(_ source: MediaSource, isSecondTry: Bool) -> Extraction {
    switch pool.take(for: source.fileSystem, within: deadline) {
    case .worker(let worker): finish(source, by: worker, start: nil, isSecondTry: isSecondTry)
    case .busy: .busy
    case .unavailable(let reason): .unavailable(reason)
    }
  }

  /// When a process began a file.
  struct FileStart {
    var time = SuspendingClock().now
    /// The processor time that the process had used at `time`, or at the last request for further files.
    var processorTime: Duration?

    init(_ worker: ExtractWorker) { processorTime = worker.processorTime }
  }

  enum Outcome {
    case facts(MediaFacts)
    case late
    case failed(String)
    case tooManyFetches
  }

  /// Waits for the facts of the file that the process reads now, and gives it the bytes that it asks for.
  ///
  /// A process that starts, or waits for a processor, is not slow: on a busy machine, it would look as if it took long.
  func facts(
    of source: MediaSource, by worker: ExtractWorker, since start: FileStart, within limit: Duration
  ) -> Outcome {
    var end = start.time + limit
    var deadline = start.time + self.deadline
    var fetches = 0
    while true {
      switch worker.receive(until: end) {
      case .reply(.facts(let facts)): return .facts(facts)
      case .reply(.needs(let offset, let count)):
        guard case .fetched(let fetch) = source.bytes else { return .failed("it asked for bytes that it has") }
        fetches += 1
        let begun = SuspendingClock().now
        guard fetches <= Self.mostFetches, begun - start.time < Self.longestFetching else { return .tooManyFetches }
        let bytes = fetch(offset, Int(min(count, UInt32(ExtractRequest.maximumBytes))))
        // A share that answers slowly is not the file's fault.
        let waited = SuspendingClock().now - begun
        (end, deadline) = (end + waited, deadline + waited)
        if let reason = worker.sendBytes(bytes, until: deadline) { return .failed(reason) }
      case .failed(let reason): return .failed(reason)
      case .nothingYet:
        let now = SuspendingClock().now
        if now - end > .seconds(1) {
          // photod itself did not run, for example in a frozen cgroup, and neither did the process.
          (end, deadline) = (now + limit, now + self.deadline)
        } else if end < deadline, !worker.hasGreeted || isWaiting(worker, since: start, limit) {
          end = min(end + limit, deadline)
        } else {
          return .late
        }
      }
    }
  }

  /// Whether a process could go on, and has had little of the processor.
  private func isWaiting(_ worker: ExtractWorker, since start: FileStart, _ limit: Duration) -> Bool {
    guard worker.processState ?? .runnable == .runnable, let before = start.processorTime,
      let now = worker.processorTime
    else { return false }
    return now - before < limit / 2
  }

  /// Reads a file to its end by a process that has begun it, or begins it now.
  ///
  /// - Parameter start: when the process began the file; nil if it must still be requested.
  func finish(
    _ source: MediaSource, by worker: ExtractWorker, start: FileStart?, isSecondTry: Bool
  ) -> Extraction {
    var begun = start ?? FileStart(worker)
    if start == nil {
      worker.request(source)
      if let reason = worker.send(until: begun.time + deadline) {
        return isSecondTry ? blame(reason, worker) : readAgain(source, after: reason, of: worker)
      }
    } else {
      // The file may have waited for this thread. Messages that have arrived meanwhile count.
      begun.time = max(begun.time, SuspendingClock().now - deadline + Self.patience)
    }
    switch facts(of: source, by: worker, since: begun, within: deadline) {
    case .facts(let facts):
      if isIdle(worker) { pool.putBack(worker) } else { pool.discard(worker, isKilled: true) }
      return .facts(facts)
    case .late: return giveUp(worker, since: begun)
    case .failed(let reason):
      return isSecondTry ? blame(reason, worker) : readAgain(source, after: reason, of: worker)
    case .tooManyFetches: return giveUpFetching(worker)
    }
  }

  /// Reads the replies to requests for further files, which other processes have answered meanwhile.
  /// - Returns: whether the process has no request any more.
  private func isIdle(_ worker: ExtractWorker) -> Bool {
    let end = SuspendingClock().now + Self.patience
    while worker.openRequests > 0 {
      guard case .reply(.facts) = worker.receive(until: end) else { return false }
    }
    return true
  }

  // MARK: - Failures

  /// Ends a process that has failed, and has the file read once more, in the background. Perhaps an earlier file is to
  /// blame.
  func another(_ source: MediaSource, after reason: String, of worker: ExtractWorker) -> Extraction {
    noteFailure(reason, worker).map { .unavailable($0) }
      ?? .unfinished(UnfinishedExtraction(self, source, isSecondTry: true))
  }

  /// The same on a thread that may wait.
  private func readAgain(_ source: MediaSource, after reason: String, of worker: ExtractWorker) -> Extraction {
    noteFailure(reason, worker).map { .unavailable($0) } ?? readToTheEnd(source, isSecondTry: true)
  }

  /// Ends a process that has failed.
  /// - Returns: why no other process can be expected to do better; nil if one may.
  private func noteFailure(_ reason: String, _ worker: ExtractWorker) -> String? {
    let hasStarted = worker.hasStarted()
    let end = pool.discard(worker, isKilled: false) ?? "it hangs in the kernel"
    guard !pool.isEnding else { return nil }
    pool.noteRestart()
    pool.logger.notice("photod-extract failed", metadata: ["reason": "\(reason)", "end": "\(end)"])
    guard !hasStarted else { return nil }
    let problem = "photod-extract does not start (\(reason): \(end)); its lines in the log of photod have the reason"
    pool.noteFailedStart(problem)
    return problem
  }

  /// The ends that a signal from outside causes: of a service manager, a terminal, the kernel without memory, or the timer
  /// of a process that was stopped for long.
  private static let endsFromOutside = [SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGALRM].map { "signal \($0) ended it" }

  private func blame(_ reason: String, _ worker: ExtractWorker) -> Extraction {
    let hasStarted = worker.hasStarted()
    let end = pool.discard(worker, isKilled: false) ?? "it hangs in the kernel"
    guard !pool.isEnding else { return .busy }
    pool.noteRestart()
    guard hasStarted, !Self.endsFromOutside.contains(end) else {
      return .unavailable("photod-extract ended (\(reason): \(end))")
    }
    blamed.add(1, ordering: .relaxed)
    return .blamed("reading it ended photod-extract (\(reason): \(end)); the file may be damaged")
  }

  /// A file is not slow while its process has had less of the processor: one second, with the usual deadline.
  private var leastProcessorTime: Duration { deadline / 5 }

  /// The deadline in a message.
  private var seconds: String { "\(deadline.components.seconds) s" }

  /// Ends a process whose file has taken too long.
  private func giveUp(_ worker: ExtractWorker, since start: FileStart) -> Extraction {
    let (hasStarted, state) = (worker.hasStarted(), worker.processState)
    let isStarved = state == .stopped || isWaiting(worker, since: start, leastProcessorTime * 2)
    pool.noteRestart()
    let end = pool.discard(worker, isKilled: true)
    guard hasStarted else { return .unavailable("photod-extract does not start within \(seconds)") }
    guard state != .waitingForDisk, end != nil else {
      return .unavailable("its disk does not answer within \(seconds)")
    }
    guard !isStarved else { return .unavailable("photod-extract got no processor for \(seconds)") }
    guard !pool.isEnding else { return .busy }
    blamed.add(1, ordering: .relaxed)
    return .blamed("reading it took longer than \(seconds), so it was given up; the file may be damaged")
  }

  func giveUpFetching(_ worker: ExtractWorker) -> Extraction {
    pool.noteRestart()
    pool.discard(worker, isKilled: true)
    return .unavailable("its share is too slow to read the metadata")
  }

  /// Ends a process whose file is no longer wanted.
  func abandon(_ worker: ExtractWorker) { pool.discard(worker, isKilled: true) }
}
