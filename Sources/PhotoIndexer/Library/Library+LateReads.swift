import PhotoCatalog
import PhotoModel

/// The requests for a sync whose answer waits for files that are being read in the background.
struct LateSyncs {
  /// How long a request waits for such files. A file is given up after a shorter time, but others may follow it.
  static let patience = Duration.seconds(10)

  private var held: [(number: UInt64, lane: Int, end: MonotonicTime)] = []

  mutating func hold(_ number: UInt64, by lane: Int, until end: MonotonicTime) { held.append((number, lane, end)) }

  /// Removes the requests that need not wait any more.
  mutating func take(isReadingOver: Bool, at uptime: MonotonicTime) -> [(number: UInt64, lane: Int)] {
    let over = held.filter { isReadingOver || $0.end <= uptime }
    held.removeAll { isReadingOver || $0.end <= uptime }
    return over.map { ($0.number, $0.lane) }
  }
}

// Files whose reading took longer than a transaction may wait.
extension Library {
  /// Takes the content of such files into the catalog, as soon as it is read.
  func take(_ lateReads: LateReads) async {
    var seen = lateReads.ended.sequence
    while let sequence = await lateReads.ended.next(after: seen) {
      seen = sequence
      takeFinishedReads()
    }
  }

  /// Whether files are being read in the background.
  var hasLateReads: Bool { (files.lateReads?.underWayCount ?? 0) > 0 }

  private func takeFinishedReads() {
    guard restart.breakdown == nil else { return }
    do {
      try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        try reconciler.readAgain(reconciler.retries.pending, in: &batch)
        return ((), batch.origin)
      }
    } catch {
      return breakDown(error)
    }
    updateState()
    for (number, lane) in lateSyncs.take(isReadingOver: !hasLateReads, at: clock.bootTime) {
      answerSync(number, by: lane)
    }
  }
}
