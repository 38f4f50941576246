extension FetchResultChangeDetails {
  /// The difference between two states of one fetch, from what commits touched in between. It is what the full form finds,
  /// but that a touched asset may move where the full form moves fewer others.
  ///
  /// - Parameters:
  ///   - before: the list that B is the first `limit` of.
  ///   - after: the same of A. Both may hold more than that, as a reserve, each as much as it likes.
  ///   - limit: `nil` if the whole lists are published.
  ///   - touched: C, as for the full form. Ids that are in neither list do no harm.
  ///   - placed: what else may have come, gone or moved, though nothing of the asset changed: in an album whose content or
  ///     order was edited, say. May repeat ids of `touched`.
  /// - Precondition: the ids that are neither in `touched` nor in `placed` stand in the same order in both lists, and one
  ///   that only the longer reserve holds stands behind all that both hold.
  /// - Returns: `nil` when nothing changed.
  /// - Complexity: O(k log n) for k touched ids; where they are a large part of the list, or come in groups, that of the
  ///   full form.
  package static func incremental(
    from before: OrderedIDs, to after: OrderedIDs, limit: Int? = nil, touched: TouchedAssets, placed: [Int64] = []
  ) -> FetchResultChangeDetails? {
    let countBefore = min(before.count, limit ?? .max)
    let countAfter = min(after.count, limit ?? .max)
    let most = touched.fields.count + touched.deleted.count + placed.count
    if touched.groups.isEmpty && most <= max(countBefore, countAfter) / IncrementalDifference.fullFrom {
      var difference = IncrementalDifference(before, countBefore, after, countAfter, touched: touched)
      difference.place(touched.fields.keys)
      difference.place(touched.deleted.lazy.filter { touched.fields[$0] == nil })
      difference.place(Set(placed).lazy.filter { touched.fields[$0] == nil && !touched.deleted.contains($0) })
      difference.countUntouched()
      if limit != nil || difference.keepsTheUntouched { return difference.details() }
      // Somebody forgot to say what was touched. R, I and the moves are true all the same.
    }
    return full(from: before.ids(in: 0..<countBefore), to: after.ids(in: 0..<countAfter), touched: touched)
  }
}

/// One computation of the incremental form.
///
/// The untouched keep their order. So with the touched counted off, both published lists are the same untouched ids, and
/// where a limit cuts, one has some more of them at its end. The gap of an id is how many of the untouched stand before it:
/// a touched survivor may stay, relative to them, if its gap is the same in both.
struct IncrementalDifference {
  /// From one touched id in so many of the list on, the full form is faster.
  static let fullFrom = 8

  /// A touched id that is in either published list.
  private struct Touched {
    let id: Int64
    let isChanged: Bool
    let before: Int?
    let after: Int?
    var gapBefore = 0
    var gapAfter = 0

    var survives: Bool { before != nil && after != nil }
  }

  /// One of the touched as one of the lists has it.
  private struct Place {
    let position: Int
    let index: Int
  }

  private let before: OrderedIDs
  private let countBefore: Int
  private let after: OrderedIDs
  private let countAfter: Int
  private let touched: TouchedAssets

  private var all: [Touched] = []
  /// Ascending by position, what is in the list before, and after.
  private var placesBefore: [Place] = []
  private var placesAfter: [Place] = []

  init(_ before: OrderedIDs, _ countBefore: Int, _ after: OrderedIDs, _ countAfter: Int, touched: TouchedAssets) {
    self.before = before
    self.countBefore = countBefore
    self.after = after
    self.countAfter = countAfter
    self.touched = touched
  }

  /// How many of the untouched are in each list, and in both.
  private var untouchedBefore: Int { countBefore - placesBefore.count }
  private var untouchedAfter: Int { countAfter - placesAfter.count }
  private var untouched: Int { min(untouchedBefore, untouchedAfter) }

  /// Without a limit, none of the untouched can come or go.
  var keepsTheUntouched: Bool { untouchedBefore == untouchedAfter }

  /// Takes in touched ids, each once.
  mutating func place(_ ids: some Sequence<Int64>) {
    for id in ids {
      let inBefore = before.position(of: id).flatMap { $0 < countBefore ? $0 : nil }
      let inAfter = after.position(of: id).flatMap { $0 < countAfter ? $0 : nil }
      if let inBefore { placesBefore.append(Place(position: inBefore, index: all.count)) }
      if let inAfter { placesAfter.append(Place(position: inAfter, index: all.count)) }
      if inBefore != nil || inAfter != nil {
        all.append(Touched(id: id, isChanged: touched.fields[id] != nil, before: inBefore, after: inAfter))
      }
    }
  }

  mutating func countUntouched() {
    placesBefore.sort { $0.position < $1.position }
    placesAfter.sort { $0.position < $1.position }
    for (rank, place) in placesBefore.enumerated() { all[place.index].gapBefore = place.position - rank }
    for (rank, place) in placesAfter.enumerated() { all[place.index].gapAfter = place.position - rank }
  }

  func details() -> FetchResultChangeDetails? {
    var positions = ChangePositions()
    positions.removedBefore = lone(in: placesBefore, of: countBefore)
    positions.insertedAfter = lone(in: placesAfter, of: countAfter)
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

  /// What is in one list only: touched ids that don't survive, and of the untouched those beyond what both lists hold.
  private func lone(in places: [Place], of count: Int) -> IndexRangeBuilder {
    var lone = IndexRangeBuilder()
    var gap = untouched
    for (rank, place) in places.enumerated() {
      let more = place.position - rank - gap
      if more > 0 {
        lone.append(IndexRange(start: place.position - more, count: more))
        gap += more
      }
      if !all[place.index].survives { lone.append(place.position) }
    }
    let more = count - places.count - gap
    if more > 0 { lone.append(IndexRange(start: count - more, count: more)) }
    return lone
  }

  /// Of the touched survivors, those that are in another gap; of those in one gap, all but a longest run in order.
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
    // Gaps are in the same order in both lists, so that one subsequence over all is the longest of each.
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
