import PhotoModel

/// Chooses the survivors of a list that keep their relative order while the others move: K of the definition.
///
/// Given a permutation, it finds a longest increasing subsequence and, among the longest, one with the most preferred
/// elements. The choice depends on the arguments alone.
enum LongestKeptOrder {
  /// - Parameters:
  ///   - ranks: a permutation of 0..<n. For each survivor in the order after, its rank among the survivors before.
  ///   - prefers: by index in `ranks`, whether the element should rather stay. The untouched are preferred, so that the
  ///     edited photo is the one that moves.
  /// - Returns: by index in `ranks`, whether the element stays.
  /// - Complexity: O(n log n), or O(n) if nothing moves.
  ///
  /// Every longest subsequence holds the elements of the fixed ends, where `ranks[i] == i`: they are below, or above,
  /// all others in both orders. So the ends are set aside, and the choice between them is the same as with them.
  static func kept(ranks: [Int32], prefers: [Bool]) -> [Bool] {
    var kept = [Bool](repeating: true, count: ranks.count)
    var low = 0
    var high = ranks.count
    while low < high, ranks[low] == low { low += 1 }
    while high > low, ranks[high - 1] == high - 1 { high -= 1 }
    guard low < high else { return kept }
    for index in low..<high { kept[index] = false }
    for index in chain(ranks: ranks[low..<high], prefers: prefers[low..<high]) { kept[index] = true }
    return kept
  }

  /// The indexes of the chosen subsequence in reverse order.
  static func chain(ranks: ArraySlice<Int32>, prefers: ArraySlice<Bool>) -> [Int] {
    let levels = Levels(ranks)
    var choice = Choice(ranks: ranks, prefers: prefers)
    var steps = BudgetedSteps()
    for level in 0..<levels.count {
      guard steps.mayTake(1 + levels[level].count) else { return [] }
      choice.extend(levels[level], after: level > 0 ? levels[level - 1] : [])
    }
    return choice.chain(endingIn: levels[levels.count - 1])
  }

  /// The elements by level. The level of an element is the length of the longest increasing subsequence that ends in it
  /// (patience sorting).
  ///
  /// The j-th element of a longest subsequence is always of level j. Within a level, elements in ascending index
  /// have descending ranks.
  private struct Levels {
    /// The indexes of all levels, one level after the other, ascending in each.
    private var order: [Int]
    private var starts: [Int]

    init(_ ranks: ArraySlice<Int32>) {
      var smallestEnd: [Int32] = []
      var levelOf: [Int32] = []
      levelOf.reserveCapacity(ranks.count)
      var steps = BudgetedSteps()
      for rank in ranks {
        // After the budget is spent, the result is discarded. The levels are right for the part that was read.
        guard steps.mayTake(16) else { break }
        var low = 0
        var high = smallestEnd.count
        if let last = smallestEnd.last, last < rank { low = high }
        while low < high {
          let middle = (low + high) / 2
          if smallestEnd[middle] < rank { low = middle + 1 } else { high = middle }
        }
        if low == smallestEnd.count { smallestEnd.append(rank) } else { smallestEnd[low] = rank }
        levelOf.append(Int32(low))
      }

      starts = [Int](repeating: 0, count: smallestEnd.count + 1)
      for level in levelOf { starts[Int(level) + 1] += 1 }
      for level in smallestEnd.indices { starts[level + 1] += starts[level] }
      var next = starts
      order = [Int](repeating: 0, count: ranks.count)
      for (offset, level) in levelOf.enumerated() {
        order[next[Int(level)]] = ranks.startIndex + offset
        next[Int(level)] += 1
      }
    }

    var count: Int { starts.count - 1 }
    subscript(level: Int) -> ArraySlice<Int> { order[starts[level]..<starts[level + 1]] }
  }

  /// For each element, the best subsequence that ends in it: one as long as the element's level, with the most
  /// preferred elements.
  private struct Choice {
    private let ranks: ArraySlice<Int32>
    private let prefers: ArraySlice<Bool>
    /// The number of preferred elements in the best subsequence that ends here, by index less `startIndex`.
    private var best: [Int32]
    /// The previous element in that subsequence, −1 at the first level.
    private var previous: [Int32]
    /// Candidates of the previous level, best descending. The maximum of a sliding window is its first element.
    private var window: [Int] = []

    init(ranks: ArraySlice<Int32>, prefers: ArraySlice<Bool>) {
      self.ranks = ranks
      self.prefers = prefers
      best = [Int32](repeating: 0, count: ranks.count)
      previous = [Int32](repeating: -1, count: ranks.count)
    }

    /// An element of the previous level can precede `index` if its index and its rank are smaller. Both ends of that
    /// run only advance while `index` does, so a level costs O(its size).
    mutating func extend(_ level: ArraySlice<Int>, after before: ArraySlice<Int>) {
      let base = ranks.startIndex
      var entering = before.startIndex
      var first = 0
      window.removeAll(keepingCapacity: true)
      for index in level {
        best[index - base] = prefers[index] ? 1 : 0
        guard !before.isEmpty else { continue }
        while entering < before.endIndex, before[entering] < index {
          let candidate = before[entering]
          while window.count > first, let last = window.last, best[last - base] <= best[candidate - base] {
            window.removeLast()
          }
          window.append(candidate)
          entering += 1
        }
        while ranks[window[first]] > ranks[index] { first += 1 }
        best[index - base] += best[window[first] - base]
        previous[index - base] = Int32(window[first] - base)
      }
    }

    func chain(endingIn lastLevel: ArraySlice<Int>) -> [Int] {
      let base = ranks.startIndex
      guard var index = lastLevel.first else { return [] }
      // Among equals, the last one is taken, as in `extend`. An end that is set aside must not change the choice.
      for candidate in lastLevel where best[candidate - base] >= best[index - base] { index = candidate }
      var chain = [index]
      while previous[index - base] >= 0 {
        index = Int(previous[index - base]) + base
        chain.append(index)
      }
      return chain
    }
  }
}
