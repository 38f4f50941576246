import Testing
import WatchRecords

@testable import PhotoIndexer

@Suite struct RecentPlacesTests {
  private static func found(_ number: DirectoryNumber, in parent: DirectoryNumber, _ name: String) -> WatchRecord {
    .directoryFound(
      number: number, parent: parent, root: 1, name: Array(name.utf8),
      identity: FileIdentity(device: 1, inode: 1, birthTime: 1))
  }

  private func text(_ places: inout RecentPlaces, _ number: DirectoryNumber) -> String? {
    places.path(of: number).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func pathFollowsTheRecords() {
    var places = RecentPlaces()
    for record in [Self.found(1, in: 0, "/p"), Self.found(2, in: 1, "a"), Self.found(3, in: 2, "b")] {
      let isOfDirectory = places.note(.init(record))
      #expect(isOfDirectory)
    }
    #expect(text(&places, 3) == "/p/a/b/")
    _ = places.note(.init(.directoryMoved(number: 3, parent: 1, name: Array("c".utf8))))
    #expect(text(&places, 3) == "/p/c/")
    _ = places.note(.init(.directoryGone(number: 1, evidence: .event)))
    #expect(text(&places, 3) == nil)
    let missing = places.missing(above: 3)
    #expect(missing == 1)
  }

  @Test func recordIsNewerThanTheCatalog() {
    var places = RecentPlaces()
    _ = places.note(.init(Self.found(1, in: 0, "/p")))
    _ = places.note(.init(.directoryMoved(number: 2, parent: 1, name: Array("new".utf8))))
    places.add(DirectoryPlace(number: 2, parent: 1, name: Array("old".utf8)))
    #expect(text(&places, 2) == "/p/new/")
  }

  /// photod-watch reports more directories than fit. The directories that are in use stay.
  @Test func numberOfPlacesIsBounded() {
    var places = RecentPlaces(limit: 10)
    _ = places.note(.init(Self.found(1, in: 0, "/p")))
    for number in 2...1_000 as ClosedRange<DirectoryNumber> {
      _ = places.note(.init(Self.found(number, in: 1, "\(number)")))
      #expect(text(&places, number) == "/p/\(number)/")
      #expect(places.count <= 20)
    }
    #expect(text(&places, 500) == nil && text(&places, 1_000) == "/p/1000/")
  }

  /// Records that contradict each other end no search.
  @Test func directoryInItselfHasNoPath() {
    var places = RecentPlaces()
    _ = places.note(.init(Self.found(1, in: 2, "a")))
    _ = places.note(.init(Self.found(2, in: 1, "b")))
    #expect(text(&places, 1) == nil)
    let missing = places.missing(above: 1)
    #expect(missing == nil)
  }
}
