import PhotoModel

extension FetchResultChangeDetails {
  /// The difference between two states of one fetch, from the assets that commits touched in between. The result is
  /// that of the full form, with one exception: this form never moves an asset that was not touched, so it may move more
  /// touched ones.
  ///
  /// - Parameters:
  ///   - before: the old list. Its first `limit` ids are published, and further ones are a reserve.
  ///   - after: the new list. Its reserve may have another length.
  ///   - limit: `nil` if the whole lists are published.
  ///   - touched: the changed assets, as for the full form. It may contain ids that are in neither list.
  ///   - placed: further assets that may have been inserted, removed or moved although their fields are the same. An
  ///     edit of an album's content or order does that. They may repeat ids of `touched`.
  /// - Precondition: the ids that are neither in `touched` nor in `placed` have the same order in both lists. An id
  ///   that only the longer reserve holds follows all ids that both lists hold.
  /// - Returns: `nil` if nothing changed.
  /// - Complexity: O(k log n) for k touched ids. If they are a large part of the list, or if `touched` has groups, this
  ///   calls the full form, which has a complexity of its own.
  package static func incremental(
    from before: OrderedIDs, to after: OrderedIDs, limit: Int? = nil, touched: TouchedAssets, placed: [AssetID] = []
  ) -> FetchResultChangeDetails? {
    let countBefore = min(before.count, limit ?? .max)
    let countAfter = min(after.count, limit ?? .max)
    let most = touched.fields.count + touched.deleted.count + placed.count
    if touched.groups.isEmpty && most <= max(countBefore, countAfter) / IncrementalDifference.fullFrom {
      var difference = IncrementalDifference(before, countBefore, after, countAfter, touched: touched)
      difference.add(touched.fields.keys)
      difference.add(touched.deleted.lazy.filter { touched.fields[$0] == nil })
      difference.add(Set(placed).lazy.filter { touched.fields[$0] == nil && !touched.deleted.contains($0) })
      difference.countUntouched()
      if limit != nil || difference.keepsTheUntouched { return difference.details() }
      // The caller broke the precondition: an asset came or went that it did not name. The full form does not need the
      // names to find the removed, inserted and moved assets.
    }
    return full(from: before.ids(in: 0..<countBefore), to: after.ids(in: 0..<countAfter), touched: touched)
  }
}

/// Computes the incremental form once.
///
/// The untouched ids keep their order. Without the touched ids, both published lists therefore have the same ids. Only
/// a limit may leave one of them with more ids at its end. The gap of an id is the number of untouched ids before it. A
/// touched survivor may stay, relative to the untouched ids, if its gap is the same in both lists.
struct IncrementalDifference {
  /// If more than one of every eight ids of the list is touched, the full form is faster.
  static let fullFrom = 8

  /// A touched id that is in at least one of the published lists.
  private struct Touched {
    let id: AssetID
    let isChanged: Bool
    /// The position in each list, or `nil` if the list does not have the id.
    let before: Int?
    let after: Int?
    /// The gap in each list: the number of untouched ids before the id.
    var gapBefore = 0
    var gapAfter = 0

    var survives: Bool { before != nil && after != nil }
  }

  /// The place of a touched id in one of the lists.
  private struct Place {
    let position: Int
    /// The index of the id in `all`.
    let index: Int
  }

  private let before: OrderedIDs
  private let countBefore: Int
  private let after: OrderedIDs
  private let countAfter: Int
  private let touched: TouchedAssets

  private var all: [Touched] = []
  /// The places of the touched ids in each list. After ``countUntouched()``, they ascend by position.
  private var placesBefore: [Place] = []
  private var placesAfter: [Place] = []

  init(_ before: OrderedIDs, _ countBefore: Int, _ after: OrderedIDs, _ countAfter: Int, touched: TouchedAssets) {
    self.before = before
    self.countBefore = countBefore
    self.after = after
    self.countAfter = countAfter
    self.touched = touched
  }

  /// The number of untouched ids in each list, and in both lists.
  private var untouchedBefore: Int { countBefore - placesBefore.count }
  private var untouchedAfter: Int { countAfter - placesAfter.count }
  private var untouched: Int { min(untouchedBefore, untouchedAfter) }

  /// Whether both lists have the same number of untouched ids. If there is no limit, this must be true.
  var keepsTheUntouched: Bool { untouchedBefore == untouchedAfter }

  /// Adds touched ids. Each id may be added once only.
  mutating func add(_ ids: some Sequence<AssetID>) {
    for id in ids {
      let inBefore = before.position(of: id).flatMap { $0 < countBefore ? $0 : nil }
      let inAfter = after.position(of: id).flatMap { $0 < countAfter ? $0 : nil }
      if let inBefore { placesBefore.append(Place(position: inBefore, index: all.count)) }
      if let inAfter { placesAfter.append(Place(position: inAfter, index: all.count)) }
      if inBefore != nil || inAfter != nil {
        all.append(
          Touched(
            id: id, isChanged: touched.fields[id].map(TouchedAssets.isChange) ?? false, before: inBefore, after: inAfter
          ))
      }
    }
  }

  /// Computes the gap of each touched id. All of them must have been added.
  mutating func countUntouched() {
    placesBefore.sort { $0.position < $1.position }
    placesAfter.sort { $0.position < $1.position }
    for (rank, place) in placesBefore.enumerated() { all[place.index].gapBefore = place.position - rank }
    for (rank, place) in placesAfter.enumerated() { all[place.index].gapAfter = place.position - rank }
  }

  func details() -> FetchResultChangeDetails? {
    var positions = ChangePositions()
    positions.removedBefore = unmatched(in: placesBefore, of: countBefore)
    positions.insertedAfter = unmatched(in: placesAfter, of: countAfter)
    for range in positions.insertedAfter.ranges {
      positions.insertedIDs += after.ids(in: range.start..<range.start + range.count)
    }
    for place in placesBefore {
      let asset = all[place.index]
      if !asset.survives {
        if touched.deleted.contains(asset.id) { positions.deletedBefore.append(place.position) }
      } else if asset.isChanged {
        positions.changedBefore.append(place.position)
        positions.changedFields.formUnion(touched.fields[asset.id] ?? [])
      }
    }
    for place in placesAfter where all[place.index].survives && all[place.index].isChanged {
      positions.changedAfter.append(place.position)
    }
    positions.moves = moves()
    return positions.details(countBefore: countBefore, countAfter: countAfter)
  }

  /// The positions that are in one list only: touched ids that do not survive, and the untouched ids beyond those that
  /// both lists hold.
  private func unmatched(in places: [Place], of count: Int) -> IndexRangeBuilder {
    var unmatched = IndexRangeBuilder()
    var gap = untouched
    for (rank, place) in places.enumerated() {
      let more = place.position - rank - gap
      if more > 0 {
        unmatched.append(IndexRange(start: place.position - more, count: more))
        gap += more
      }
      if !all[place.index].survives { unmatched.append(place.position) }
    }
    let more = count - places.count - gap
    if more > 0 { unmatched.append(IndexRange(start: count - more, count: more)) }
    return unmatched
  }

  /// The moves of the touched survivors. A survivor moves if its gap differs between the lists. Among survivors with the
  /// same gap, the longest subsequence that is in order stays, and the others move.
  private func moves() -> [Move] {
    let untouched = untouched
    func mayStay(_ asset: Touched) -> Bool {
      asset.survives && min(asset.gapBefore, untouched) == min(asset.gapAfter, untouched)
    }
    var rankOf = [Int32](repeating: -1, count: all.count)
    var rank: Int32 = 0
    for place in placesBefore where mayStay(all[place.index]) {
      rankOf[place.index] = rank
      rank += 1
    }
    let staying = placesAfter.filter { rankOf[$0.index] >= 0 }
    // Gaps have the same order in both lists, so one subsequence over all gaps is the longest of each gap.
    let kept = LongestKeptOrder.kept(
      ranks: staying.map { rankOf[$0.index] }, prefers: staying.map { !all[$0.index].isChanged })
    var next = 0
    var moves: [Move] = []
    for place in placesAfter {
      guard let positionBefore = all[place.index].before else { continue }
      if rankOf[place.index] >= 0 {
        next += 1
        if kept[next - 1] { continue }
      }
      moves.append(Move(fromBefore: positionBefore, toAfter: place.position))
    }
    return moves
  }
}
