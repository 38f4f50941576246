// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoWatch
@testable import WorkerProcess

/// The handling of a photod-watch that hangs, dies or sends garbage.
@Suite(.timeLimit(.minutes(10))) struct HangTests {
  let disk: Disk

  private static let hasPython = access("/usr/bin/python3", X_OK) == 0

  init() throws { disk = try Disk() }

  /// A Python program, in which `s` is the socket to photod.
  private func script(_ body: String) -> String {
    let path = disk.outside + "/watch"
    let head = """
      #!/usr/bin/python3
      import os, socket, struct, sys, time
      s = socket.socket(fileno=3)
      def frame(payload): s.sendall(struct.pack('<I', len(payload)) + payload)

      """
    Disk.write(path, head + body + "\n")
    chmod(path, 0o755)
    return path
  }

  private func exitReasons(_ session: WatchSession, _ count: Int) async throws -> [String] {
    while session.deaths.count < count { try await session.takeInput() }
    return session.deaths
  }

  @Test func hangingWatcherIsReplacedAndMissesNothing() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root], longestSilence: .seconds(2))
    // On a slow machine, the first process may already have been replaced as hanging.
    var process: pid_t = 0
    while process == 0 || process != session.watcher.processID {
      process = session.watcher.processID ?? 0
      if process != 0 { kill(process, SIGSTOP) }
    }
    disk.write("meanwhile/b.jpg")
    while kill(process, 0) == 0 { try await session.takeInput() }
    #expect(errno == ESRCH, "it is reaped")
    let said = try await exitReasons(session, 1)
    #expect(said.allSatisfy { $0.contains("it sent nothing for 2.0 seconds: signal 9 ended it") }, "\(said)")
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatSendsNothingIsReplaced() async throws {
    let session = try await WatchSession(
      roots: [disk.root], executable: script("time.sleep(600)"), waiting: false, longestSilence: .milliseconds(300))
    #expect(try await exitReasons(session, 2).allSatisfy { $0.contains("it sent nothing") })
    await session.watcher.stop()
  }

  /// Only silence counts, whatever else a process sends or omits.
  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatSendsAliveIsKeptAndNoConsumerIsWoken() async throws {
    let body = """
      s.sendall(b'photodw' + bytes([\(WatchStream.version)]))
      for _ in range(24):
        time.sleep(0.25)
        frame(bytes([33]))
      frame(bytes([13]) + struct.pack('<Q', 77))
      s.recv(1 << 16)
      while s.recv(1 << 16): pass
      """
    let session = try await WatchSession(
      roots: [disk.root], executable: script(body), waiting: false, longestSilence: .seconds(4))
    #expect(try await session.takeInput() == .started(session: 1))
    // The next input comes after six seconds. So the process was not replaced, and `alive` went only to the watcher.
    #expect(try await session.takeInput() == .batch([.synced(number: 77)]))
    await session.watcher.stop()
  }

  /// At rest, photod-watch wakes every ten seconds and sends `alive`. The test needs this time.
  @Test func aProcessAtRestIsKept() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root], longestSilence: .seconds(14))
    let process = session.watcher.processID
    try await Task.sleep(for: .seconds(16))
    try await session.sync()
    #expect(session.deaths.isEmpty && session.watcher.processID == process)
    await session.watcher.stop()
  }

  /// On these disks, the looks for a listing take six seconds or more.
  @Test(
    .enabled(if: Interposer.isPossible, "cc is not installed"),
    arguments: [(300, 20, false), (20, 400, false), (12, 400, true)])
  func aProcessThatListsASlowDiskIsKept(files: Int, milliseconds: Int, hidesTypes: Bool) async throws {
    for index in 0..<files { disk.write("\(index).jpg") }
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(
        disk, Interposer.slowLooks(milliseconds: milliseconds, hidesTypes: hidesTypes),
        variables: "PHOTOD_WATCH_SILENCE=200"),
      waiting: false, longestSilence: .seconds(4))
    let start = ContinuousClock.now
    var isScanned = false
    while !isScanned, session.deaths.isEmpty {
      guard case .batch(let records) = try await session.takeInput() else { continue }
      isScanned = records.contains { if case .scanEnded(_, _, true) = $0 { true } else { false } }
    }
    #expect(ContinuousClock.now - start > .seconds(5), "the disk was slow")
    #expect(session.deaths.isEmpty)
    await session.watcher.stop()
  }

  /// Its listing would take twenty seconds.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"), arguments: [true, false])
  func aProcessThatListsASlowDiskEndsAtOnce(bySignal: Bool) async throws {
    let cookies = disk.outside + "/cookies"
    Disk.makeDirectories(cookies)
    for index in 0..<1000 { disk.write("\(index).jpg") }
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(
        disk, Interposer.slowLooks(milliseconds: 20),
        variables: "PHOTOD_WATCH_SILENCE=200 XDG_RUNTIME_DIR= TMPDIR=\(cookies)"), waiting: false)
    try await session.take { if case .scanStarted = $0 { true } else { false } }
    if bySignal {
      kill(try #require(session.watcher.processID), SIGTERM)
      #expect(try await exitReasons(session, 1)[0].contains("it exited with status 0"))
      #expect(session.model.files.isEmpty, "the listing was not finished")
    }
    await session.watcher.stop()
    // Only an empty directory can be removed. A process that is killed leaves its directory for sync cookies in it.
    #expect(rmdir(cookies) == 0)
  }

  /// Each look takes longer than the first process may be silent.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"), .timeLimit(.minutes(10)))
  func aShareWithSlowCallsIsScannedAfterFewReplacements() async throws {
    for index in 0..<4 { disk.write("\(index).jpg") }
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(
        disk, Interposer.slowLooks(milliseconds: 1_500), variables: "PHOTOD_WATCH_SILENCE=200"),
      waiting: false, longestSilence: .seconds(1), place: .share)
    var isOffline = false
    try await session.take { record in
      if case .rootOffline(_, ETIMEDOUT) = record { isOffline = true }
      guard case .scanEnded(_, _, true) = record else { return false }
      return true
    }
    #expect(isOffline, "the share did not answer in time")
    #expect(session.deaths.count == 1, "only the first end is reported")
    // The limit has doubled once or, on a slow machine, a few times.
    #expect(session.startCount <= 4)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The first process never answers. The second one waits in a slow call, which is shorter than its limit.
  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"), .timeLimit(.minutes(10)))
  func noSyncWaitsForAShareThatIsLateAndItsProcessContinues() async throws {
    let (begun, mayGoOn) = (disk.outside + "/begun", disk.outside + "/go-on")
    let body = """
      if not os.path.exists('\(begun)'):
        open('\(begun)', 'w').close()
        time.sleep(600)
      s.sendall(b'photodw' + bytes([\(WatchStream.version)]))
      frame(bytes([33]))
      while not os.path.exists('\(mayGoOn)'): time.sleep(0.01)
      while True:
        frame(bytes([33]))
        time.sleep(0.2)
      """
    let session = try await WatchSession(
      roots: [disk.root], executable: script(body), waiting: false, longestSilence: .seconds(2), place: .share)
    while session.startCount < 2 { try await session.takeInput() }
    let (process, deaths) = (session.watcher.processID, session.deaths.count)
    let request = session.watcher.rescan(root: 1, directory: nil)
    func isLate() -> Bool {
      session.watcher.state.withLock { if case .late = $0.presence { true } else { false } }
    }
    session.watcher.sync(number: 1)
    try await session.take { $0 == .synced(number: 1) }
    try #require(isLate())
    session.watcher.sync(number: 2)
    #expect(try await session.takeInput() == .batch([.synced(number: 2)]), "it is answered at once")
    Disk.write(mayGoOn, "")
    try await eventually("it answers") { !isLate() }
    #expect(session.watcher.processID == process && session.deaths.count == deaths, "it was not replaced")
    #expect(session.watcher.state.withLock { $0.openRescans[request] } == 1, "the rescan goes on")
    await session.watcher.stop()
  }

  @Test func theLimitOfSilenceDoublesUntilNoProcessIsLateForTenMinutes() {
    let start = SuspendingClock().now
    func at(_ seconds: Int) -> SuspendingClock.Instant { start + .seconds(seconds) }
    var limit = SilenceLimit(first: .seconds(20), at: start)
    var lengths: [Duration] = []
    for number in 1...8 {
      limit.noteReplacement(at: at(number))
      lengths.append(limit.current)
    }
    #expect(lengths == [40, 80, 160, 320, 640, 640, 640, 640].map { .seconds($0) })
    limit.noteOutput(after: .seconds(19), at: at(600))
    #expect(limit.current == .seconds(640))
    // It was late once more, so the ten minutes begin again.
    limit.noteOutput(after: .seconds(20), at: at(606))
    limit.noteOutput(after: .seconds(1), at: at(1_205))
    #expect(limit.current == .seconds(640))
    limit.noteOutput(after: .seconds(1), at: at(1_206))
    #expect(limit.current == .seconds(20))
  }

  /// If photod does not read, the records that it misses are no silence.
  @Test func aProcessThatWaitsForItsReaderIsKept() async throws {
    for index in 0..<2000 { disk.write("d\(index % 100)/\(index).jpg") }
    let session = try await WatchSession(
      roots: [disk.root], waiting: false, maximumWaitingFrames: 1, longestSilence: .seconds(3))
    // Nothing is read for longer than the longest silence. The test shows that this time does not count.
    try await Task.sleep(for: .milliseconds(4500))
    try await session.take { if case .scanEnded(_, _, true) = $0 { true } else { false } }
    #expect(session.deaths.isEmpty && session.startCount == 1)
    await session.watcher.stop()
  }

  @Test(
    .enabled(if: hasPython, "/usr/bin/python3 is not installed"),
    arguments: [
      "s.sendall(os.urandom(100000))",
      "s.sendall(b'photodw' + bytes([2]))",
      "s.sendall(b'photodw' + bytes([\(WatchStream.version)]) + struct.pack('<I', 0xFFFFFFFF) + b'x' * 1000)",
      "s.sendall(b'photodw' + bytes([\(WatchStream.version)]) + struct.pack('<I', 0))",
      "s.sendall(b'photodw' + bytes([\(WatchStream.version)])); frame(bytes([200]))",
      "s.sendall(b'photodw' + bytes([\(WatchStream.version)])); frame(bytes([1, 2, 3]))",
      "s.sendall(b'photodw' + bytes([\(WatchStream.version)]) + struct.pack('<I', 1000) + b'x'); s.shutdown(socket.SHUT_WR)",
      "s.sendall(b'phot'); s.close()",
      "sys.exit(3)",
      "os.kill(os.getpid(), 11)",
    ])
  func watcherThatSendsInvalidRecordsIsReplaced(what: String) async throws {
    let session = try await WatchSession(
      roots: [disk.root], executable: script(what + "\ntime.sleep(600)"), waiting: false)
    #expect(try await exitReasons(session, 1).count == 1)
    #expect(session.records.isEmpty)
    await session.watcher.stop()
  }

  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatEndsAtOnceIsRestartedAfterGrowingPauses() async throws {
    let starts = disk.outside + "/starts"
    let session = try await WatchSession(
      roots: [disk.root], executable: script("open('\(starts)', 'a').write(repr(time.monotonic()) + '\\n')"),
      waiting: false)
    _ = try await exitReasons(session, 4)
    await session.watcher.stop()
    let times = try #require(Disk.read(starts)).split(separator: "\n").compactMap { Double($0) }
    let waits = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(times.count >= 4)
    for (wait, least) in zip(waits, [0.1, 0.2, 0.4]) { #expect(wait >= least) }
  }

  @Test func aMissingProgramIsTriedUntilItExists() async throws {
    disk.write("a.jpg")
    let path = disk.outside + "/later"
    let session = try await WatchSession(roots: [disk.root], executable: path, waiting: false)
    #expect(try await exitReasons(session, 1)[0].contains("can't be started"))
    // A package is being replaced, and now the program exists.
    Disk.write(disk.outside + "/new", "#!/bin/sh\nexec \(BuiltPrograms.path("photod-watch"))\n")
    chmod(disk.outside + "/new", 0o755)
    Glibc.rename(disk.outside + "/new", path)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }
}
