import Foundation

/// A grid that prints its cells, in place of the collection view of a user interface. It has the same rules: a batch names
/// the deleted and moved cells by their indexes before it, and the inserted cells by their indexes after it.
struct TextGrid {
  /// The changes of one batch. A position is in one of its parts only.
  struct Batch {
    /// Indexes of the grid before.
    var deletions = RangeSet<Int>()
    /// The new cells by their index in the grid after.
    var insertions: [Int: String] = [:]
    /// The indexes in the grid before, by those in the grid after.
    var moves: [Int: Int] = [:]
  }

  private var cells: [String] = []

  mutating func reload(_ cells: [String]) {
    self.cells = cells
    show("reload: \(cells.count) photos")
  }

  mutating func performBatchUpdates(_ batch: Batch) {
    let origins = Set(batch.moves.values)
    var staying = cells.indices.filter { !batch.deletions.contains($0) && !origins.contains($0) }[...]
    let count = staying.count + batch.insertions.count + batch.moves.count
    cells = (0..<count).map { index in
      if let cell = batch.insertions[index] { return cell }
      if let origin = batch.moves[index] { return cells[origin] }
      return cells[staying.removeFirst()]
    }
    let deleted = batch.deletions.ranges.reduce(0) { $0 + $1.count }
    show("batch: \(deleted) removed, \(batch.insertions.count) inserted, \(batch.moves.count) moved")
  }

  /// Shows cells again, by their indexes.
  mutating func reconfigure(_ updates: [Int: String]) {
    guard !updates.isEmpty else { return }
    for (index, cell) in updates { cells[index] = cell }
    show("changed: \(updates.count)")
  }

  private func show(_ event: String) {
    print(event)
    print(cells.isEmpty ? "(no photos)" : cells.joined(separator: " "))
    // Output into a pipe would otherwise be kept until there is much of it.
    fflush(nil)
  }
}
