import Dispatch
import Logging
import Synchronization
import Testing
import WatchRecords

@testable import PhotoWatch

/// How long callers wait for a share. The test is the process of the share, and moves the clock.
struct SharePatienceTests {
  /// A share whose process answers as the test has planned.
  private final class Share: Sendable {
    /// One period in which a caller waits: some time passes, and then some calls are answered.
    struct Period {
      var milliseconds: UInt64
      var answers = 0
    }

    private struct State {
      var now: UInt64 = 1_000_000_000
      var periods: [Period] = []
      var worker: ShareFileWorker?
      var callCount = 0
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - queue: how many calls of other threads wait before each call.
    ///   - periods: the periods in order. After the last one, the process answers no call.
    func answers(queue: Int, to call: FileCall, until end: Duration? = nil, _ periods: [Period]) -> [FileAnswer?] {
      let worker = worker
      let answers = Mutex<[FileAnswer?]>([])
      state.withLock { $0.periods = periods }
      let limit = end.map {
        DispatchTime(uptimeNanoseconds: state.withLock { $0.now }) + .seconds(Int($0.components.seconds))
      }
      onCall.withLock { onCall in
        // Each call makes the next one before it waits, so all of them wait in one thread.
        onCall = { [self] in
          let isLast = state.withLock { state in
            state.callCount += 1
            return state.callCount > queue
          }
          guard !isLast else { return }
          let answer = worker.ask(call, until: limit ?? .distantFuture)
          answers.withLock { $0.append(answer) }
        }
      }
      state.withLock { $0.callCount = 0 }
      let answer = worker.ask(call, until: limit ?? .distantFuture)
      answers.withLock { $0.append(answer) }
      return answers.withLock { $0 }
    }

    private let onCall = Mutex<(@Sendable () -> Void)?>(nil)

    private var worker: ShareFileWorker {
      if let worker = state.withLock({ $0.worker }) { return worker }
      let worker = ShareFileWorker(
        root: Array("/share".utf8), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        clock: .init(
          now: { [self] in DispatchTime(uptimeNanoseconds: state.withLock { $0.now }) },
          wait: { [self] in wait(for: $0, until: $1) }),
        onCall: { [self] in onCall.withLock { $0 }?() })
      _ = WatchStream.greeting.withUnsafeBytes { worker.receive($0) }
      state.withLock { $0.worker = worker }
      return worker
    }

    private func wait(for answered: DispatchSemaphore, until end: DispatchTime) -> DispatchTimeoutResult {
      if answered.wait(timeout: .now()) == .success { return .success }
      let (period, worker) = state.withLock { state in
        let period = state.periods.isEmpty ? nil : state.periods.removeFirst()
        state.now += (period?.milliseconds ?? 0) * 1_000_000
        return (period, state.worker)
      }
      for _ in 0..<(period?.answers ?? 0) {
        let problem = WatchStream.frame(FileAnswer(errorNumber: 0)).withUnsafeBytes { worker?.receive($0) }
        #expect(problem == nil)
      }
      if answered.wait(timeout: .now()) == .success { return .success }
      state.withLock { $0.now = max($0.now, end.uptimeNanoseconds) }
      return .timedOut
    }
  }

  private let call = FileCall.look(path: Array("/share/a.jpg".utf8))

  /// The process answers one call after another, each in nearly the time that a caller waits without any answer.
  @Test func callersOfASlowShareWaitForEachOther() {
    let share = Share()
    let answers = share.answers(
      queue: 3, to: call, (0..<4).map { _ in Share.Period(milliseconds: 1_900, answers: 1) })
    #expect(answers.count == 4 && answers.allSatisfy { $0?.errorNumber == 0 })
    let next = share.answers(queue: 0, to: call, [.init(milliseconds: 1, answers: 1)])
    #expect(next.allSatisfy { $0 != nil }, "it does not count as silent")
  }

  @Test func aShareWithoutAnAnswerIsSilent() {
    let share = Share()
    let periods = [Share.Period(milliseconds: 1_900, answers: 1), .init(milliseconds: 2_001)]
    let answers = share.answers(queue: 1, to: call, periods)
    #expect(answers.map { $0 == nil } == [true, false])
    let next = share.answers(queue: 0, to: call, [.init(milliseconds: 1, answers: 2)])
    #expect(next == [nil], "no other caller waits until it answers")
  }

  @Test func aCallerThatLeavesAtItsOwnLimitLetsTheShareCount() {
    let share = Share()
    #expect(share.answers(queue: 0, to: call, until: .seconds(1), []) == [nil])
    // The first answer is that of the call before.
    let next = share.answers(queue: 0, to: call, [.init(milliseconds: 1, answers: 2)])
    #expect(next.map { $0 == nil } == [false], "it does not count as silent")
  }
}
