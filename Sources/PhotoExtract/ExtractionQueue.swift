import ExtractRecords
import Glibc

/// A queue of files that a process reads one after another. Further files can be added while it reads, so that it does not
/// wait until they have been opened.
///
/// If a file ends the process or takes long, another process reads the files after it. When each file has its result,
/// ``end()`` must be called.
package struct ExtractionQueue: ~Copyable {
  private let extractor: Extractor
  /// The files that were added, in their order.
  private var sources: [MediaSource] = []
  /// How many of `sources` have a result.
  private var resultCount = 0
  /// How many of `sources` have a result, or were requested from `process`.
  private var requestCount = 0
  /// The process, and when it began the first file without a result.
  private var process: (worker: ExtractWorker, start: Extractor.FileStart)?
  /// How many of `sources` have a result, or were refused with the others before them.
  private var refusedCount = 0
  /// Why no process read the files that were refused last.
  private var refusal = Refusal.busy

  private enum Refusal {
    case busy
    case unavailable(String)
  }

  init(_ extractor: Extractor) { self.extractor = extractor }

  /// Adds files of one file system. At most ``Extractor/mostFiles`` may be added at once, and twice as many may be without a
  /// result.
  package mutating func add(_ files: [MediaSource]) {
    precondition(files.count <= Extractor.mostFiles)
    if resultCount == sources.count {
      sources.removeAll(keepingCapacity: true)
      (resultCount, requestCount, refusedCount) = (0, 0, 0)
    }
    sources += files
    precondition(sources.count - resultCount <= ExtractStream.mostRequests)
    if !files.isEmpty { request() }
  }

  /// Waits for the result of the next file.
  package mutating func next() -> Extraction {
    let source = sources[resultCount]
    resultCount += 1
    if requestCount < resultCount { request() }
    guard resultCount > refusedCount, let (worker, start) = process else { return refused(source) }
    switch extractor.facts(of: source, by: worker, since: start, within: Extractor.patience) {
    case .facts(let facts):
      process?.start.time = SuspendingClock().now
      return .facts(facts)
    case .late:
      leaveProcess()
      return .unfinished(UnfinishedExtraction(extractor, source, begun: (worker, start)))
    case .failed(let reason):
      leaveProcess()
      return extractor.another(source, after: reason, of: worker)
    case .tooManyFetches:
      leaveProcess()
      return extractor.giveUpFetching(worker)
    }
  }

  /// Gives the process back.
  package mutating func end() {
    precondition(resultCount == sources.count)
    if let (worker, _) = process.take() { extractor.pool.putBack(worker) }
  }

  /// Requests the files that were not requested yet.
  private mutating func request() {
    let isIdle = requestCount == resultCount
    var rest = sources[requestCount...]
    requestCount = sources.count
    guard let worker = takeProcess(for: rest[rest.startIndex].fileSystem, isIdle: isIdle) else {
      refusedCount = sources.count
      return
    }
    let deadline = SuspendingClock().now + extractor.deadline
    while !rest.isEmpty {
      let part = rest.prefix(Extractor.mostFiles)
      rest = rest.dropFirst(part.count)
      for source in part { worker.request(source) }
      // If the process has ended, that is found when its next reply is received.
      guard worker.send(until: deadline) == nil else { return }
    }
  }

  /// Takes a process, unless one reads the files before.
  ///
  /// - Parameter isIdle: whether no file that was requested before lacks a result.
  private mutating func takeProcess(for fileSystem: MediaSource.FileSystem, isIdle: Bool) -> ExtractWorker? {
    if let worker = process?.worker {
      if isIdle { process?.start.time = SuspendingClock().now }
      process?.start.processorTime = worker.processorTime
      return worker
    }
    switch extractor.pool.take(for: fileSystem, within: Extractor.patience) {
    case .worker(let worker):
      process = (worker, Extractor.FileStart(worker))
      return worker
    case .busy: refusal = .busy
    case .unavailable(let reason): refusal = .unavailable(reason)
    }
    return nil
  }

  private func refused(_ source: MediaSource) -> Extraction {
    switch refusal {
    case .busy: .unfinished(UnfinishedExtraction(extractor, source))
    case .unavailable(let reason): .unavailable(reason)
    }
  }

  /// Has the files after the one whose result is returned now requested from another process.
  private mutating func leaveProcess() {
    process = nil
    requestCount = resultCount
  }
}
