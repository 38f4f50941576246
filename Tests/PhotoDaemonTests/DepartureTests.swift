import Dispatch
import Glibc
import Logging
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoDaemon

@Suite struct ProgramFileTests {
  @Test func anotherFileInItsPlaceIsAReplacement() throws {
    let scratch = try Scratch()
    let path = try scratch.file("program", "old")
    #expect(chmod(path, 0o755) == 0)
    #expect(symlink(path, "\(scratch.path)/exe") == 0)
    let program = try #require(ProgramFile(link: "\(scratch.path)/exe"))
    #expect(program.path == path)
    #expect(!program.isReplaced)

    // The file is kept, as the kernel keeps the file of a running program, so its inode is not used again.
    #expect(rename(path, "\(scratch.path)/kept") == 0)
    #expect(!program.isReplaced, "removed, with no successor")
    try scratch.file("program", "old")
    #expect(!program.isReplaced, "no program yet")
    #expect(chmod(path, 0o755) == 0)
    #expect(program.isReplaced)
    #expect(rename("\(scratch.path)/kept", path) == 0)
    #expect(!program.isReplaced, "the old one is back")
  }

  @Test func aLinkThatLeadsToAnotherFileIsAReplacement() throws {
    let scratch = try Scratch()
    let (old, new) = (try scratch.file("program-1", "old"), try scratch.file("program-2", "new"))
    let name = "\(scratch.path)/program"
    #expect(chmod(new, 0o755) == 0 && symlink(old, name) == 0 && symlink(old, "\(scratch.path)/exe") == 0)
    let program = try #require(ProgramFile(link: "\(scratch.path)/exe", name: name))
    #expect(program.path == name)
    #expect(!program.isReplaced)
    #expect(symlink(new, "\(name).new") == 0 && rename("\(name).new", name) == 0)
    #expect(program.isReplaced)

    let late = try #require(ProgramFile(link: "\(scratch.path)/exe", name: name))
    #expect(late.path == old, "the link led elsewhere before it was looked at")
    #expect(try #require(ProgramFile(link: "\(scratch.path)/exe", name: "program")).path == old)
  }

  @Test func theRunningProgramIsNotReplaced() throws {
    let program = try #require(ProgramFile())
    #expect(program.path.hasPrefix("/"))
    #expect(!program.isReplaced)
  }
}

@Suite struct DepartureTests {
  private let start = SuspendingClock.now

  @Test func replacedProcessLeavesWhenItIsIdle() {
    var departure = Departure()
    func decide(_ idle: Int, at seconds: Int) -> Departure.Decision {
      departure.decide(
        isReplaced: true, canLeave: true, idleTime: .seconds(idle), now: start.advanced(by: .seconds(seconds)))
    }
    #expect(decide(1000, at: 0) == .replaced)
    #expect(decide(0, at: 30) == .stay)
    #expect(decide(4, at: 60) == .stay)
    #expect(decide(5, at: 90) == .leave)
  }

  @Test func streamsDelayTheReplacementByAnHourAtMost() {
    var departure = Departure()
    func decide(at seconds: Int) -> Departure.Decision {
      departure.decide(isReplaced: true, canLeave: true, idleTime: .zero, now: start.advanced(by: .seconds(seconds)))
    }
    #expect(decide(at: 0) == .replaced)
    #expect(decide(at: 3599) == .stay)
    #expect(decide(at: 3600) == .leave)
  }

  @Test func daemonWithItsOwnSocketStays() {
    var departure = Departure()
    func decide(at seconds: Int) -> Departure.Decision {
      departure.decide(
        isReplaced: true, canLeave: false, idleTime: .seconds(9999), now: start.advanced(by: .seconds(seconds)))
    }
    #expect(decide(at: 0) == .replaced)
    #expect(decide(at: 30) == .stay)
    #expect(decide(at: 9999) == .stay)
  }

  @Test func daemonWhoseProgramIsNotReplacedStays() {
    var departure = Departure()
    #expect(
      departure.decide(isReplaced: false, canLeave: true, idleTime: .seconds(9999), now: start) == .stay)
  }
}

@Suite(.timeLimit(.minutes(10))) struct DrainTests {
  /// The client has sent a call when the decision to leave is made, but the idle time does not show that yet.
  @Test func aCallThatIsOnItsWayIsAnswered() async throws {
    let scratch = try Scratch()
    let listener = try SocketFile(binding: "\(scratch.path)/sock")
    defer { listener.close() }
    let library = DegradedLibrary(
      reasons: ["moon"], Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let served = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 3)
    async let end: Void = library.serve(on: served)
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(client) }
    #expect(withUnixAddress("\(scratch.path)/sock") { connect(client, $0, $1) } == 0)
    let call = Array(#"{"method": "org.photod.library.Status"}"#.utf8) + [0]
    #expect(write(client, call, call.count) == call.count)
    #expect(try await reply(client).contains("moon"))
    while library.idleTime < .milliseconds(200) { await Task.yield() }

    #expect(write(client, call, call.count) == call.count)
    await library.drain()
    await library.stop()
    #expect(try await reply(client).contains("moon"))
    try await end
  }

  /// The next reply. It is empty if the connection was closed.
  private func reply(_ client: Int32) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "reply").async {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(client, &bytes, bytes.count)
        if count < 0 {
          continuation.resume(throwing: SystemCallError("read"))
        } else {
          continuation.resume(returning: String(decoding: bytes[..<count], as: UTF8.self))
        }
      }
    }
  }
}

@Suite struct StatusLineTests {
  private func status(_ state: LibraryStatus.State, photos: Int = 204) -> LibraryStatus {
    LibraryStatus(
      state: state, library: "", token: "", version: "", assetCount: photos,
      roots: [.init(path: "/p", state: .online)])
  }

  @Test func statusLineHasTheCounts() {
    #expect(statusLine(status(.live)) == "live: 204 photos, 1 folder")
    #expect(statusLine(status(.live, photos: 1)) == "live: 1 photo, 1 folder")
  }

  @Test func statusLineHasProgressAndWarnings() {
    var status = status(.scanning)
    status.progress = .init(done: 1234, phase: "scanning")
    #expect(statusLine(status) == "scanning: 204 photos, 1 folder, 1,234 files seen")
    status.progress = nil
    status.failedCount = 2
    status.warnings = ["/p can't be opened.", "more"]
    #expect(
      statusLine(status) == "scanning: 204 photos, 1 folder, 2 with unreadable content; 2 warnings: /p can't be opened."
    )
  }
}
