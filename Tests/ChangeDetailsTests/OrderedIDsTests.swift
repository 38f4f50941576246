import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct OrderedIDsTests {
  private static let small = OrderedIDs.Shape(leaf: 4, inner: 8)

  /// The same list, implemented with plain arrays.
  private struct Model: Hashable {
    var ids: [AssetID] = []
    var keys: [UInt64] = []

    mutating func insert(_ id: AssetID, _ key: UInt64, at position: Int) {
      ids.insert(id, at: position)
      keys.insert(key, at: position)
    }

    mutating func remove(_ id: AssetID) -> Int? {
      guard let position = ids.firstIndex(of: id) else { return nil }
      ids.remove(at: position)
      keys.remove(at: position)
      return position
    }
  }

  private func requireEqual(_ list: OrderedIDs, _ model: Model, _ place: @autoclosure () -> String) throws {
    try #require(list.brokenInvariant() == nil, "\(place())")
    try #require(list.count == model.ids.count && list.isEmpty == model.ids.isEmpty, "\(place())")
    try #require(Array(list) == model.ids, "\(place())")
    try #require(list.ids(in: 0..<list.count) == model.ids, "\(place())")
    try #require(list.digest == ListDigest(of: model.ids), "\(place())")
  }

  /// Compares every read, at random positions.
  private func requireReads(_ list: OrderedIDs, _ model: Model, _ generator: inout SeededGenerator, _ place: String)
    throws
  {
    let length = Int.random(in: 0...model.ids.count, using: &generator)
    try #require(list.digest(ofFirst: length) == ListDigest(of: model.ids[..<length]), "\(place)")
    let start = Int.random(in: 0...length, using: &generator)
    try #require(list.ids(in: start..<length) == Array(model.ids[start..<length]), "\(place)")
    let key = UInt64.random(in: 0...60, using: &generator)
    let equal = (model.keys.count { $0 < key })..<(model.keys.count { $0 <= key })
    try #require(list.positions(forKey: key) == equal, "\(place)")
    for position in [start, length] where position < model.ids.count {
      try #require(list[position] == model.ids[position] && list.key(at: position) == model.keys[position], "\(place)")
      try #require(list.position(of: model.ids[position]) == position, "\(place)")
    }
    let id = AssetID.random(in: -1...2_000, using: &generator)
    try #require(list.contains(id) == model.ids.contains(id), "\(place)")
    try #require(list.position(of: id) == model.ids.firstIndex(of: id), "\(place)")
  }

  /// Grows, shrinks and grows the list again. The nodes are small enough that every split, join and evening out
  /// happens. Copies that were kept on the way must be unchanged in everything that can be read.
  ///
  /// If only quick tests run, each shape of the nodes has one seed.
  @Test(arguments: TestTier.isWhole ? Array(1...16) : [1, 3, 8])
  func agreesWithAnArrayThroughAnyScript(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let shape =
      seed % 3 == 0 ? OrderedIDs.Shape(leaf: 7, inner: 9) : seed % 8 == 0 ? OrderedIDs.Shape.usual : Self.small
    var list = OrderedIDs(shape: shape)
    var model = Model()
    var kept: [(OrderedIDs, Model)] = []
    for step in 0..<1_200 {
      let place = "seed \(seed), step \(step)"
      let grows = step / 300 % 2 == 0
      let id = AssetID.random(in: 0...1_500, using: &generator)
      if model.ids.contains(id) || generator.once(in: grows ? 8 : 2) || (!grows && model.ids.count > 400) {
        let gone = generator.once(in: 3) ? id : model.ids.randomElement(using: &generator) ?? id
        try #require(list.remove(gone) == model.remove(gone), "\(place)")
      } else {
        let position =
          seed % 4 == 1
          ? (step % 50 == 0 ? 0 : model.ids.count) : Int.random(in: 0...model.ids.count, using: &generator)
        let key = position == 0 ? (model.keys.first ?? 30) : model.keys[position - 1]
        let top = position == model.keys.count ? min(60, key + 1) : model.keys[position]
        let own = UInt64.random(in: min(key, top)...max(key, top), using: &generator)
        list.insert(id, key: own, at: position)
        model.insert(id, own, at: position)
      }
      try requireReads(list, model, &generator, place)
      if step % 10 == 0 { try requireEqual(list, model, place) }
      if generator.once(in: 25) { kept.append((list, model)) }
    }
    for (index, (list, model)) in kept.enumerated() {
      try requireEqual(list, model, "seed \(seed), copy \(index)")
      for _ in 0..<10 { try requireReads(list, model, &generator, "seed \(seed), copy \(index)") }
    }
  }

  @Test func everyListOfAFewIsBuiltAndEmptiedInEveryOrder() throws {
    for count in 0...40 {
      let ids = (0..<count).map { AssetID($0 * 7 % 41) }
      let keys = (0..<count).map { UInt64($0 / 3) }
      let built = OrderedIDs(ids: ids, keys: keys, shape: Self.small)
      try requireEqual(built, Model(ids: ids, keys: keys), "\(count) built")
      for direction in 0..<3 {
        var list = built
        var model = Model(ids: ids, keys: keys)
        while !model.ids.isEmpty {
          let id = model.ids[direction == 0 ? 0 : direction == 1 ? model.ids.count - 1 : model.ids.count / 2]
          try #require(list.remove(id) == model.remove(id))
          try requireEqual(list, model, "\(count) of direction \(direction)")
        }
        try #require(list.remove(1) == nil)
        list.insert(5, key: 1, at: 0)
        try requireEqual(list, Model(ids: [5], keys: [1]), "\(count) of direction \(direction)")
      }
      try requireEqual(built, Model(ids: ids, keys: keys), "\(count) afterwards")
    }
  }

  /// Nodes of the usual size, at the counts where they fill, split and get a parent.
  @Test func sizesAroundALeafHold() throws {
    for count in [0, 1, 2, 223, 224, 225, 255, 256, 257, 447, 448, 449, 12_544, 12_545] {
      let ids = (0..<count).map { AssetID($0 ^ 85) }
      let keys = (0..<count).map { UInt64($0 / 3) }
      let model = Model(ids: ids, keys: keys)
      try requireEqual(OrderedIDs(ids: ids, keys: keys), model, "\(count) built")
      var grown = OrderedIDs()
      for (position, id) in ids.enumerated() { grown.insert(id, key: keys[position], at: position) }
      try requireEqual(grown, model, "\(count) appended")
      var fromTheFront = OrderedIDs()
      for (position, id) in ids.enumerated().reversed() { fromTheFront.insert(id, key: keys[position], at: 0) }
      try requireEqual(fromTheFront, model, "\(count) put before")
      for id in ids { grown.remove(id) }
      try requireEqual(grown, Model(), "\(count) removed")
    }
  }

  @Test func aPlaceIsFoundByKeyAndByIdWhichBreaksTies() throws {
    var generator = SeededGenerator(seed: 5)
    for ascending in [true, false] {
      var list = OrderedIDs(shape: Self.small)
      var entries: [(key: UInt64, id: AssetID)] = []
      for id in (1...300 as ClosedRange<AssetID>).shuffled(using: &generator) {
        let key = UInt64.random(in: 0...9, using: &generator)
        list.insert(id, key: key, at: list.position(forKey: key, id: id, ascending: ascending))
        entries.append((key, id))
      }
      entries.sort { $0.key != $1.key ? $0.key < $1.key : ascending ? $0.id < $1.id : $0.id > $1.id }
      #expect(Array(list) == entries.map(\.id))
      for (position, entry) in entries.enumerated() {
        #expect(list.position(forKey: entry.key, id: entry.id, ascending: ascending) == position)
      }
      #expect(list.positions(forKey: 10) == 300..<300)
    }
  }

  @Test func idsMayBeFarApart() throws {
    let (far, farther): (AssetID, AssetID) = (1_048_576, 1_099_511_627_776)
    let ids = [farther, 3, .max, 0, far]
    var list = OrderedIDs(ids: ids)
    try requireEqual(list, Model(ids: ids, keys: [0, 0, 0, 0, 0]), "built")
    #expect(list.position(of: .max) == 2 && list.position(of: farther + 1) == nil && list.position(of: -1) == nil)
    list.remove(.max)
    try requireEqual(list, Model(ids: [farther, 3, 0, far], keys: [0, 0, 0, 0]), "removed")
  }

  @Test func anAlbumKeepsItsOwnOrder() {
    var album = OrderedIDs(ids: [9, 3, 7])
    album.insert(5, key: 0, at: 1)
    #expect(Array(album) == [9, 5, 3, 7])
    #expect(album.position(of: 7) == 3 && album.positions(forKey: 0) == 0..<4)
    #expect(album.isIdentical(to: album) && !album.isIdentical(to: OrderedIDs(ids: [9, 5, 3, 7])))
  }

  @Test func numbersOfNodesAreUsedAgain() {
    var list = OrderedIDs(shape: Self.small)
    for round in 0..<50 {
      for id in 0..<200 { list.insert(AssetID(round * 200 + id), key: 0, at: id) }
      for id in 0..<200 { list.remove(AssetID(round * 200 + id)) }
    }
    #expect(list.root.number < 200)
    #expect(list.byteCount < 10_000)
  }

  /// A copy of a list costs only the changes since, whatever its size. This property justifies the tree.
  @Test func aThousandSnapshotsCostTheirPathsAlone() {
    let count = 200_000
    var generator = SeededGenerator(seed: 3)
    var list = OrderedIDs(ids: (0..<count).map(AssetID.init), keys: (0..<UInt64(count)).map { $0 })
    let whole = list.byteCount
    #expect(whole < count * 25)
    var snapshots: [OrderedIDs] = []
    for _ in 0..<1_000 {
      snapshots.append(list)
      let id = AssetID(Int.random(in: 0..<count, using: &generator))
      let key = UInt64.random(in: 0..<UInt64(count), using: &generator)
      list.remove(id)
      list.insert(id, key: key, at: list.positions(forKey: key).upperBound)
    }
    let all = list.byteCount(besides: snapshots)
    #expect(all < 25_000, "one change more: \(all) bytes")
    let kept = snapshots.reduce(into: (bytes: 0, last: list)) { sum, snapshot in
      sum.bytes += snapshot.byteCount(besides: [sum.last])
      sum.last = snapshot
    }
    #expect(kept.bytes - whole < 1_000 * 25_000)
  }

  @Test func aCopyIsUnchangedWhileItIsReadInAnotherThread() async {
    // Other threads read copies while the list goes on changing.
    var list = OrderedIDs(ids: Array(0..<2_000), keys: [UInt64](repeating: 0, count: 2_000), shape: Self.small)
    await withTaskGroup(of: Bool.self) { group in
      for step in 0..<200 {
        let copy = list
        let model = Array(copy)
        group.addTask { Array(copy) == model && copy.digest == ListDigest(of: model) }
        list.remove(AssetID(step * 7))
        list.insert(AssetID(10_000 + step), key: 0, at: step * 5)
      }
      for await isUnchanged in group { #expect(isUnchanged) }
    }
  }
}
