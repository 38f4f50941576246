import PhotoContract
import PhotoModel
import Testing
import Varlink

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// The cost of many observers of one fetch.
@Suite struct SharedDifferenceTests {
  @Test func differenceOfAThousandObserversIsMadeOnce() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(500)
    var observers = try await Observers(fixture, count: 1_000)
    let before = fixture.live.lists.countsSinceStart
    let readCount = fixture.reads.threads.begunCount
    try fixture.insert(3)
    try fixture.delete([ids[7]])
    try await observers.advance()
    #expect(fixture.differences.counts == .init(made: 1, shared: 999))
    #expect(fixture.live.lists.countsSinceStart.looks == before.looks + 1)
    #expect(fixture.live.commits.readCount == 0, "history is not read")
    #expect(fixture.reads.threads.begunCount == readCount + 1, "the others need no thread")
    let list = try fixture.ids()
    for index in 0..<1_000 {
      let (sent, first) = (observers.sent[index], observers.sent[0])
      #expect(sent.count == 2 && sent[1] == first[1] && observers.encoded[index][1] == observers.encoded[0][1])
    }
    #expect(try observers.sent[0][1].details?.applied(to: observers.sent[0][0].ids ?? []) == list)
    // This commit does not change their list.
    try fixture.commit { $0.record.update(collection: 1_000) }
    try await observers.advance()
    #expect(observers.sent.allSatisfy { $0.count == 2 })
    #expect(fixture.differences.counts == .init(made: 2, shared: 1_998))
    #expect(fixture.live.lists.countsSinceStart.looks == before.looks + 1)
  }

  /// Observers that did not read get one difference of their own, and then the same one as all others.
  @Test func observersWithDifferentListsShareNothing() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(50)
    var observers = try await Observers(fixture, count: 30)
    try fixture.insert()
    try await observers.advance(0..<10)
    try fixture.insert()
    try await observers.advance()
    #expect(fixture.differences.counts == .init(made: 3, shared: 9 + 9 + 19))
    #expect(observers.sent[0].count == 3 && observers.sent[10].count == 2)
    try fixture.insert()
    try await observers.advance()
    // Their tokens are the same now.
    #expect(fixture.differences.counts == .init(made: 4, shared: 9 + 9 + 19 + 29))
    let list = try fixture.ids()
    for sent in observers.sent {
      var ids = sent[0].ids ?? []
      for next in sent.dropFirst() { ids = try #require(try next.details?.applied(to: ids)) }
      #expect(ids == list)
    }
  }

  @Test func observersThatWantObjectsGetThem() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(5)
    var plain = try await Observers(fixture, count: 3)
    var whole = try await Observers(fixture, count: 3, ObserveRequest(objects: true))
    let new = try fixture.insert()
    try await plain.advance()
    try await whole.advance()
    #expect(fixture.differences.counts == .init(made: 2, shared: 4))
    #expect(plain.sent.allSatisfy { $0.last?.insertedAssets == nil })
    #expect(whole.sent.allSatisfy { $0.last?.insertedAssets?.map(\.id) == new })
  }

  @Test func memoryIsBounded() throws {
    let differences = SharedDifferences(maximumBytes: 100_000)
    let encoded = try VarlinkEncoded(encoding: ["text": String(repeating: "t", count: 4_000)])
    for round in 0..<1_000 as Range<Int64> {
      let key = SharedDifferences.Key(plan: "p", previousToken: "t", after: round, through: round + 1, objects: false)
      let made = ListDifference(observation: nil, encoded: encoded, changeCount: 1)
      for _ in 0..<2 { #expect(try differences.difference(key) { made }.encoded == encoded) }
      #expect(differences.byteCount <= 100_000)
    }
    #expect(differences.counts == .init(made: 1_000, shared: 1_000) && differences.byteCount > 50_000)
  }

  /// The details of a difference that is too large may be as long as the list, and they are never sent.
  @Test func detailsThatAreTooLargeAreNotKept() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(2_000)
    var observers = try await Observers(fixture, count: 2)
    let after = observers.observations[0].checkedSequence
    try fixture.commit { writer in
      for id in ids where id.rawValue % 2 == 0 {
        try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
      }
    }
    try await observers.advance()
    #expect(observers.sent.allSatisfy { $0.last?.reload == .tooManyChanges })
    #expect(fixture.differences.counts == .init(made: 1, shared: 1))
    let first = observers.observations[0]
    let key = SharedDifferences.Key(
      plan: first.plan.key, previousToken: observers.sent[0][0].token, after: after, through: first.checkedSequence,
      objects: false)
    let kept = try #require(fixture.differences.made(key))
    #expect(kept.encoded == nil && kept.changeCount == 1_000)
    #expect(kept.observation != nil && kept.observation?.details == nil)
  }

  @Test func aFailedDifferenceIsRetried() throws {
    struct Failure: Error {}
    let differences = SharedDifferences()
    let key = SharedDifferences.Key(plan: "p", previousToken: "t", after: 1, through: 2, objects: false)
    #expect(throws: Failure.self) { try differences.difference(key) { throw Failure() } }
    #expect(try differences.difference(key) { .none }.changeCount == 0)
    #expect(differences.counts == .init(made: 1, shared: 0))
  }

  @Test func concurrentCallersShareOneComputation() async throws {
    let differences = SharedDifferences()
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<500 as Range<Int64> {
            let key = SharedDifferences.Key(
              plan: "p", previousToken: "t", after: round, through: round + 1, objects: false)
            let difference = try differences.difference(key) {
              ListDifference(observation: nil, encoded: nil, changeCount: Int(round))
            }
            #expect(difference.changeCount == Int(round), "task \(task)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(differences.counts == .init(made: 500, shared: 3_500))
  }

  @Test func pagesOfAListForManyObserversAreMadeOnce() {
    let pages = SharedPages(maximumBytes: 5_000)
    let list = SharedPages.List(plan: "p", token: "l.1.9")
    let other = SharedPages.List(plan: "p", token: "l.2.9")
    func page(_ list: SharedPages.List, at position: Int) -> Observation {
      pages.page(of: list, at: position) {
        let observation = Observation(token: "t", count: 9, digest: "d", offset: position, ids: [AssetID(position)])
        return SharedPages.Page(observation: observation, encoded: VarlinkEncoded(observation))
      }.observation
    }
    for _ in 0..<3 { pages.beginReading(list) }
    pages.beginReading(other)
    for _ in 0..<3 { #expect(page(list, at: 0).ids == [0] && page(list, at: 1).ids == [1]) }
    #expect(pages.madeCount == 2)
    #expect(page(other, at: 0).offset == 0 && pages.madeCount == 3, "of another commit")
    for position in 2..<100 { #expect(page(list, at: position).offset == position) }
    #expect(pages.byteCount <= 5_000)
    for _ in 0..<2 { pages.endReading(list) }
    let madeCount = pages.madeCount
    #expect(page(list, at: 1).ids == [1] && pages.madeCount == madeCount)
    pages.endReading(list)
    pages.endReading(other)
    #expect(pages.byteCount == 0, "nobody is sent them")
  }
}
