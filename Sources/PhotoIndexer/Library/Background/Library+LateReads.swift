import PhotoCatalog
import PhotoModel

/// The requests for a sync whose answer waits for files that are not read yet.
struct LateSyncs {
  /// How long a request waits for such files. A file is given up after a shorter time, but others may follow it.
  static let patience = Duration.seconds(10)

  private enum Phase {
    /// Files are being read whose reading may have begun before the request. Such a reading may end without a result.
    case earlierReads
    /// All pending files were asked for again after the request.
    case lastReads
  }

  private struct Request {
    let number: UInt64
    let lane: Int
    let end: MonotonicTime
    var phase = Phase.earlierReads
  }

  private var requests: [Request] = []

  var isEmpty: Bool { requests.isEmpty }

  /// Whether the pending files must be asked for again when no file is being read any more.
  var mustAskAgain: Bool { requests.contains { $0.phase == .earlierReads } }

  mutating func hold(_ number: UInt64, by lane: Int, until end: MonotonicTime) {
    requests.append(Request(number: number, lane: lane, end: end))
  }

  /// Notes that all pending files were asked for again.
  mutating func noteAsked() {
    for index in requests.indices { requests[index].phase = .lastReads }
  }

  /// Removes the requests that need not wait any more.
  mutating func take(isReadingOver: Bool, at uptime: MonotonicTime) -> [(number: UInt64, lane: Int)] {
    func isOver(_ request: Request) -> Bool {
      (isReadingOver && request.phase == .lastReads) || request.end <= uptime
    }
    let over = requests.filter(isOver)
    requests.removeAll(where: isOver)
    return over.map { ($0.number, $0.lane) }
  }
}

// Files whose reading took longer than a transaction may wait.
extension Library {
  /// Takes the content of such files into the catalog, as soon as it is read.
  func take(_ lateReads: LateReads) async {
    var seen: Int64 = 0
    while let sequence = await lateReads.ended.next(after: seen) {
      seen = sequence
      takeFinished(lateReads.takeEnded())
    }
  }

  /// Whether files are being read in the background.
  nonisolated var hasLateReads: Bool { files.lateReads?.isBusy ?? false }

  /// - Parameter inodes: those of the files whose reading has ended.
  private func takeFinished(_ inodes: Set<UInt64>) {
    defer { answerHeldSyncs() }
    guard restart.breakdown == nil, !inodes.isEmpty else { return }
    do {
      try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        let waiting = try inodes.sorted().flatMap { try writer.files(inode: $0).map(\.assetID) }
          .filter { reconciler.retries[$0] != nil }
        let volumes = Set(waiting.compactMap { reconciler.retries[$0]?.volumeID })
        try reconciler.readAgain(waiting, haveResults: true, in: &batch)
        // Files for which there was no room follow. A sync waits for them, too. Other volumes have no more room than
        // before, and a look at a slow one would delay this one.
        try reconciler.readAgainReadable(on: volumes, in: &batch)
        return ((), batch.origin)
      }
    } catch {
      return breakDown(error)
    }
    updateState()
  }

  /// Lets a sync wait for the files that are not read yet.
  func holdSync(_ number: UInt64, by lane: Int) {
    lateSyncs.hold(number, by: lane, until: clock.bootTime + LateSyncs.patience)
    idle.wake()
  }

  /// Answers the syncs that need not wait any more. None is answered while the catalog can't be written: it lacks changes.
  func answerHeldSyncs() {
    guard restart.breakdown == nil, !lateSyncs.isEmpty else { return }
    // Files that are asked for again for later syncs do not delay these.
    answerOverdueSyncs()
    guard lateSyncs.mustAskAgain, !hasLateReads else { return }
    do {
      if try readPendingFiles() == .complete { lateSyncs.noteAsked() }
    } catch {
      return breakDown(error)
    }
    answerOverdueSyncs()
  }

  private func answerOverdueSyncs() {
    for (number, lane) in lateSyncs.take(isReadingOver: !hasLateReads, at: clock.bootTime) {
      answerSync(number, by: lane)
    }
  }

  /// Reads the files for which syncs wait, or begins to read them in the background.
  private func readPendingFiles() throws -> Reconciler.ReadingAgain {
    guard reconciler.retries.pendingCount > 0 else { return .complete }
    defer { updateState() }
    return try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
      return (try reconciler.readAgain(reconciler.pendingInOrder(), in: &batch), batch.origin)
    }.0
  }
}
