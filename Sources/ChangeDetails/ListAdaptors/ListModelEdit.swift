/// One `items-changed` of a `GListModel`, or one splice of an array.
public struct ListModelEdit: Hashable, Sendable {
  /// The index of the first item that is removed or added.
  public var position: Int
  /// The number of items that leave at ``position``.
  public var removed: Int
  /// The number of items that come at ``position``.
  public var added: Int

  /// Creates the arguments of one `items-changed`.
  public init(position: Int, removed: Int, added: Int) {
    self.position = position
    self.removed = removed
    self.added = added
  }
}

extension FetchResultChangeDetails {
  /// The `items-changed` signals that take a `GListModel` from the list before to the one after. Each is valid when it
  /// is emitted in this order, and the list never contains an item twice. A change of an asset that keeps its place is
  /// a `notify` on the item, so it has no edit here.
  ///
  /// An edit adds the ids that the list after has at its positions.
  /// - Throws: ``Mismatch`` if the details contradict themselves.
  /// - Complexity: O(k log k) for k removed, inserted, moved and changed assets.
  public func listModelEdits() throws(Mismatch) -> [ListModelEdit] {
    let steps = try steps(for: countBefore)
    return steps.leaving.reversed().map { ListModelEdit(position: $0.start, removed: $0.count, added: 0) }
      + steps.filled.map { ListModelEdit(position: $0.start, removed: 0, added: $0.count) }
  }
}
