import PhotoCatalog
import PhotoModel

/// The requests for a sync whose answer waits for files that are being read in the background.
struct LateSyncs {
  /// How long a request waits for such files. A file is given up after a shorter time, but others may follow it.
  static let patience = Duration.seconds(10)

  private var held: [(number: UInt64, lane: Int, end: MonotonicTime)] = []

  var isEmpty: Bool { held.isEmpty }

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
    var seen: Int64 = 0
    while let sequence = await lateReads.ended.next(after: seen) {
      seen = sequence
      takeFinished(lateReads.takeEnded())
    }
  }

  /// Whether files are being read in the background.
  var hasLateReads: Bool { files.lateReads?.isBusy ?? false }

  /// - Parameter inodes: those of the files whose reading has ended.
  private func takeFinished(_ inodes: Set<UInt64>) {
    defer { answerHeldSyncs() }
    guard restart.breakdown == nil, !inodes.isEmpty else { return }
    do {
      try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        let waiting = try inodes.sorted().flatMap { try writer.files(inode: $0).map(\.assetID) }
        try reconciler.readAgain(waiting.filter { reconciler.retries[$0] != nil }, in: &batch)
        // Files for which there was no room follow. A sync waits for them, too.
        if files.lateReads?.isHalfEmpty == true {
          try reconciler.readAgainReadable(in: &batch)
        }
        return ((), batch.origin)
      }
    } catch {
      return breakDown(error)
    }
    updateState()
  }

  /// Answers the syncs that need not wait any more. None is answered while the catalog can't be written: it lacks changes.
  func answerHeldSyncs() {
    guard restart.breakdown == nil else { return }
    for (number, lane) in lateSyncs.take(isReadingOver: !hasLateReads, at: clock.bootTime) {
      answerSync(number, by: lane)
    }
  }
}
