import Testing
import WatchRecords

@testable import PhotoIndexer

@Suite struct WatchStateTests {
  private let nfs = PollingReason.fileSystem(name: Array("nfs4".utf8))

  @Test func everyRootHasItsOwnCountsAndWayOfWatching() {
    var state = WatchState()
    state.note(.polling(root: 1, reason: .watchLimit, polled: 3, directories: 10))
    state.note(.polling(root: 1, reason: nfs, polled: 2, directories: 10))
    state.note(.polling(root: 2, reason: nfs, polled: 7, directories: 7))
    #expect(state.watch(of: 1) == .mixed && state.polledCount(of: 1) == 5)
    #expect(state.watch(of: 2) == .polling && state.polledCount(of: 2) == 7)
    #expect(state.watch(of: 3) == .inotify && state.polledCount(of: 3) == 0)
    #expect(state.count(.watchLimit) == 3 && state.count(.noInstance) == 0)
    #expect(state.fileSystems.count == 1 && state.fileSystems[0] == ("nfs4", 9))
  }

  @Test func zeroTakesAReasonAwayAndSoDoesTheRootsEnd() {
    var state = WatchState()
    state.note(.polling(root: 1, reason: .watchLimit, polled: 3, directories: 10))
    state.note(.polling(root: 1, reason: .watchLimit, polled: 0, directories: 10))
    #expect(state.watch(of: 1) == .inotify)
    state.note(.polling(root: 1, reason: .noInstance, polled: 10, directories: 10))
    state.note(.rootOffline(root: 1, errorNumber: 2))
    #expect(state.watch(of: 1) == .inotify && state.count(.noInstance) == 0)
    state.note(.polling(root: 1, reason: .noInstance, polled: 10, directories: 10))
    state.keep([2])
    #expect(state.count(.noInstance) == 0)
  }
}
