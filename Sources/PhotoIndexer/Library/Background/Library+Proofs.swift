import Dispatch
import FileContent
import Glibc
import Logging
import PhotoCatalog
import PhotoModel
import WatchRecords

// Samples and hashes of files that were not just written. They are made once the library is live and idle, concurrently
// with it and never inside a transaction. Hashes are made of files with user data, and of files that share size and
// fingerprint.
//
// Files are not read for this on battery, nor on a network, unless a person names the folder to `photoctl rescan`.
//
// A file can claim any size. So hashes of large files come last, files that consist of holes are only sampled, and a hash
// that takes too long is given up.
extension Library {
  /// The number of files that are taken up in one transaction, which takes 20 ms.
  private static let newFileBatch = 2_000
  /// The number of files that are read before their marks are written, and before the library looks for more urgent
  /// work.
  private static let proofBatch = 32
  /// How many files on networks are passed over before the library's other work has its turn. Each takes some 20
  /// microseconds.
  static let passLimit = 2_048
  /// The same for files on drives that are away. SQLite passes them within a microsecond or two each.
  static let awayLimit = 20_000
  /// How long files are read within each second.
  private static let proofTurn = Duration.milliseconds(500)

  /// Whether work may begin that waits until no folder changes. Each such work also has a ``QuietWait``.
  var mayDoIdleWork: Bool { restart.breakdown == nil && !isScanAwaited }

  /// Makes samples and hashes while some are missing. A large file may take minutes, so the other timed work does not wait
  /// for it.
  func prove() async {
    while true {
      // The sequence is read before the check, so that work that is added after the check wakes the loop again.
      let sequence = idle.wakeFeed.sequence
      if !proofs.isDue || proofs.isOnBattery {
        // No event reports that the machine is on mains again.
        guard await isWoken(after: sequence, within: proofs.isDue ? .seconds(60) : nil) else { return }
      }
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      await makeProofs()
    }
  }

  /// Makes samples and hashes for a part of a second.
  func makeProofs() async {
    let end = clock.bootTime + Self.proofTurn
    while clock.bootTime < end, !Task.isCancelled {
      let requests = nextProofs()
      guard !requests.isEmpty else { return }
      let (files, feed, power, clock, lastChange) = (files, commits.feed, proofs.power, clock, idle.lastChange)
      let made = await withCheckedContinuation { continuation in
        DispatchQueue(label: "photod.proofs").async {
          var pauses = Self.mostPauses
          let made = ProofWorker.make(requests, files, until: { clock.bootTime >= end }, now: { clock.bootTime }) {
            while pauses > 0, !lastChange.isQuiet(at: clock.bootTime), !feed.isFinished {
              pauses -= 1
              usleep(100_000)
            }
            return !feed.isFinished && !power.isOnBattery
          }
          continuation.resume(returning: made)
        }
      }
      keep(made)
      if made.count < requests.count { return proofs.takeBack(requests[made.count]) }
    }
  }

  /// How often a turn pauses for a tenth of a second while folders change. After that it goes on, so that a large file gets
  /// its hash some time.
  private static let mostPauses = 300

  /// The next files to read, or none if there is nothing to do now.
  func nextProofs() -> [ProofRequest] {
    guard proofs.isDue, mayDoIdleWork, proofs.wait.isOver(at: clock.bootTime, lastChange: idle.lastChange.time)
    else { return [] }
    do {
      if proofs.hasNewFiles { note(try commit { (try Self.startProofs($0), origin: "rescan") }.0) }
      if proofs.hasNewFiles { return [] }
      if proofs.isNothingMissing {
        endProofs()
        return []
      }
      proofs.isOnBattery = proofs.power.isOnBattery
      defer { publishProofs() }
      guard !proofs.isOnBattery else { return [] }
      var passedCount = 0
      // If the limit ends this, the pass is still due, and continues a second later.
      while passedCount < Self.passLimit {
        guard let (rows, isWhole) = try rowsToProve() else {
          if let large = proofs.takeLargeFile() { return [large] }
          try countProofs()
          endProofs()
          return []
        }
        guard !rows.isEmpty else { return [] }
        let available = rows.filter { reconciler.isAvailable($0.directoryID) }
        let remote = available.filter { isRemote($0) }
        if !remote.isEmpty {
          try catalog.write { writer in for row in remote { try writer.putOffProof(of: row.assetID) } }
        }
        let requests = available.filter { !isRemote($0) }.map {
          ProofRequest(row: $0, path: reconciler.path(of: $0), isWhole: isWhole)
        }.filter { !proofs.putOff($0) }
        if !requests.isEmpty { return requests }
        passedCount += rows.count
      }
      return []
    } catch {
      // The next commit makes photod try again.
      proofs.isDue = false
      // While a backup replaces the catalog, nothing is wrong, and the next library hashes the files.
      guard (error as? PhotoError)?.code != "catalogReplaced" else { return [] }
      logger.notice("files not hashed", metadata: ["error": "\(error)"])
      return []
    }
  }

  /// Takes up new files. If some have the same content, this changes which assets are duplicates.
  static func startProofs(_ writer: CatalogWriter) throws -> ProofWorker.Start {
    let hasNewFiles = try writer.wantProofsOfNewFiles(limit: newFileBatch)
    return ProofWorker.Start(hasNewFiles: hasNewFiles, counts: hasNewFiles ? nil : try writer.proofCounts())
  }

  func note(_ started: ProofWorker.Start) {
    proofs.hasNewFiles = started.hasNewFiles
    guard let counts = started.counts else { return }
    (proofs.status.unsampledCount, proofs.status.unhashedCount) = counts
    publishProofs()
  }

  private func endProofs() {
    proofs.isDue = false
    proofs.requestedRoots = []
    publishProofs()
  }

  /// - Returns: nil if no file is left. No rows, if this turn has passed enough files on drives that are away.
  private func rowsToProve() throws -> (rows: [FileRow], isWhole: Bool)? {
    try catalog.read { reader in
      for isWhole in [true, false] {
        let (rows, through) = try reader.filesToProve(
          after: isWhole ? proofs.hashedThrough : proofs.sampledThrough, isWhole: isWhole, limit: Self.proofBatch,
          mostPassed: Self.awayLimit)
        guard let through else { continue }
        if isWhole { proofs.hashedThrough = through } else { proofs.sampledThrough = through }
        return (rows, isWhole)
      }
      return nil
    }
  }

  private func isRemote(_ row: FileRow) -> Bool {
    !proofs.requestedRoots.contains(reconciler.tree.rootID(of: row.directoryID))
      && files.isRemote(reconciler.path(of: row))
  }

  /// Writes the marks that were made, if their files have not changed since.
  func keep(_ made: [MadeProof]) {
    guard restart.breakdown == nil, !made.isEmpty else { return }
    let reconciler = reconciler
    do {
      try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        for proof in made { try reconciler.keep(proof, in: &batch) }
        return ((), batch.origin)
      }
    } catch {
      // The reconciler is ahead of the catalog now.
      return breakDown(error)
    }
    for proof in made where proof.marks != nil {
      if proof.request.isWhole {
        if !proof.isHashPutOff { proofs.status.hashedBytes += proof.request.bytes }
        proofs.status.unhashedCount = max(0, proofs.status.unhashedCount - 1)
      } else {
        proofs.status.sampledBytes += proof.request.bytes
      }
      if proof.request.row.marks.sample == nil {
        proofs.status.unsampledCount = max(0, proofs.status.unsampledCount - 1)
      }
    }
    publishProofs()
  }

  /// Requests samples and hashes for a person, also of files on a network.
  func requestProofs(below directory: DirectoryID) throws {
    let tree = reconciler.tree
    try catalog.write { try $0.wantProofs(in: tree.subtree(of: directory)) }
    proofs.requestCount += 1
    proofs.begin()
    proofs.requestedRoots.insert(tree.rootID(of: directory))
    idle.wake()
  }

  private func countProofs() throws {
    let counts = try catalog.read { try $0.proofCounts() }
    (proofs.status.unsampledCount, proofs.status.unhashedCount) = counts
  }

  private func publishProofs() {
    proofs.status.paused = proofs.isDue && proofs.isOnBattery ? "the machine runs on battery" : nil
    let status = proofs.status
    statusStore.update { $0.hashing = status }
  }
}

extension Reconciler {
  /// Writes the marks of a file. Its hash may prove that it is a deleted photo.
  func keep(_ proof: MadeProof, in batch: inout Batch) throws {
    let seen = proof.request.row
    guard var row = try batch.writer.file(ofAsset: seen.assetID), row.stat == seen.stat else { return }
    guard let marks = proof.marks else {
      switch files.look(path(of: row)) {
      case .there(let stat):
        // The disk fails to read it, or something changed it, and photod-watch has not reported that. Another file may have
        // its inode now, and only photod-watch knows birth times. So a scan decides which file it is.
        if !row.hasTimes(of: stat) { requireScan(for: row.directoryID) }
        return try batch.writer.putOffProof(of: row.assetID)
      case .absent, .unknown:
        // Its drive may have left just now. The next pass tries again, for example when the drive is back.
        return
      }
    }
    // A file that could not be read since it changed gets its marks with the next reading.
    guard row.readTime != .unknown else { return }
    row.marks.sample = marks.sample
    row.marks.hash = marks.hash ?? row.marks.hash
    try batch.writer.keepMarks(of: row)
    if proof.isHashPutOff { try batch.writer.putOffProof(of: row.assetID) }
    guard let content = try batch.writer.content(of: row.assetID) else { return }
    _ = try becomesFormer(row.assetID, content, row, reason: .lateHash, in: &batch)
  }
}
