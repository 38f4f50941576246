import Testing
import WatchRecords

@testable import PhotoIndexer

@Suite struct WatchStateTests {
  private let nfs = PollingReason.fileSystem(name: Array("nfs4".utf8))

  @Test func everyRootHasItsOwnCountsAndWayOfWatching() {
    var state = WatchState()
    state.note(polled: 3, because: .watchLimit, of: 10, in: 1)
    state.note(polled: 2, because: nfs, of: 10, in: 1)
    state.note(polled: 7, because: nfs, of: 7, in: 2)
    #expect(state.watch(of: 1) == .mixed && state.polledCount(of: 1) == 5)
    #expect(state.watch(of: 2) == .polling && state.polledCount(of: 2) == 7)
    #expect(state.watch(of: 3) == .inotify && state.polledCount(of: 3) == 0)
    #expect(state.count(.watchLimit) == 3 && state.count(.noInstance) == 0)
    #expect(state.fileSystems.count == 1 && state.fileSystems[0] == ("nfs4", 9))
  }

  @Test func reasonEndsWithACountOfZeroAndWithItsRoot() {
    var state = WatchState()
    state.note(polled: 3, because: .watchLimit, of: 10, in: 1)
    state.note(polled: 0, because: .watchLimit, of: 10, in: 1)
    #expect(state.watch(of: 1) == .inotify)
    state.note(polled: 10, because: .noInstance, of: 10, in: 1)
    state.forget(1)
    #expect(state.watch(of: 1) == .inotify && state.count(.noInstance) == 0)
    state.note(polled: 10, because: .noInstance, of: 10, in: 1)
    state.keep([2])
    #expect(state.count(.noInstance) == 0)
  }
}
