import PhotoModel
import WatchRecords

/// Knows what may leave the library by whose word.
///
/// 1. By what one scan misses at most as much of a root leaves as ``RemovalPolicy`` allows; beyond that only what was under
///    suspicion for the removal grace, or what a person confirmed.
/// 2. Nothing leaves a root, or a folder with a drive, that is unavailable before and after the commit.
struct RemovalOracle {
  /// What the simulation lets the brake allow.
  static let count = 3
  private static let share = 0.2
  private static let grace = 600 * seconds

  /// Since when each asset is under suspicion, on the clock that nobody sets.
  private var suspectedSince: [Int64: Int64] = [:]
  /// Roots for which a person gave the word since all was settled.
  private var confirmedRoots: Set<String> = []
  /// A listing is under way whose word counts as an event's.
  private var isInEventListing = false

  mutating func confirm(_ root: String) { confirmedRoots.insert(root) }

  mutating func settle() { confirmedRoots = [] }

  /// A listing does not outlive the photod-watch that made it.
  mutating func beginSession() { isInEventListing = false }

  mutating func note(suspected: Set<Int64>, at time: Int64) {
    suspectedSince = suspectedSince.filter { suspected.contains($0.key) }
    for id in suspected { suspectedSince[id] = suspectedSince[id] ?? time }
  }

  /// Each end of a scan alone: what a scan decides is not mixed with what was told before, nor with another scan's. For the
  /// library that is no difference, which takes in what departed before each end of a scan.
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

  /// Whether records say of nothing by an event that it left its place.
  mutating func isScanAlone(_ records: [WatchRecord]) -> Bool {
    var isAlone = !isInEventListing
    for record in records {
      switch record {
      // A directory that moves to where nothing is the library's leaves it.
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

  /// - Parameters:
  ///   - isScanAlone: nothing but scans told that something left.
  ///   - isAvailable: of a root's path, after the commit.
  func check(
    before: [Int64: Asset], after: [Int64: Asset], isScanAlone: Bool, roots: [String], time: Int64,
    isAvailable: (String) -> Bool
  ) throws {
    let paths = Set(after.values.map { $0.simulatedPath })
    // Where another asset has the place, two were found to be one.
    let gone = before.values.filter { after[$0.id] == nil && !paths.contains($0.simulatedPath) }
    guard !gone.isEmpty else { return }
    for root in roots where !confirmedRoots.contains(root) {
      let goneHere = gone.filter { $0.simulatedPath.hasPrefix(root + "/") }
      if !isAvailable(root), let one = goneHere.first(where: { !$0.available }) {
        throw SimulationFailure("asset \(one.id) left \(root), which is unavailable")
      }
      guard isScanAlone else { continue }
      let fresh = goneHere.filter { suspectedSince[$0.id].map { time - $0 < Self.grace } ?? true }
      let total = before.values.count { $0.simulatedPath.hasPrefix(root + "/") }
      if fresh.count > Self.count, Double(fresh.count) > Self.share * Double(total) {
        throw SimulationFailure("\(fresh.count) of \(total) assets left \(root) by the word of one scan")
      }
    }
  }
}
