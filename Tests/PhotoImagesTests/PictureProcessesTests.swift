import Dispatch
import Glibc
import ImageRecords
import Logging
import TestTools
import Testing
import WorkerProcess

@testable import PhotoImages

/// The processes of the decoder, and files that end them.
@Suite(.enabled(if: ScriptedDecoder.hasPython, "/usr/bin/python3 is not installed")) struct PictureProcessesTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder("decoder")
    path = try ScriptedDecoder.install(in: folder.path)
  }

  private func processes(
    deadline: Duration = .seconds(20), longestIdleness: Duration = .seconds(30)
  ) -> PictureProcesses {
    PictureProcesses(
      program: .test(path),
      limits: PictureProcesses.Limits(deadline: deadline, longestIdleness: longestIdleness),
      logger: Logger(label: "test"))
  }

  private func make(_ name: String, by processes: PictureProcesses) -> String {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let request = PictureRequest(
      name: Array(name.utf8), contentType: "image/jpeg", kind: .rendered, frame: PictureFrame(width: 256, height: 256),
      maximumPixels: 1 << 30, maximumBytes: 1 << 30)
    return switch processes.make(request, from: descriptor) {
    case .picture(let picture): "\(picture.header.size.width) × \(picture.header.size.height)"
    case .failed(let failure, let message): "\(failure): \(message)"
    case .blamed(let reason): reason.contains("took longer") ? "blamed for its time" : "blamed"
    case .late: "late"
    case .unavailable(let kind, _): "\(kind), not blamed"
    }
  }

  @Test func oneProcessMakesManyPictures() {
    let processes = processes()
    defer { processes.shutDown() }
    #expect(make("a", by: processes) == "60 × 40")
    let first = processes.processIDs
    #expect(make("b", by: processes) == "60 × 40")
    #expect(make("refuse", by: processes) == "unreadable: damaged")
    #expect(processes.processIDs == first && first.count == 1)
  }

  @Test(arguments: ["crash", "lies", "large", "short"]) func fileThatEndsTwoProcessesIsBlamed(_ name: String) {
    let processes = processes()
    defer { processes.shutDown() }
    #expect(make(name, by: processes) == "blamed")
    #expect(make("a", by: processes) == "60 × 40")
  }

  @Test func fileThatEndsAProcessOnceIsTriedAgain() {
    let processes = processes()
    defer { processes.shutDown() }
    #expect(make("once", by: processes) == "60 × 40")
  }

  @Test func signalFromOutsideBlamesNoFile() {
    let processes = processes()
    defer { processes.shutDown() }
    #expect(make("killed", by: processes) == "unreadable, not blamed")
  }

  /// A mapped file can't be read, so the next process would end as well.
  @Test func failingDiskBlamesNoFileAndEndsOneProcess() async throws {
    let processes = processes()
    defer { processes.shutDown() }
    processes.keepReady(2)
    try await eventually("two processes") { processes.readyIDs.count == 2 }
    let ready = processes.readyIDs
    #expect(make("disk", by: processes) == "unavailable, not blamed")
    #expect(ready.intersection(processes.processIDs).count == 1)
  }

  @Test func idleProcessThatWasKilledIsReplaced() async throws {
    let processes = processes()
    defer { processes.shutDown() }
    #expect(make("a", by: processes) == "60 × 40")
    let former = try #require(processes.processIDs.first)
    kill(former, SIGKILL)
    #expect(make("b", by: processes) == "60 × 40")
    #expect(processes.processIDs.count == 1 && processes.processIDs.first != former)
  }

  @Test func fileThatTakesTooLongIsBlamed() async {
    let processes = processes(deadline: .seconds(1))
    defer { processes.shutDown() }
    while make("a", by: processes) != "60 × 40" {}
    #expect(await onOwnThread { make("hang", by: processes) } == "blamed for its time")
    #expect(processes.processIDs.isEmpty)
    #expect(await onOwnThread { make("stop", by: processes) } == "unreadable, not blamed")
  }

  @Test func fileOfAnImmediatePictureIsNotBlamedForItsTime() async {
    let processes = PictureProcesses(
      program: .test(path), limits: .init(deadline: .seconds(1), blamesLateFile: false), logger: Logger(label: "test"))
    defer { processes.shutDown() }
    while make("a", by: processes) != "60 × 40" {}
    #expect(await onOwnThread { make("hang", by: processes) } == "late")
    #expect(await onOwnThread { make("stop", by: processes) } == "unreadable, not blamed")
  }

  /// The process sends no greeting, so none is ready.
  @Test func aCallWaitsForAStartNoLongerThanForAPicture() throws {
    let silent = folder.path + "/silent"
    try installProgram("#!/bin/sh\nexec sleep 60\n", at: silent)
    let processes = PictureProcesses(
      program: .test(silent), limits: .init(deadline: .milliseconds(200)), logger: Logger(label: "test"))
    defer { processes.shutDown() }
    processes.keepReady(1)
    #expect(make("a", by: processes) == "unavailable, not blamed")
  }

  @Test func idleProcessesEnd() async throws {
    let processes = processes(longestIdleness: .milliseconds(100))
    #expect(make("a", by: processes) == "60 × 40")
    try await eventually("no process") { processes.processIDs.isEmpty }
  }

  @Test func readyProcessesAreThereBeforeACallAndStay() async throws {
    let processes = processes(longestIdleness: .milliseconds(50))
    defer { processes.shutDown() }
    processes.keepReady(2)
    try await eventually("two processes") { processes.readyIDs.count == 2 }
    #expect(make("a", by: processes) == "60 × 40")
    // Another process starts for it, because a file that has ended one may have spoiled others.
    #expect(make("once", by: processes) == "60 × 40")
    try await eventually("the dead process is replaced, and no other stays") {
      processes.processIDs.count == 2 && processes.readyIDs.count == 2
    }
    processes.keepReady(0)
    try await eventually("no process") { processes.processIDs.isEmpty }
  }

  @Test func aCallWaitsForAProcessThatStartsAlready() async throws {
    let processes = processes()
    defer { processes.shutDown() }
    processes.keepReady(1)
    #expect(make("a", by: processes) == "60 × 40")
    #expect(processes.processIDs.count == 1)
  }

  @Test func readyProcessesThatDoNotStartHoldUpNoCall() {
    let processes = PictureProcesses(program: .test("/bin/false"), logger: Logger(label: "test"))
    processes.keepReady(2)
    #expect(make("a", by: processes) == "unsupported, not blamed")
    #expect(make("a", by: processes) == "unsupported, not blamed")
  }

  /// No caller needs a process, so only the pool itself can try again.
  @Test func aStartThatFailedIsRepeatedAfterAPause() async throws {
    let link = folder.path + "/link"
    #expect(symlink("/bin/false", link) == 0)
    let processes = PictureProcesses(
      program: .test(link), limits: .init(pauseAfterFailedStart: .milliseconds(20)), logger: Logger(label: "test"))
    defer { processes.shutDown() }
    processes.keepReady(2)
    #expect(make("a", by: processes) == "unsupported, not blamed")
    #expect(unlink(link) == 0 && symlink(path, link) == 0)
    try await eventually("two processes") { processes.readyIDs.count == 2 }
  }

  @Test func niceProcessesLeaveTheProcessorToOthers() throws {
    let processes = PictureProcesses(program: .test(path), niceness: 5, logger: Logger(label: "test"))
    defer { processes.shutDown() }
    #expect(make("a", by: processes) == "60 × 40")
    let (process, kind) = (try #require(processes.processIDs.first), Int32(PRIO_PROCESS.rawValue))
    #expect(getpriority(kind, id_t(process)) == min(19, getpriority(kind, 0) + 5))
  }

  @Test(arguments: [(PictureProgram.image, "photod-images"), (.video, "photod-videos")])
  func missingProgramNamesItsPackage(_ program: PictureProgram, _ package: String) {
    var program = program
    program.executable = { throw WorkerError("it is not there") }
    let processes = PictureProcesses(program: program, logger: Logger(label: "test"))
    guard
      case .unavailable(.unsupported, let message) = processes.make(
        PictureRequest(name: [], contentType: "", kind: .rendered, maximumPixels: 1, maximumBytes: 1), from: 0)
    else {
      Issue.record("it is available")
      return
    }
    #expect(message.contains(package) && message.contains(program.name))
  }

  @Test func programThatDoesNotStartBlamesNoFile() {
    let processes = PictureProcesses(program: .test("/bin/false"), logger: Logger(label: "test"))
    #expect(make("a", by: processes) == "unsupported, not blamed")
    #expect(make("a", by: processes) == "unsupported, not blamed")
  }

  @Test func shutDownEndsAWaitingCall() async throws {
    let processes = processes()
    // It blocks its thread. A thread of the tasks would be missing to all other tests.
    async let result = withCheckedContinuation { ended in
      DispatchQueue(label: "photod.test").async { ended.resume(returning: make("hang", by: processes)) }
    }
    try await eventually("a process") { !processes.processIDs.isEmpty }
    processes.shutDown()
    #expect(await result == "unavailable, not blamed")
    #expect(make("a", by: processes) == "unavailable, not blamed")
  }
}
