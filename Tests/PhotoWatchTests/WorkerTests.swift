// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization
import TestTools
import Testing

@testable import WorkerProcess

/// Processes that do not end, as one that hangs in the kernel. Their worker's way to kill them does nothing.
@Suite struct WorkerTests {
  /// A silent process counts as hanging.
  private final class Silence: WorkerDialogue {
    let starts = Atomic(0)
    let ends = Atomic(0)
    let isFull = false
    let expectsOutput = true

    func begin(session: Int) -> [UInt8] {
      starts.add(1, ordering: .releasing)
      return []
    }
    func takeOutgoing() -> [UInt8] { [] }
    func receive(_ bytes: UnsafeRawBufferPointer) -> String? { nil }
    func note(errorLine line: String) {}
    func end(session: Int, reason: String, isSilent: Bool) { ends.add(1, ordering: .releasing) }
    func finish() {}

    var startCount: Int { starts.load(ordering: .acquiring) }
    /// The sessions that ended, including those whose process could not be started.
    var endCount: Int { ends.load(ordering: .acquiring) }
  }

  private final class Immortal: Sendable {
    private let processes = Mutex<Set<pid_t>>([])

    /// The processes that a worker wanted to kill.
    var all: Set<pid_t> { processes.withLock { $0 } }

    func configuration(_ slots: ProcessSlots, place: String = "share") -> Worker.Configuration {
      var configuration = Worker.Configuration(
        name: "sleeper", executable: "/bin/sleep", arguments: ["600"], longestSilence: .milliseconds(50),
        endPatience: .milliseconds(20), slots: slots, place: place)
      configuration.kill = { process in _ = self.processes.withLock { $0.insert(process) } }
      return configuration
    }

    func end() { for process in all { kill(process, SIGKILL) } }
  }

  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  /// Waits until a worker has looked for a free slot of a place in vain, twice more.
  private func refusedTwice(_ slots: ProcessSlots, at place: String = "share") async throws {
    let count = slots.refusalCount(of: place) + 2
    try await eventually("a worker looks for a free slot in vain") { slots.refusalCount(of: place) >= count }
  }

  @Test func aPlaceThatHangsHasTwoProcessesEvenIfItsWorkerIsReplaced() async throws {
    let (slots, immortal, elsewhere) = (ProcessSlots(), Immortal(), Immortal())
    defer {
      immortal.end()
      elsewhere.end()
    }
    let (first, firstDialogue) = (Worker(), Silence())
    try first.start(immortal.configuration(slots), dialogue: firstDialogue, logger: logger)
    try await eventually("two processes hang") { immortal.all.count == 2 }
    try await refusedTwice(slots)
    #expect(firstDialogue.startCount == 2 && first.processID == nil)
    await first.stop()

    // The root was removed and added again.
    let (second, secondDialogue) = (Worker(), Silence())
    try second.start(immortal.configuration(slots), dialogue: secondDialogue, logger: logger)
    try await refusedTwice(slots)
    #expect(secondDialogue.startCount == 0)
    // Another place has its own slots.
    let (other, otherDialogue) = (Worker(), Silence())
    try other.start(elsewhere.configuration(slots, place: "other"), dialogue: otherDialogue, logger: logger)
    try await eventually("the other place has a process") { otherDialogue.startCount > 0 }
    await other.stop()

    let released = try #require(immortal.all.first)
    kill(released, SIGKILL)
    try await eventually("a third process is started") { secondDialogue.startCount == 1 }
    #expect(kill(released, 0) != 0 && errno == ESRCH, "it was reaped")
    await second.stop()
  }

  @Test func aProcessIsReapedAfterItsWorkerHasGone() async throws {
    let immortal = Immortal()
    defer { immortal.end() }
    do {
      let (worker, dialogue) = (Worker(), Silence())
      try worker.start(immortal.configuration(ProcessSlots()), dialogue: dialogue, logger: logger)
      try await eventually("it runs") { dialogue.startCount > 0 }
      await worker.stop()
    }
    let abandoned = try #require(immortal.all.first)
    #expect(kill(abandoned, SIGKILL) == 0)
    try await eventually("it was reaped") { kill(abandoned, 0) != 0 && errno == ESRCH }
  }

  @Test func aProgramThatCannotBeStartedHoldsNoSlot() async throws {
    let slots = ProcessSlots()
    let (worker, dialogue) = (Worker(), Silence())
    var configuration = Immortal().configuration(slots)
    configuration.executable = "/nonexistent/program"
    try worker.start(configuration, dialogue: dialogue, logger: logger)
    // The place has two slots. If a failed start held one, there would be no third start.
    try await eventually("three starts failed") { dialogue.endCount >= 3 }
    await worker.stop()
    #expect(dialogue.startCount == 0)
    #expect(slots.take("share", maximum: 1))
  }
}
