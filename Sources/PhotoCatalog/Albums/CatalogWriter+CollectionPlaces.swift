import GRDB
import PhotoModel

// The places of the collections that a person made.
//
// The collections of one folder are ordered by rank, and then by title. All of them have rank 0 until a client places
// one of them before another one. Then all of them get ranks, which are whole numbers from 1 on with gaps. A collection
// that is placed between two others gets a rank between theirs. If there is none, some neighbours get new ranks (see
// `makeRoom`).

extension CatalogWriter {
  /// How deep folders may be nested. A journal may have deeper ones, which stay.
  static let mostLevels = 32

  /// The distance of ranks at the end of a folder.
  private static let gap = 1_048_576.0
  /// The rank of the first collection of a folder that gets ranks. A million others can be placed before it.
  private static let firstRank = gap * gap

  /// Moves a collection to a folder, and to a place in it.
  ///
  /// - Complexity: O(log n) for n collections in the folder, if their ranks have room. O(n) if they have no ranks yet.
  package func move(collection id: CollectionID, to place: CollectionPlacement) throws {
    guard let held = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    let parentID: CollectionID? =
      switch place.parent {
      case .same: held.parentID
      case .top: nil
      case .folder(let folder): folder
      }
    try checkFolder(parentID)
    if parentID != held.parentID { try checkMove(of: held, to: parentID) }
    switch place.position {
    case .end: try setPlace(of: held, in: parentID, before: nil)
    case .before(let next):
      guard let other = try userCollection(next), next != id else {
        throw CollectionChangeError.noSuchCollection(next)
      }
      guard other.parentID == parentID else {
        throw CollectionChangeError.rejected(
          "'\(other.title)' (id:\(next)) is in another folder. Name a collection of the folder, or none for its end.")
      }
      try setPlace(of: held, in: parentID, before: other)
    }
  }

  /// Places a collection in a folder, before another one of the folder or at its end.
  func setPlace(of held: UserCollection, in parentID: CollectionID?, before next: UserCollection?) throws {
    if parentID == held.parentID, try isInPlace(held, before: next) { return }
    // Without ranks, the titles decide which collection comes next, so it is not recorded.
    let oldNext =
      held.rank == 0
      ? nil : try siblings(in: held.parentID, "> ?2", held.rank, besides: held.id, limit: 1).first?.id
    var collection = held
    collection.parentID = parentID
    collection.rank =
      try next.map { try rank(before: $0, besides: held.id) } ?? lastRank(in: parentID, besides: held.id)
    guard collection != held else { return }
    let commit = try nextSequence()
    recording?.noteMove(of: held.id, .init(next: oldNext, before: try placed(held.id), after: commit))
    try setPlaced(commit, held.id)
    try write(collection)
    noteMovedFolder(collection)
  }

  /// Whether a collection with a rank is directly before another one of its folder, or a collection is at its end.
  private func isInPlace(_ held: UserCollection, before next: UserCollection?) throws -> Bool {
    guard let next else {
      let last = try siblings(in: held.parentID, "<= ?2", .greatestFiniteMagnitude, besides: held.id, limit: 1).first
      // Without ranks, the order is that of the titles, whatever is placed at the end.
      return held.rank != 0 && last.map { $0.rank < held.rank } ?? true || held.rank == 0 && (last?.rank ?? 0) == 0
    }
    guard held.rank >= 1, held.rank < next.rank else { return false }
    let between = try siblings(in: held.parentID, "< ?2", next.rank, besides: held.id, limit: 1).first
    let equal = try siblings(in: held.parentID, "= ?2", next.rank, besides: next.id, limit: 1)
    return equal.isEmpty && between.map { $0.rank < held.rank } ?? true
  }

  // MARK: - Ranks

  /// The rank for a collection that is placed at the end of a folder. If the collections of the folder have no ranks,
  /// it is 0, and the title decides the place.
  func lastRank(in parentID: CollectionID?, besides id: CollectionID = 0) throws -> Double {
    let last = try siblings(in: parentID, "<= ?2", .greatestFiniteMagnitude, besides: id, limit: 1).first?.rank ?? 0
    return last == 0 ? 0 : last + Self.gap
  }

  /// A rank between a collection and the one before it.
  private func rank(before next: UserCollection, besides id: CollectionID) throws -> Double {
    let parentID = next.parentID
    var end = next.rank
    // Equal ranks are those of collections without positions.
    let equal = try siblings(in: parentID, "= ?2", end, besides: id, limit: 2)
    if end < 1 || equal.count > 1 { end = try spread(parentID, besides: id)[next.id] ?? end }
    if let last = try siblings(in: parentID, "< ?2", end, besides: id, limit: 1).first?.rank {
      let step = ((end - last) / 2).rounded(.down)
      return step >= 1 ? last + step : try makeRoom(before: next, end, besides: id)
    }
    if end - Self.gap < 1 { end = try spread(parentID, besides: id)[next.id] ?? end }
    return end - Self.gap
  }

  /// Gives the neighbours of a place new ranks with equal distances, and returns the rank for the place itself. The
  /// method is that of the assets of an album (`makeRoom(for:inAlbum:before:)`).
  private func makeRoom(before next: UserCollection, _ rank: Double, besides id: CollectionID) throws -> Double {
    let parentID = next.parentID
    var width = 64
    while true {
      let below = try siblings(in: parentID, "< ?2", rank, besides: id, limit: width + 1)
      let above = try siblings(in: parentID, ">= ?2", rank, besides: id, limit: width + 1)
      let (lower, upper) = (Array(below.prefix(width).reversed()), Array(above.prefix(width)))
      let all = lower + upper
      let areDifferent = zip(all, all.dropFirst()).allSatisfy { $0.rank < $1.rank }
      guard areDifferent, below.count > width, above.count > width else {
        let ranks = try spread(parentID, besides: id)
        return (ranks[next.id] ?? rank) - Self.gap / 2
      }
      let step = ((above[width].rank - below[width].rank) / Double(all.count + 2)).rounded(.down)
      guard step >= 4_096 else {
        width *= 2
        continue
      }
      let from = below[width].rank
      for (index, member) in lower.enumerated() { try setRank(from + Double(index + 1) * step, of: member.id) }
      let place = from + Double(lower.count + 1) * step
      for (index, member) in upper.enumerated() { try setRank(place + Double(index + 1) * step, of: member.id) }
      return place
    }
  }

  /// Gives all collections of a folder except one new ranks with gaps, in their order.
  ///
  /// - Parameter id: the collection that keeps its rank, because it is about to be placed.
  /// - Complexity: O(n log n) for n collections in the folder.
  /// - Returns: the new ranks.
  private func spread(_ parentID: CollectionID?, besides id: CollectionID) throws -> [CollectionID: Double] {
    var ranks: [CollectionID: Double] = [:]
    var rank = Self.firstRank
    for sibling in try userCollections(in: parentID) where sibling.id != id {
      try setRank(rank, of: sibling.id)
      ranks[sibling.id] = rank
      rank += Self.gap
    }
    return ranks
  }

  private func setRank(_ rank: Double, of id: CollectionID) throws {
    guard var collection = try userCollection(id), collection.rank != rank else { return }
    collection.rank = rank
    try write(collection)
    noteMovedFolder(collection)
  }

  /// The collections of a folder whose ranks fulfil a condition, those nearest to the rank first.
  ///
  /// - Parameter comparison: the comparison of the rank with `?2`.
  private func siblings(
    in parentID: CollectionID?, _ comparison: String, _ rank: Double, besides id: CollectionID, limit: Int
  ) throws -> [(id: CollectionID, rank: Double)] {
    let order = comparison.hasPrefix("<") ? "DESC" : "ASC"
    let select = try RawStatement(
      database,
      "SELECT id, rank FROM collection WHERE (\(Self.isOfUser)) AND parent_id IS \(parentID == nil ? "NULL" : "?1") "
        + "AND rank \(comparison) AND id <> ?3 ORDER BY rank \(order) LIMIT ?4")
    if let parentID { select.bind(1, parentID) }
    select.bind(2, rank)
    select.bind(3, id)
    select.bind(4, limit)
    var found: [(id: CollectionID, rank: Double)] = []
    try select.forEachRow { found.append((select.collectionID(0), select.double(1))) }
    return found
  }

  /// Whether the other collections of a folder have ranks.
  func hasPositions(_ parentID: CollectionID?, besides id: CollectionID) throws -> Bool {
    try lastRank(in: parentID, besides: id) != 0
  }

  /// The sequence of the commit that placed a collection; 0 if it is unknown.
  func placed(_ id: CollectionID) throws -> Int64 {
    let select = try RawStatement(database, "SELECT placed FROM collection WHERE id = ?")
    select.bind(1, id)
    return try select.firstRow { select.int64(0) } ?? 0
  }

  func setPlaced(_ placed: Int64, _ id: CollectionID) throws {
    let update = try RawStatement(database, "UPDATE collection SET placed = ? WHERE id = ?")
    update.bind(1, placed)
    update.bind(2, id)
    try update.run()
  }

  // MARK: - Levels

  /// Rejects a folder that would be nested too deep.
  ///
  /// - Parameter height: the number of levels that the folder takes, with the folders in it.
  func checkLevels(of title: String, height: Int, in parentID: CollectionID?) throws {
    guard try levels(above: parentID) + height > Self.mostLevels else { return }
    throw CollectionChangeError.rejected(
      "The folder '\(title)' can't be there, because folders can be nested \(Self.mostLevels) deep. Choose a folder nearer to the top level."
    )
  }

  private func checkMove(of collection: UserCollection, to parentID: CollectionID?) throws {
    guard collection.kind == .folder, let parentID else { return }
    guard try !folders(above: parentID).contains(collection.id) else {
      throw CollectionChangeError.rejected(
        "The folder '\(collection.title)' can't be moved into itself, or into a folder that is in it. Choose another folder."
      )
    }
    try checkLevels(of: collection.title, height: try height(of: collection.id), in: parentID)
  }

  /// The number of levels that a folder takes, with the folders in it. It is not counted above the limit.
  func height(of folder: CollectionID) throws -> Int {
    var (height, level): (Int, Set<CollectionID>) = (0, [folder])
    while !level.isEmpty, height <= Self.mostLevels {
      height += 1
      level = Set(try level.flatMap { try userCollections(in: $0) }.filter { $0.kind == .folder }.map(\.id))
    }
    return height
  }

  /// The number of levels that a folder and those that contain it take. It is 0 for the top level.
  func levels(above folder: CollectionID?) throws -> Int { try folder.map { try folders(above: $0).count } ?? 0 }

  /// A folder, and all folders that contain it. The search also ends if the folders form a cycle, which only another
  /// program can make.
  func folders(above id: CollectionID) throws -> Set<CollectionID> {
    var found: Set<CollectionID> = []
    var folder: CollectionID? = id
    while let id = folder, found.insert(id).inserted { folder = try userCollection(id)?.parentID }
    return found
  }

  func noteMovedFolder(_ collection: UserCollection) {
    if collection.kind == .folder { movedFolders.insert(collection.id) }
  }

  /// Records all collections in moved folders as updated, because their place in the list follows from their folder. A
  /// call does this once, after all of its changes.
  func recordMovedFolders() throws {
    guard !movedFolders.isEmpty else { return }
    let folders = movedFolders
    movedFolders = []
    for collection in try collections(below: folders) { record.update(collection: collection.id) }
  }
}
