import Dispatch
import Glibc
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

@Suite(.timeLimit(.minutes(15))) struct ChangeRegistrationTests {
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

  /// A handler without an actor runs on another thread, beside the turn of the main actor in which the caller
  /// registers. A change has been made before, so the first call comes as soon as it can.
  @MainActor @Test func noCallOfAnotherThreadComesBeforeTheActorHasTheRegistration() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      let result = try await library.fetchAssets()
      list.change(to: [1, 2])
      // The other tests on the main actor wait meanwhile.
      let end = ContinuousClock.now + .seconds(5)
      for round in 0..<100 where round < 3 || ContinuousClock.now < end {
        try await Self.registerWhileBusy(library, result)
      }
    }
  }

  @MainActor private static func registerWhileBusy(_ library: PhotoLibrary, _ result: FetchResult) async throws {
    let calls = FirstCall()
    let registration = register(calls, library, result)
    try await calls.came.value()
    #expect(!calls.wasEarly)
    await registration.unregister()
  }

  /// One turn of the main actor, in which three other registrations get their calls, one after the other. Each of
  /// them begins at once, so a call that does not wait for the end of the turn comes meanwhile.
  @MainActor private static func register(
    _ calls: FirstCall, _ library: PhotoLibrary, _ result: FetchResult
  ) -> ChangeRegistration {
    let registration = library.register(for: [result]) { _ in calls.note() }
    for _ in 0..<3 {
      let hasCome = DispatchSemaphore(value: 0)
      let other = library.makeRegistration(for: [result]) { _ in hasCome.signal() }
      other.begin()
      guard hasCome.wait(timeout: .now() + 60) == .success else {
        Issue.record("a registration got no call within 60 seconds")
        return registration
      }
      withExtendedLifetime(other) {}
    }
    calls.callerHasRegistration()
    return registration
  }

  /// A caller without an actor has the registration before the first call, whatever the threads do.
  @Test func noCallComesBeforeACallerWithoutActorBeginsTheRegistration() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      let result = try await library.fetchAssets()
      list.change(to: [1, 2])
      for round in 0..<500 {
        let calls = FirstCall()
        let registration = library.makeRegistration(for: [result]) { _ in calls.note() }
        if round % 50 == 0 { try await Self.waitForACall(library, result) } else { await Task.yield() }
        calls.callerHasRegistration()
        registration.begin()
        registration.begin()
        try await calls.came.value()
        #expect(!calls.wasEarly)
        await registration.unregister()
      }
    }
  }

  /// Waits until another registration, which begins at once, gets its call.
  private static func waitForACall(_ library: PhotoLibrary, _ result: FetchResult) async throws {
    let calls = FirstCall()
    let registration = library.makeRegistration(for: [result]) { _ in calls.note() }
    registration.begin()
    try await calls.came.value()
    await registration.unregister()
  }

  @Test func aRegistrationThatDidNotBeginCallsNothing() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      list.change(to: [1, 2])
      let calls = FirstCall()
      let waiting = daemon.library().makeRegistration(for: [result]) { _ in calls.note() }
      do { _ = daemon.library().makeRegistration(for: [result]) { _ in calls.note() } }
      let ended = daemon.library().makeRegistration(for: [result]) { _ in calls.note() }
      await ended.unregister()
      ended.begin()
      // Another observer has got the change.
      var witness = daemon.library().changes(for: [result]).makeAsyncIterator()
      #expect(await witness.next()?.token == "l.1.2")
      for _ in 0..<1_000 { await Task.yield() }
      #expect(!calls.wasEarly && daemon.calls.count { $0 == "Observe" } == 1)
      withExtendedLifetime(waiting) {}
    }
  }

  /// The first call of a registration, and whether it came before the caller had the registration.
  private final class FirstCall: Sendable {
    let came = PendingValue<Void>()
    private let hasRegistration = Atomic(false)
    private let isEarly = Atomic(false)

    var wasEarly: Bool { isEarly.load(ordering: .sequentiallyConsistent) }
    func callerHasRegistration() { hasRegistration.store(true, ordering: .sequentiallyConsistent) }

    func note() {
      if !hasRegistration.load(ordering: .sequentiallyConsistent) {
        isEarly.store(true, ordering: .sequentiallyConsistent)
      }
      came.resolve(.success(()))
    }
  }

  @Test func unregisteringWaitsForTheRunningCall() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let began = PendingValue<Void>()
      let hasEnded = Mutex(false)
      let registration = daemon.library().makeRegistration(for: [result]) { _ in
        began.resolve(.success(()))
        for _ in 0..<1_000 { await Task.yield() }
        hasEnded.withLock { $0 = true }
      }
      registration.begin()
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
      var witness = daemon.library().changes(for: [result]).makeAsyncIterator()
      let made = daemon.library().makeRegistration(for: [result]) { _ in
        calls.withLock { $0 += 1 }
        await registration.withLock { $0 }?.unregister()
        ended.resolve(.success(()))
      }
      registration.withLock { $0 = made }
      made.begin()
      list.change(to: [1, 2])
      try await ended.value()
      list.change(to: [1, 2, 3])
      // Another observer gets the second change, and the one that has ended does not.
      while try #require(await witness.next()).token != "l.1.3" {}
      for _ in 0..<1_000 { await Task.yield() }
      #expect(calls.withLock { $0 } == 1)
    }
  }

  /// A task that the first call has begun unregisters while the second call runs.
  @Test func aTaskOfAnEarlierCallWaitsForTheRunningOne() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let registration = Mutex<ChangeRegistration?>(nil)
      let calls = Mutex((begun: 0, ended: 0))
      let (firstEnded, secondBegan) = (PendingValue<Void>(), PendingValue<Void>())
      let unregistered = PendingValue<(begun: Int, ended: Int)>()
      let unregister: @Sendable () async throws -> Void = {
        try await secondBegan.value()
        await registration.withLock { $0 }?.unregister()
        unregistered.resolve(.success(calls.withLock { $0 }))
      }
      let made = daemon.library().makeRegistration(for: [result]) { _ in
        let number = calls.withLock { calls in
          calls.begun += 1
          return calls.begun
        }
        if number == 1 {
          Task { try await unregister() }
          firstEnded.resolve(.success(()))
        } else {
          secondBegan.resolve(.success(()))
          for _ in 0..<1_000 { await Task.yield() }
        }
        calls.withLock { $0.ended += 1 }
      }
      registration.withLock { $0 = made }
      made.begin()
      list.change(to: [1, 2])
      try await firstEnded.value()
      list.change(to: [1, 2, 3])
      let atTheEnd = try await unregistered.value()
      #expect(atTheEnd.begun == atTheEnd.ended)
    }
  }

  @Test func unregisteringWaitsForTheReportOfAProblem() async throws {
    var answers = ScriptedList([1]).answers
    answers["Observe"] = { _ in
      throw VarlinkError(
        "org.photod.library.NoSuchCollection", NoSuchCollectionError(collection: "id:42", similar: []))
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let began = PendingValue<Void>()
      let reports = Mutex((begun: 0, ended: 0))
      let registration = daemon.library().makeRegistration(for: [result]) { _ in
        reports.withLock { $0.begun += 1 }
        began.resolve(.success(()))
        for _ in 0..<10_000 { sched_yield() }
        reports.withLock { $0.ended += 1 }
      } _: { _ in
      }
      registration.begin()
      try await began.value()
      await registration.unregister()
      let atTheEnd = reports.withLock { $0 }
      #expect(atTheEnd.begun == atTheEnd.ended)
      for _ in 0..<1_000 { await Task.yield() }
      #expect(reports.withLock { $0.begun } == atTheEnd.begun)
    }
  }

  /// An observer of the main actor, which releases its registration there.
  @MainActor private final class ObservingScreen: PhotoLibraryChangeObserver {
    var registration: ChangeRegistration?
    private(set) var count = 0

    func photoLibraryDidChange(_ change: Change) async {
      #expect(registration != nil)
      count += 1
    }
  }

  @MainActor @Test func noCallBeginsAfterTheActorHasReleasedTheRegistration() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      for round in 0..<50 { try await Self.observeAndRelease(round, list, library) }
    }
  }

  @MainActor private static func observeAndRelease(
    _ round: Int, _ list: ScriptedList, _ library: PhotoLibrary
  ) async throws {
    let screen = ObservingScreen()
    screen.registration = library.register(screen, for: [try await library.fetchAssets()])
    list.change(to: list.state.withLock { $0.ids } + [AssetID(rawValue: Int64(100 + round * 2))])
    try await eventuallyOnMainActor("the change has come") { screen.count > 0 }
    list.change(to: list.state.withLock { $0.ids } + [AssetID(rawValue: Int64(101 + round * 2))])
    for _ in 0..<round * 3 { await Task.yield() }
    screen.registration = nil
    for _ in 0..<20 { await Task.yield() }
  }

  private final class Observer: PhotoLibraryChangeObserver {
    let tokens = Mutex<[String]>([])
    let released: PendingValue<Void>

    init(_ released: PendingValue<Void>) { self.released = released }
    deinit { released.resolve(.success(())) }

    func photoLibraryDidChange(_ change: Change) async { tokens.withLock { $0.append(change.token) } }
  }

  /// An actor that observes a result and holds its own registration.
  private actor Index: PhotoLibraryChangeObserver {
    private(set) var tokens: [String] = []
    private var registration: ChangeRegistration?
    private let released: PendingValue<Void>

    init(_ released: PendingValue<Void>) { self.released = released }
    deinit { released.resolve(.success(())) }

    func observe(_ result: FetchResult, of library: PhotoLibrary) {
      registration = library.register(self, for: [result])
    }
    func photoLibraryDidChange(_ change: Change) async { tokens.append(change.token) }
  }

  /// The actor is the observer, the caller and the owner of the registration.
  @Test(arguments: [true, false]) func anActorThatRegistersItselfIsNotKeptAlive(isCalled: Bool) async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      let result = try await library.fetchAssets()
      let released = PendingValue<Void>()
      var index: Index? = Index(released)
      await index?.observe(result, of: library)
      if isCalled {
        list.change(to: [1, 2])
        try await eventually("the actor was called") { [index] in await index?.tokens == ["l.1.2"] }
      }
      index = nil
      try await released.value()
    }
  }

  @Test func anObserverIsCalledAndNotKeptAlive() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let released = PendingValue<Void>()
      var observer: Observer? = Observer(released)
      let registration = try daemon.library().makeRegistration(#require(observer), for: [result])
      registration.begin()
      list.change(to: [1, 2])
      try await eventually("the observer was called") { observer?.tokens.withLock { $0 } == ["l.1.2"] }
      observer = nil
      try await released.value()
      await registration.unregister()
    }
  }
}
