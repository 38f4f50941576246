import Testing

@testable import PhotoServer

/// The order in which jobs of several processes run.
@Suite struct ProcessTurnsTests {
  private static let second: Int64 = 1_000_000_000

  @Test func processesTakeTurnsAndTheirJobsKeepTheirOrder() {
    var turns = ProcessTurns<String>(threadCount: 2)
    for job in ["a1", "a2", "a3"] { _ = turns.append(job, of: 1) }
    _ = turns.append("b1", of: 2)
    _ = turns.append("c1", of: 3)
    var order: [String] = []
    while let turn = turns.next(at: 0) {
      order.append(turn.job)
      turns.end(of: turn.process, processorTime: 1, at: 0)
    }
    #expect(order == ["a1", "b1", "c1", "a2", "a3"])
  }

  @Test func aProcessHasAtMostHalfOfTheThreads() {
    var turns = ProcessTurns<Int>(threadCount: 4)
    for job in 0..<100 { _ = turns.append(job, of: 1) }
    #expect(turns.next(at: 0)?.job == 0 && turns.next(at: 0)?.job == 1)
    #expect(turns.next(at: 0) == nil)
    _ = turns.append(100, of: 2)
    #expect(turns.next(at: 0)?.job == 100)
  }

  @Test func heavyProcessesTogetherLeaveHalfOfTheThreads() {
    var turns = ProcessTurns<Int32>(threadCount: 4)
    for process in Int32(1)...10 {
      _ = turns.append(process, of: process)
      #expect(turns.next(at: 0)?.job == process)
      turns.end(of: process, processorTime: Self.second, at: 0)
    }
    for process in Int32(1)...10 { _ = turns.append(process, of: process) }
    #expect(turns.next(at: 0)?.isHeavy == true && turns.next(at: 0)?.isHeavy == true)
    #expect(turns.next(at: 0) == nil, "two of ten heavy processes run")
    _ = turns.append(11, of: 11)
    let light = turns.next(at: 0)
    #expect(light?.job == 11 && light?.isHeavy == false)
    // Ten seconds without work repay one second of its debt.
    #expect(turns.next(at: 10_000_000_000)?.job == 3)
  }

  /// A client that fetches page after page is heavy as well. It must not wait until a long job of another process ends.
  @Test func aHeavyProcessLeavesAThreadToAnotherHeavyOne() {
    var turns = ProcessTurns<String>(threadCount: 4)
    for process in Int32(1)...2 {
      _ = turns.append("first", of: process)
      #expect(turns.next(at: 0) != nil)
      turns.end(of: process, processorTime: Self.second, at: 0)
    }
    for job in ["long 1", "long 2", "long 3"] { _ = turns.append(job, of: 1) }
    #expect(turns.next(at: 0)?.job == "long 1")
    #expect(turns.next(at: 0) == nil)
    for page in ["page 1", "page 2", "page 3"] {
      _ = turns.append(page, of: 2)
      #expect(turns.next(at: 0)?.job == page)
      turns.end(of: 2, processorTime: Self.second / 1000, at: 0)
    }
    #expect(turns.next(at: 0) == nil)
    turns.end(of: 1, processorTime: Self.second, at: 0)
    #expect(turns.next(at: 0)?.job == "long 2")
  }

  @Test func aRemovedJobIsNotRun() {
    var turns = ProcessTurns<Int>(threadCount: 2)
    let (first, second) = (turns.append(1, of: 1), turns.append(2, of: 1))
    #expect(turns.next(at: 0)?.job == 1)
    #expect(turns.remove(first, of: 1) == nil, "it has begun")
    #expect(turns.remove(second, of: 1) == 2 && turns.waitingCount == 0)
    turns.end(of: 1, processorTime: 0, at: 0)
    #expect(turns.next(at: 0) == nil && turns.runningCount == 0)
  }
}
