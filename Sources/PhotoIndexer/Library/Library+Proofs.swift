import Dispatch
import Logging
import PhotoCatalog
import PhotoMetadata
import PhotoModel
import WatchRecords

/// The state of making samples and hashes: those that are still missing, and those made since the start.
struct ProofPass {
  /// Whether there may be files to read.
  var isDue = true
  /// Whether the machine ran on its battery at the last check.
  var isOnBattery = false
  /// Whether there are new files that were not taken up.
  var hasNewFiles = true
  /// The assets up to these were passed.
  var hashedThrough: Int64 = 0
  var sampledThrough: Int64 = 0
  /// Roots on a network that a person has asked for.
  var requestedRoots: Set<Int64> = []
  var status = LibraryStatus.Hashing()

  /// The result of taking up new files.
  struct Start: Sendable {
    let hasNewFiles: Bool
    /// The numbers of samples and hashes that are missing, once all files are taken up.
    let counts: (unsampled: Int, unhashed: Int)?
  }

  /// Whether all new files were just taken up, and each file has the sample and hash that it should have.
  var isNothingMissing: Bool {
    !hasNewFiles && (hashedThrough, sampledThrough) == (0, 0)
      && (status.unsampledCount, status.unhashedCount) == (0, 0)
  }

  /// Begins again after a change of the catalog: all missing samples and hashes are looked for anew.
  mutating func begin() {
    (isDue, hasNewFiles, hashedThrough, sampledThrough) = (true, true, 0, 0)
  }
}

/// A file that needs a sample, or a sample and a hash.
struct ProofRequest: Sendable {
  let row: FileRow
  let path: [UInt8]
  let isWhole: Bool

  /// The number of bytes that are read.
  var bytes: Int64 { isWhole ? row.byteCount : min(row.byteCount, ContentReader.wholeBytes) }
}

/// The marks that were made of a file. They are nil if it could not be read, or is another file by now.
struct MadeProof: Sendable {
  let request: ProofRequest
  let marks: ContentMarks?
}

// Samples and hashes of files that were not just written. They are made once the library is live and idle, concurrently
// with it and never inside a transaction. Hashes are made of files with user data, and of files that share size and
// fingerprint.
//
// Files are not read for this on battery, nor on a network, unless a person names the folder to `photoctl rescan`.
extension Library {
  /// The number of files that are taken up in one transaction, which takes 20 ms.
  private static let newFileBatch = 2_000
  /// The number of files that are read before their marks are written, and before the library looks for more urgent
  /// work.
  private static let proofBatch = 32
  /// How many files on unavailable disks and on networks are passed over before the library's other work has its turn.
  /// Each takes a few microseconds, and on a network some 20.
  static let passLimit = 2_048
  /// How long files are read within each second, in nanoseconds.
  private static let proofTurn: Int64 = 500_000_000

  var isIdle: Bool {
    breakdown == nil && !isScanAwaited && clock.bootTime - lastBatchAt >= Self.quietTime
  }

  /// Makes samples and hashes for a part of a second.
  func makeProofs() async {
    let end = clock.bootTime + Self.proofTurn
    while clock.bootTime < end, !Task.isCancelled {
      let requests = nextProofs()
      guard !requests.isEmpty else { return }
      let (files, feed, power) = (files, live.feed, power)
      let made = await withCheckedContinuation { continuation in
        DispatchQueue(label: "photod.proofs").async {
          continuation.resume(returning: Self.make(requests, files) { !feed.isFinished && !power.isOnBattery })
        }
      }
      keep(made)
    }
  }

  nonisolated static func make(
    _ requests: [ProofRequest], _ files: any PhotoFiles, while shouldGoOn: () -> Bool
  ) -> [MadeProof] {
    var made: [MadeProof] = []
    for request in requests where shouldGoOn() {
      // This is checked once in some megabytes.
      var pieces = 0
      let marks = files.marks(request.path, expecting: request.row.stat, isWhole: request.isWhole) {
        pieces += 1
        return pieces % 64 != 0 || shouldGoOn()
      }
      // An interrupted reading is no failure of the file.
      if marks == nil && !shouldGoOn() { break }
      made.append(MadeProof(request: request, marks: marks))
    }
    return made
  }

  /// The next files to read, or none if there is nothing to do now.
  func nextProofs() -> [ProofRequest] {
    guard proofs.isDue, isIdle else { return [] }
    do {
      if proofs.hasNewFiles { note(try catalog.write { try Self.startProofs($0) }) }
      if proofs.hasNewFiles { return [] }
      if proofs.isNothingMissing {
        endProofs()
        return []
      }
      proofs.isOnBattery = power.isOnBattery
      defer { tellProofs() }
      guard !proofs.isOnBattery else { return [] }
      var passedCount = 0
      // If the limit ends this, the pass is still due, and continues a second later.
      while passedCount < Self.passLimit {
        let (rows, isWhole) = try rowsToProve()
        guard !rows.isEmpty else {
          try countProofs()
          endProofs()
          return []
        }
        let available = rows.filter { reconciler.isAvailable($0.directoryID) }
        let remote = available.filter { isRemote($0) }
        if !remote.isEmpty {
          try catalog.write { writer in for row in remote { try writer.putOffProof(of: row.assetID) } }
        }
        let requests = available.filter { !isRemote($0) }.map {
          ProofRequest(row: $0, path: reconciler.path(of: $0), isWhole: isWhole)
        }
        if !requests.isEmpty { return requests }
        passedCount += rows.count
      }
      return []
    } catch {
      // The next commit makes photod try again.
      proofs.isDue = false
      logger.notice("files not hashed", metadata: ["error": "\(error)"])
      return []
    }
  }

  /// Takes up new files.
  static func startProofs(_ writer: CatalogWriter) throws -> ProofPass.Start {
    let hasNewFiles = try writer.wantProofsOfNewFiles(limit: newFileBatch)
    return ProofPass.Start(hasNewFiles: hasNewFiles, counts: hasNewFiles ? nil : try writer.proofCounts())
  }

  func note(_ started: ProofPass.Start) {
    proofs.hasNewFiles = started.hasNewFiles
    guard let counts = started.counts else { return }
    (proofs.status.unsampledCount, proofs.status.unhashedCount) = counts
    tellProofs()
  }

  private func endProofs() {
    proofs.isDue = false
    proofs.requestedRoots = []
    tellProofs()
  }

  private func rowsToProve() throws -> (rows: [FileRow], isWhole: Bool) {
    try catalog.read { reader in
      let toHash = try reader.filesToProve(after: proofs.hashedThrough, isWhole: true, limit: Self.proofBatch)
      if let last = toHash.last {
        proofs.hashedThrough = last.assetID
        return (toHash, true)
      }
      let toSample = try reader.filesToProve(after: proofs.sampledThrough, isWhole: false, limit: Self.proofBatch)
      if let last = toSample.last { proofs.sampledThrough = last.assetID }
      return (toSample, false)
    }
  }

  private func isRemote(_ row: FileRow) -> Bool {
    !proofs.requestedRoots.contains(reconciler.tree.rootID(of: row.directoryID))
      && files.isRemote(reconciler.path(of: row))
  }

  /// Writes the marks that were made, if their files have not changed since.
  func keep(_ made: [MadeProof]) {
    guard breakdown == nil, !made.isEmpty else { return }
    let reconciler = reconciler
    do {
      try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        for proof in made { try reconciler.keep(proof, in: &batch) }
        return ((), batch.record, batch.origin)
      }
    } catch {
      // The reconciler is ahead of the catalog now.
      return breakDown(error)
    }
    for proof in made where proof.marks != nil {
      if proof.request.isWhole {
        proofs.status.hashedBytes += proof.request.bytes
        proofs.status.unhashedCount = max(0, proofs.status.unhashedCount - 1)
      } else {
        proofs.status.sampledBytes += proof.request.bytes
      }
      if proof.request.row.marks.sample == nil {
        proofs.status.unsampledCount = max(0, proofs.status.unsampledCount - 1)
      }
    }
    tellProofs()
  }

  /// Requests samples and hashes for a person, also of files on a network.
  func requestProofs(below directories: [Int64]) throws {
    let tree = reconciler.tree
    try catalog.write { writer in
      for directory in directories { try writer.wantProofs(in: tree.subtree(of: directory)) }
    }
    proofs.begin()
    proofs.requestedRoots.formUnion(directories.map { tree.rootID(of: $0) })
    alarm.publish(alarm.sequence + 1)
  }

  private func countProofs() throws {
    let counts = try catalog.read { try $0.proofCounts() }
    (proofs.status.unsampledCount, proofs.status.unhashedCount) = counts
  }

  private func tellProofs() {
    proofs.status.paused = proofs.isDue && proofs.isOnBattery ? "the machine runs on its battery" : nil
    let status = proofs.status
    board.update { $0.hashing = status }
  }
}

extension Reconciler {
  /// Writes the marks of a file. Its hash may prove that it is a deleted photo.
  func keep(_ proof: MadeProof, in batch: inout Batch) throws {
    let seen = proof.request.row
    guard var row = try batch.writer.file(ofAsset: seen.assetID), row.stat == seen.stat else { return }
    guard let marks = proof.marks else {
      // The file can't be read, or something changed it, and photod-watch has not reported that. Another file may have
      // its inode now, and only photod-watch knows birth times. So a scan decides which file it is.
      if let stat = files.stat(path(of: row)), !hasTimes(row, stat) {
        requireScan(of: tree.rootID(of: row.directoryID))
      }
      return try batch.writer.putOffProof(of: row.assetID)
    }
    row.marks.sample = marks.sample
    row.marks.hash = marks.hash ?? row.marks.hash
    try batch.writer.keepMarks(of: row)
    guard let content = try batch.writer.content(of: row.assetID) else { return }
    _ = try becomesFormer(row.assetID, content, row, in: &batch)
  }
}
