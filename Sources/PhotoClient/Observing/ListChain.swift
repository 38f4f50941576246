import ChangeDetails
import PhotoModel

/// How a list became the one after it.
enum ListOutcome: Sendable {
  case details(FetchResultChangeDetails)
  case reload(FetchResultChange.ReloadReason)
}

/// One change of an observed list, with the changes before it that an app may have skipped.
struct ListStep: Sendable {
  let before: FetchResult
  let after: FetchResult
  let outcome: ListOutcome
  /// Whether the collection of the list no longer exists.
  let isCollectionDeleted: Bool
  /// photod's word for the origin of the change; nil if it has several.
  let origin: String?
  /// The changes before this one, the oldest first.
  let skipped: [SkippedStep]

  /// The change from a result that the app has.
  ///
  /// - Returns: nil if the result is of another fetch, or already has the change.
  /// - Complexity: O(1) for the result before the change, and O(n log n) for an older one.
  func change(from result: FetchResult) -> FetchResultChange? {
    guard result.lineage === after.lineage, result != after else { return nil }
    if result == before { return change(from: before, outcome) }
    guard let place = skipped.firstIndex(where: { $0.before == result.snapshot.serial }) else {
      if let known = ChangeToken(result.token), let reached = ChangeToken(after.token), known.epoch == reached.epoch,
        known.library == reached.library, known.sequence >= reached.sequence
      {
        return nil
      }
      return change(from: result, .reload(.tooManySkipped))
    }
    guard case .details(let details) = outcome, let from = result.snapshot.complete, let to = after.snapshot.complete
    else { return change(from: result, outcome) }
    var touched = TouchedAssets()
    for step in skipped[place...] { touched.merge(step.touched) }
    touched.merge(TouchedAssets(details, from: before, to: after))
    let composed = FetchResultChangeDetails.full(from: from, to: to, touched: touched)
    return change(from: result, .details(composed ?? .init(countBefore: from.count, countAfter: to.count)))
  }

  private func change(from result: FetchResult, _ outcome: ListOutcome) -> FetchResultChange {
    FetchResultChange(from: result, to: after, outcome, isCollectionDeleted: isCollectionDeleted)
  }
}

/// A change that an app may have skipped. It does not hold the list before, which may be long.
struct SkippedStep: Sendable {
  /// The ``SnapshotIDs/serial`` of the list before.
  let before: UInt64
  let touched: TouchedAssets
}

/// An observed list, and its latest changes.
struct ListChain: Sendable {
  /// The changes that are kept for apps that skip some.
  private static let maximumSteps = 64
  /// The assets in all kept changes. A larger change is not kept, nor those before it.
  private static let maximumTouched = 20_000

  private(set) var current: FetchResult
  /// Whether the last change said that the collection of the list no longer exists.
  private(set) var isOfDeletedCollection = false
  private var skipped: [SkippedStep] = []

  init(_ result: FetchResult) { current = result }

  mutating func advance(
    to ids: [AssetID], token: String, _ outcome: ListOutcome, origin: String?, isCollectionDeleted: Bool = false
  ) -> ListStep {
    let before = current
    let after = before.following(with: ids, token: token)
    isOfDeletedCollection = isCollectionDeleted
    if case .reload = outcome { skipped = [] }
    let step = ListStep(
      before: before, after: after, outcome: outcome, isCollectionDeleted: isCollectionDeleted, origin: origin,
      skipped: skipped)
    current = after
    guard case .details(let details) = outcome else { return step }
    let namedCount =
      details.changedAfter.positionCount + details.insertedIDs.count + details.removedBefore.positionCount
    guard namedCount <= Self.maximumTouched else {
      skipped = []
      return step
    }
    skipped.append(
      SkippedStep(before: before.snapshot.serial, touched: TouchedAssets(details, from: before, to: after)))
    var (first, touchedCount) = (skipped.count, 0)
    while first > 0, skipped.count - first < Self.maximumSteps {
      touchedCount += skipped[first - 1].touched.fields.count
      if touchedCount > Self.maximumTouched { break }
      first -= 1
    }
    skipped.removeFirst(first)
    return step
  }
}

extension TouchedAssets {
  /// The assets that a change touched, as far as its details show.
  ///
  /// An asset that left the list may change while it is away, and come back. So each field of an asset that came counts
  /// as changed.
  init(_ details: FetchResultChangeDetails, from before: FetchResult, to after: FetchResult) {
    self.init()
    guard let before = before.snapshot.complete, let after = after.snapshot.complete else { return }
    let changed = ChangedFields(names: details.changedFields)
    for range in details.changedAfter {
      for id in after[range.start..<range.start + range.count] { fields[id] = changed }
    }
    for range in details.removedBefore {
      for id in before[range.start..<range.start + range.count] { fields[id] = fields[id] ?? [] }
    }
    for id in details.insertedIDs { fields[id] = .all }
    deleted = Set(details.deletedBefore.flatMap { before[$0.start..<$0.start + $0.count] })
  }
}
