import ChangeDetails
import PhotoCatalog
import PhotoContract
import PhotoModel
import TestTools
import Varlink

/// Measures the time that photod needs for each observed list after a commit that changed one photo. As in the daemon,
/// this is the update of the list, the comparison with the list that was sent, its digest, and the message.
///
/// - Parameter paths: catalogs by ascending size, measured in turn. In the last one, up to 1,000 fetches are also
///   observed at once.
func observationFigures(rounds: Int, paths: [String]) throws -> Figures {
  var figures = Figures()
  var whole: [Observed] = []
  for path in paths { whole.append(try Observed(Catalog(path: path), [FetchOptions()])) }
  defer { for observed in whole { observed.close() } }
  for round in -3..<rounds {
    for observed in whole {
      try observed.changeDate(in: 0..<observed.count)
      let one = try observed.observe()
      try observed.changeFavorite()
      let favorite = try observed.observe()
      guard round >= 0 else { continue }
      figures.add("date, \(observed.count)", one)
      figures.add("favorite, \(observed.count)", favorite)
    }
  }
  // This takes long, so it is measured less often.
  for round in 0..<max(1, min(5, rounds / 20)) {
    for observed in whole {
      try observed.changeDate(in: 0..<observed.count)
      let anew = try observed.observeAnew()
      if round > 0 || rounds < 20 { figures.add("anew, \(observed.count)", anew) }
    }
  }
  guard let largest = whole.last else { return figures }
  for number in [1, 10, 100, 1_000] {
    // The photo stays among the newest 500, so each commit changes every list.
    let many = try Observed(largest.catalog, (0..<number).map { FetchOptions(fetchLimit: 1_000 + $0) })
    for round in -1..<max(1, rounds / (number < 100 ? 1 : 10)) {
      try many.changeDate(in: 0..<min(500, many.count))
      let milliseconds = try many.observe()
      if round >= 0 { figures.add("distinct, \(number)", milliseconds / Double(number)) }
    }
  }
  return figures
}

/// Lists as they were last sent to their observers.
final class Observed {
  let catalog: Catalog
  let count: Int
  private var lists: [(plan: FetchPlan, list: OrderedList)]
  private var sequence: Int64
  private var effects = CommitEffects()
  private var dice = SeededGenerator(seed: 11)

  init(_ catalog: Catalog, _ options: [FetchOptions]) throws {
    self.catalog = catalog
    (lists, sequence) = try catalog.read { reader in
      (
        try options.map { options in
          let plan = try reader.plan(options)
          return (plan, try reader.list(plan))
        }, try reader.sequence()
      )
    }
    count = lists[0].list.count
  }

  /// Closes the catalog. An error is ignored, because the figures are already recorded.
  func close() { _ = Result { try catalog.close() } }

  /// Gives a photo from this part of the first list the date of another photo in it, a moment later.
  func changeDate(in part: Range<Int>) throws {
    let entries = lists[0].list.entries
    let id = entries[Int.random(in: part, using: &dice)]
    let other = entries[Int.random(in: part, using: &dice)]
    try commit { writer in
      guard var content = try writer.content(of: id), let row = try writer.file(ofAsset: id),
        let date = try writer.content(of: other)?.creationDate
      else { return }
      content.creationDate = PhotoDate(
        microseconds: date.microseconds + Int64.random(in: 1...1_000, using: &dice), offsetMinutes: date.offsetMinutes)
      try writer.updateContent(content, file: row, hasNewBytes: true)
    }
  }

  func changeFavorite() throws {
    let id = lists[0].list.entries[Int.random(in: 0..<count, using: &dice)]
    try commit { writer in
      try writer.edit(id, AssetEdit(isFavorite: true))
      if writer.record.isEmpty { try writer.edit(id, AssetEdit(isFavorite: false)) }
    }
  }

  private func commit(_ body: (CatalogWriter) throws -> Void) throws {
    effects = try catalog.write { writer in
      try body(writer)
      try writer.append(origin: "watcher", date: .init(microseconds: 1_763_000_000_000_000))
      return try writer.effects(origin: "watcher")
    }
  }

  /// Observes a commit that another part of the measurement made.
  func observe(_ effects: CommitEffects) throws -> Double {
    self.effects = effects
    return try observe()
  }

  /// - Returns: milliseconds for all lists together.
  func observe() throws -> Double {
    try time { list, plan in
      if plan.concern(of: effects, in: list) < .list { return list }
      return try catalog.read { reader in
        try reader.list(plan, updating: list, of: sequence, effects: effects)
      }
    } details: { before, after in
      FetchResultChangeDetails.incremental(
        from: before.entries, to: after.entries, limit: after.limit, touched: effects.touched,
        placed: lists[0].plan.albumID.flatMap { effects.placed(inAlbum: $0) }.map(Array.init) ?? [])
    }
  }

  /// Observes as if photod kept only the ids that it has sent: it reads the list anew and compares it as a whole. This
  /// is the baseline of the measurement.
  func observeAnew() throws -> Double {
    try time { _, plan in
      try catalog.read { try $0.list(plan) }
    } details: { before, after in
      FetchResultChangeDetails.full(from: before.ids, to: after.ids, touched: effects.touched)
    }
  }

  private func time(
    _ update: (OrderedList, FetchPlan) throws -> OrderedList,
    details: (OrderedList, OrderedList) -> FetchResultChangeDetails?
  ) throws -> Double {
    let newest = try catalog.read { try $0.sequence() }
    var figures = Figures()
    var bytes = 0
    try figures.time("all") {
      for index in lists.indices {
        let before = lists[index].list
        let after = try update(before, lists[index].plan)
        let observation = Observation(
          token: catalog.token(newest).description, previousToken: catalog.token(sequence).description,
          count: after.count, digest: after.digest, origin: "watcher", details: details(before, after))
        bytes += try VarlinkEncoded(encoding: Reply(observation: observation)).byteCount
        lists[index].list = after
        guard observation.details != nil else { throw Unseen() }
      }
    }
    sequence = newest
    precondition(bytes > 0)
    return figures.values[0].milliseconds[0]
  }

  private struct Reply: Encodable { let observation: Observation }
  private struct Unseen: Error {}
}
