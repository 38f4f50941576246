import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

@Suite(.timeLimit(.minutes(5))) struct ChangeRegistrationTests {
  @MainActor private final class Screen {
    var hasReturned = false
    var counts: [Int] = []
    var result: FetchResult

    init(_ result: FetchResult) { self.result = result }

    func update(_ change: Change) {
      #expect(hasReturned)
      guard let details = change.details(for: result) else { return }
      result = details.after
      counts.append(result.count)
    }
  }

  /// In each round, a change has been made before the registration, and one more is made while it ends.
  @MainActor @Test func noCallComesBeforeTheRegistrationOrAfterItsEndOrTwice() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      for round in 0..<30 {
        let screen = await Screen(try await library.fetchAssets())
        let before = await screen.result.count
        list.change(to: list.state.withLock { $0.ids } + [AssetID(rawValue: Int64(100 + round * 2))])
        let registration = await Self.register(screen, library)
        try await eventually("the change has come") { await !screen.counts.isEmpty }
        list.change(to: list.state.withLock { $0.ids } + [AssetID(rawValue: Int64(101 + round * 2))])
        if round % 2 == 0 { try await Task.sleep(for: .microseconds(round * 100)) }
        await registration.unregister()
        let counts = await screen.counts
        for _ in 0..<20 { await Task.yield() }
        #expect(await screen.counts == counts)
        #expect(counts == Array((before + 1)...(before + counts.count)))
      }
    }
  }

  /// Registers as an app does, in one turn of the main actor.
  @MainActor private static func register(_ screen: Screen, _ library: PhotoLibrary) -> ChangeRegistration {
    let registration = library.register(for: [screen.result]) { @MainActor change in screen.update(change) }
    // Work of the same turn, during which a change can arrive.
    var sum = 0
    for number in 0..<10_000 { sum &+= number }
    #expect(sum > 0)
    screen.hasReturned = true
    return registration
  }

  @Test func unregisteringWaitsForTheRunningCall() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let began = PendingValue<Void>()
      let hasEnded = Mutex(false)
      let registration = daemon.library().register(for: [result]) { _ in
        began.resolve(.success(()))
        for _ in 0..<1_000 { await Task.yield() }
        hasEnded.withLock { $0 = true }
      }
      list.change(to: [1, 2])
      try await began.value()
      await registration.unregister()
      #expect(hasEnded.withLock { $0 })
    }
  }

  @Test func aHandlerCanUnregisterItself() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let registration = Mutex<ChangeRegistration?>(nil)
      let calls = Mutex(0)
      let ended = PendingValue<Void>()
      let made = daemon.library().register(for: [result]) { _ in
        calls.withLock { $0 += 1 }
        await registration.withLock { $0 }?.unregister()
        ended.resolve(.success(()))
      }
      registration.withLock { $0 = made }
      list.change(to: [1, 2])
      try await ended.value()
      list.change(to: [1, 2, 3])
      for _ in 0..<1_000 { await Task.yield() }
      #expect(calls.withLock { $0 } == 1)
    }
  }

  private final class Observer: PhotoLibraryChangeObserver {
    let tokens = Mutex<[String]>([])
    let released: PendingValue<Void>

    init(_ released: PendingValue<Void>) { self.released = released }
    deinit { released.resolve(.success(())) }

    func photoLibraryDidChange(_ change: Change) async { tokens.withLock { $0.append(change.token) } }
  }

  @Test func anObserverIsCalledAndNotKeptAlive() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let released = PendingValue<Void>()
      var observer: Observer? = Observer(released)
      let registration = try daemon.library().register(#require(observer), for: [result])
      list.change(to: [1, 2])
      try await eventually("the observer was called") { observer?.tokens.withLock { $0 } == ["l.1.2"] }
      observer = nil
      try await released.value()
      await registration.unregister()
    }
  }
}
