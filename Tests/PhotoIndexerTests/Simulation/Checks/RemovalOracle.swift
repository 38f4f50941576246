import PhotoModel
import WatchRecords

/// Checks which photos a commit may remove from the library.
///
/// 1. The photos that one scan misses are removed only up to the part of a root that ``RemovalPolicy`` allows. Beyond
///    that, only photos leave that were suspect for the removal grace, or whose removal a person confirmed.
/// 2. Nothing leaves a root, or a folder with a drive, that is unavailable before and after the commit, unless the records
///    name its file in another place.
struct RemovalOracle {
  /// The count of the simulation's ``RemovalPolicy``.
  static let count = 3
  private static let share = 0.2
  private static let grace = 600 * seconds

  /// Since when each asset is suspect, in monotonic nanoseconds.
  private var suspectedSince: [AssetID: Int64] = [:]
  /// Roots whose removals a person has confirmed since the last settled state.
  private var confirmedRoots: Set<String> = []
  /// Assets that a person has excluded since the last settled state. They need no brake.
  private var excluded: Set<AssetID> = []
  /// A listing is running whose result counts as an event.
  private var isInEventListing = false

  mutating func confirm(_ root: String) { confirmedRoots.insert(root) }

  mutating func settle() { (confirmedRoots, excluded) = ([], []) }

  mutating func note(excluded ids: Set<AssetID>) { excluded.formUnion(ids) }

  /// A listing ends with the photod-watch that made it.
  mutating func beginSession() { isInEventListing = false }

  mutating func note(suspected: Set<AssetID>, at time: Int64) {
    suspectedSince = suspectedSince.filter { suspected.contains($0.key) }
    for id in suspected { suspectedSince[id] = suspectedSince[id] ?? time }
  }

  /// Makes each end of a scan a part of its own. So the decisions of a scan are not mixed with earlier records or with
  /// another scan. This makes no difference to the library, which handles departures before each end of a scan.
  static func parts(_ records: [WatchRecord]) -> [[WatchRecord]] {
    var parts: [[WatchRecord]] = [[]]
    for record in records {
      if case .scanEnded = record {
        parts += [[record], []]
      } else {
        parts[parts.count - 1].append(record)
      }
    }
    return parts.filter { !$0.isEmpty }
  }

  /// Whether no record is an event about a departure.
  mutating func isScanAlone(_ records: [WatchRecord]) -> Bool {
    var isAlone = !isInEventListing
    for record in records {
      switch record {
      // A directory leaves the library if it moves into an unknown directory.
      case .fileGone, .fileMoved, .directoryMoved, .directoryGone(_, .event), .ignored: isAlone = false
      case .listingStarted(_, .event):
        isAlone = false
        isInEventListing = true
      case .listingStarted(_, .scan), .listingEnded: isInEventListing = false
      default: break
      }
    }
    return isAlone
  }

  /// The files that are there according to records.
  static func files(in records: [WatchRecord]) -> Set<FileIdentity> {
    let identities = records.compactMap { record -> FileIdentity? in
      switch record {
      case .fileFound(_, _, let stat, _), .fileMoved(_, _, _, _, .some(let stat), _): stat.identity
      default: nil
      }
    }
    // The catalog has no device numbers.
    return Set(identities.map { FileIdentity(device: 0, inode: $0.inode, birthTime: $0.birthTime) })
  }

  /// - Parameters:
  ///   - files: the inode and birth time of each asset's file, before and after the commit.
  ///   - reported: the files in the records of the commit.
  ///   - isScanAlone: only scans reported departures.
  ///   - isAvailable: whether the root with this path is available after the commit.
  func check(
    before: [AssetID: Asset], after: [AssetID: Asset],
    files: (before: [AssetID: FileIdentity], after: [AssetID: FileIdentity]),
    reported: Set<FileIdentity>, isScanAlone: Bool, roots: [String], time: Int64, isAvailable: (String) -> Bool
  ) throws {
    let paths = Set(after.values.map { $0.simulatedPath })
    // If another asset has the path, the two were found to be one.
    let gone = before.values.filter { after[$0.id] == nil && !paths.contains($0.simulatedPath) }
    guard !gone.isEmpty else { return }
    for root in roots where !confirmedRoots.contains(root) {
      let goneHere = gone.filter { $0.simulatedPath.hasPrefix(root + "/") }
      if !isAvailable(root),
        let one = goneHere.first(where: { asset in
          !asset.available && !(files.before[asset.id].map(reported.contains) ?? false)
        })
      {
        throw SimulationFailure("asset \(one.id) left \(root), which is unavailable")
      }
      guard isScanAlone else { continue }
      // The scan did not miss a file that it found in the place of another photo, where a program had saved it. Without
      // a birth time, the inode may be another file's.
      let there = after.values.filter { $0.simulatedPath.hasPrefix(root + "/") }
      let found = Set(there.compactMap { files.after[$0.id] }.filter { $0.birthTime != .unknown })
      let missed = goneHere.filter { asset in
        !excluded.contains(asset.id) && !(files.before[asset.id].map(found.contains) ?? false)
      }
      let fresh = missed.filter { suspectedSince[$0.id].map { time - $0 < Self.grace } ?? true }
      let total = before.values.count { $0.simulatedPath.hasPrefix(root + "/") }
      if fresh.count > Self.count, Double(fresh.count) > Self.share * Double(total) {
        throw SimulationFailure("\(fresh.count) of \(total) assets left \(root) by the word of one scan")
      }
    }
  }
}
