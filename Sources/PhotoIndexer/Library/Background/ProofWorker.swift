import FileContent
import PhotoCatalog
import PhotoModel

/// Makes samples and hashes. Its state has the numbers of those that are still missing, and of those that were made
/// since the start.
struct ProofWorker {
  let power: PowerSupply
  /// Whether there may be files to read.
  var isDue = true
  var wait = QuietWait()
  /// Whether the machine ran on its battery at the last check.
  var isOnBattery = false
  /// Whether there are new files that were not taken up.
  var hasNewFiles = true
  /// The assets up to these were passed.
  var hashedThrough: AssetID = 0
  var sampledThrough: AssetID = 0
  /// Large files whose hashes are made after all other samples and hashes.
  private(set) var largeFiles: [AssetID: ProofRequest] = [:]
  /// Roots on a network that a person has asked for.
  var requestedRoots: Set<RootID> = []
  /// How many rescans have requested the hashes of a folder.
  var requestCount = 0
  var status = LibraryStatus.Hashing()

  /// The result of taking up new files.
  struct Start: Sendable {
    let hasNewFiles: Bool
    /// The numbers of samples and hashes that are missing, once all files are taken up.
    let counts: (unsampled: Int, unhashed: Int)?
  }

  init(power: PowerSupply) { self.power = power }

  /// Whether all new files were just taken up, and each file has the sample and hash that it should have.
  var isNothingMissing: Bool {
    !hasNewFiles && (hashedThrough, sampledThrough) == (0, 0)
      && (status.unsampledCount, status.unhashedCount) == (0, 0)
  }

  /// The most large files that wait. Further ones are hashed in the order of their assets.
  private static let mostLargeFiles = 1_000

  /// Puts off the hash of a large file, so that other files need not wait for it.
  ///
  /// - Returns: false if the file is not large, or if too many wait already.
  mutating func putOff(_ request: ProofRequest) -> Bool {
    guard request.isLarge, largeFiles.count < Self.mostLargeFiles else { return false }
    largeFiles[request.row.assetID] = request
    return true
  }

  /// The smallest of the large files, which is removed.
  mutating func takeLargeFile() -> ProofRequest? {
    let smallest = largeFiles.min { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }
    return smallest.flatMap { largeFiles.removeValue(forKey: $0.key) }
  }

  /// Continues with this request, which was not made yet.
  mutating func takeBack(_ request: ProofRequest) {
    if putOff(request) { return }
    if request.isWhole {
      hashedThrough = min(hashedThrough, request.row.assetID.advanced(by: -1))
    } else {
      sampledThrough = min(sampledThrough, request.row.assetID.advanced(by: -1))
    }
  }

  /// Begins again after a change of the catalog: all missing samples and hashes are looked for anew.
  mutating func begin() {
    (isDue, hasNewFiles, hashedThrough, sampledThrough) = (true, true, 0, 0)
    largeFiles = [:]
  }
}

/// A file that needs a sample, or a sample and a hash.
struct ProofRequest: Sendable {
  let row: FileRow
  let path: [UInt8]
  let isWhole: Bool

  /// The number of bytes that are read.
  var bytes: Int64 { isWhole ? row.byteCount : min(row.byteCount, ContentReader.wholeBytes) }

  /// Whether a disk takes some seconds to read it.
  var isLarge: Bool { isWhole && row.byteCount >= Self.largeBytes }

  static let largeBytes: Int64 = 256 << 20
}

/// The marks that were made of a file. They are nil if it could not be read, or is another file by now.
struct MadeProof: Sendable {
  let request: ProofRequest
  let marks: ContentMarks?
  /// Whether a requested hash was not made, because that would take too long. The marks then have only the sample.
  var isHashPutOff = false
}

// Reading files.
extension ProofWorker {
  /// How long one file is hashed at most. In this time a disk reads some 90 GB.
  static let longestHashing = Duration.seconds(900)

  /// - Parameters:
  ///   - isOver: whether no further file is begun. The first one always is.
  ///   - now: the time by which ``longestHashing`` is measured.
  ///   - shouldGoOn: asked before each file, and once in some megabytes of it.
  /// - Returns: the results for the first requests, for all of them unless something ended the work.
  static func make(
    _ requests: [ProofRequest], _ files: any PhotoFiles, until isOver: () -> Bool = { false },
    now: () -> MonotonicTime = { .now }, while shouldGoOn: () -> Bool
  ) -> [MadeProof] {
    var made: [MadeProof] = []
    for request in requests {
      if !made.isEmpty && isOver() || !shouldGoOn() { break }
      guard let proof = make(request, files, now: now, while: shouldGoOn) else { break }
      made.append(proof)
    }
    return made
  }

  /// - Returns: nil if the reading was interrupted, which is no failure of the file.
  private static func make(
    _ request: ProofRequest, _ files: any PhotoFiles, now: () -> MonotonicTime, while shouldGoOn: () -> Bool
  ) -> MadeProof? {
    let (end, stat) = (now() + longestHashing, request.row.stat)
    var isTooLong = request.isLarge && files.isMostlyHoles(request.path, byteCount: stat.byteCount)
    var pieces = 0
    let isWhole = request.isWhole && !isTooLong
    var marks = files.marks(request.path, expecting: stat, isWhole: isWhole) {
      pieces += 1
      guard pieces % 64 == 0 else { return true }
      isTooLong = now() >= end
      return !isTooLong && shouldGoOn()
    }
    if marks == nil && isTooLong && isWhole {
      marks = files.marks(request.path, expecting: stat, isWhole: false) { true }
    } else if marks == nil && !shouldGoOn() {
      return nil
    }
    return MadeProof(request: request, marks: marks, isHashPutOff: isTooLong && request.isWhole && marks != nil)
  }
}
