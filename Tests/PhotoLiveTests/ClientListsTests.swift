import PhotoModel
import Testing

@testable import PhotoCatalog
@testable import PhotoLive

/// The bound of all lists that calls of clients hold.
@Suite struct ClientListsTests {
  private let list = OrderedList(ids: Array(1...1_000))

  private func edited(_ list: OrderedList, removing id: AssetID) -> OrderedList {
    var list = list
    list.entries.remove(id)
    list.noteEdits(1)
    return list
  }

  @Test func aListCountsOnceAndAnEditedOneWithItsDifference() {
    let lists = ClientLists()
    let holders = (0..<5).map { ClientLists.Holder(process: $0) }
    for holder in holders { lists.hold(list, by: holder) }
    #expect(lists.byteCount == list.byteCount)
    let next = edited(list, removing: 5)
    let last = edited(next, removing: 6)
    lists.hold(last, by: holders[0])
    #expect(lists.byteCount == list.byteCount + 2 * OrderedList.bytesPerEdit)
    lists.hold(next, by: holders[1])
    #expect(lists.byteCount == list.byteCount + 2 * OrderedList.bytesPerEdit)
    // Without the first list, the second one holds what both shared.
    for holder in holders[2...] { lists.release(holder) }
    #expect(lists.byteCount == next.byteCount + OrderedList.bytesPerEdit)
    lists.hold(OrderedList(ids: Array(1...1_000)), by: holders[2])
    #expect(lists.byteCount == next.byteCount + OrderedList.bytesPerEdit + list.byteCount, "it was fetched anew")
    #expect(lists.isHeld(next) && !lists.isHeld(list))
    for holder in holders { lists.release(holder) }
    #expect(lists.byteCount == 0 && !lists.isHeld(next))
    #expect(holders.allSatisfy { !$0.isExpired })
  }

  @Test func theNewestOfTheBusiestProcessEnds() {
    let lists = ClientLists(maximumBytes: 20 * list.byteCount)
    func hold(_ process: Int32) -> ClientLists.Holder {
      let holder = ClientLists.Holder(process: process)
      lists.hold(OrderedList(ids: Array(1...1_000)), by: holder)
      return holder
    }
    let normal = (0..<5).map { _ in hold(1) }
    let hostile = (0..<15).map { _ in hold(2) }
    #expect(hostile.allSatisfy { !$0.isExpired })
    #expect(hold(2).isExpired)
    let next = hold(1)
    #expect(!next.isExpired && hostile[14].isExpired && !hostile[13].isExpired)
    // A list that grows counts with its new size, and its observation keeps its age.
    lists.hold(OrderedList(ids: Array(1...1_500)), by: hostile[0])
    #expect(!hostile[0].isExpired && hostile[13].isExpired && !hostile[12].isExpired)
    #expect(normal.allSatisfy { !$0.isExpired } && lists.byteCount <= 20 * list.byteCount)
    // What an expired observation still does is not counted.
    let bytes = lists.byteCount
    lists.hold(list, by: hostile[14])
    #expect(lists.byteCount == bytes)
  }

  @Test func tenListsAreAllowedInALibraryOfAnySize() {
    let lists = ClientLists(maximumBytes: 1)
    let holders = (0..<11).map { _ in ClientLists.Holder(process: 1) }
    for holder in holders { lists.hold(OrderedList(ids: Array(1...1_000)), by: holder) }
    #expect(holders.map(\.isExpired) == Array(repeating: false, count: 10) + [true])
  }

  @Test func idsOfAClientCountUntilItsFirstList() {
    let lists = ClientLists(maximumBytes: 100_000)
    let holder = ClientLists.Holder(process: 1)
    lists.hold(byteCount: 8 * 12_000, by: holder)
    #expect(lists.byteCount == 96_000)
    let others = (0..<20).map { _ in ClientLists.Holder(process: 2) }
    for other in others { lists.hold(byteCount: 8 * 96_000, by: other) }
    #expect(!holder.isExpired && others[9...].allSatisfy(\.isExpired))
    lists.hold(list, by: holder)
    for other in others { lists.release(other) }
    #expect(lists.byteCount == list.byteCount)
  }

  /// The newest list of a fetch may have been fetched for an observation that has ended since.
  @Test func theNewestListIsBoundedIfOnlyOlderOnesAreHeld() throws {
    let library = try FilledCatalog(count: 1_000)
    let lists = library.lists()
    let plan = try library.plan(.init())
    let (slow, fast) = (ClientLists.Holder(process: 1), ClientLists.Holder(process: 2))
    for holder in [slow, fast] {
      lists.beginObserving(plan)
      lists.held.hold(try lists.current(plan).list, by: holder)
    }
    try library.insert()
    let newest = try lists.current(plan)
    lists.held.hold(newest.list, by: fast)
    let before = lists.keptBytes
    lists.held.release(fast)
    lists.endObserving(plan)
    #expect(lists.keptBytes >= before + newest.list.byteCount)
    #expect(try lists.current(plan).ids == newest.ids)
    // The next list is held by the observation that asks for it.
    try library.insert()
    lists.held.hold(try lists.current(plan).list, by: slow)
    #expect(lists.keptBytes < before + newest.list.byteCount)
    lists.held.release(slow)
    lists.endObserving(plan)
    #expect(lists.held.byteCount == 0)
  }
}
