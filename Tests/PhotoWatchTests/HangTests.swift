// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// The handling of a photod-watch that hangs, dies or sends garbage.
@Suite struct HangTests {
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

  private func deaths(_ session: WatchSession, _ count: Int) async throws -> [String] {
    while session.deaths.count < count { try await session.takeInput() }
    return session.deaths
  }

  @Test func oneThatHangsIsReplacedAndNothingIsMissed() async throws {
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
    let said = try await deaths(session, 1)
    #expect(said.allSatisfy { $0.contains("it said nothing for 2.0 seconds: signal 9 ended it") }, "\(said)")
    try await session.sync()
    session.expectTruth([disk.root])
    await session.watcher.stop()
  }

  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatSendsNothingIsReplaced() async throws {
    let session = try await WatchSession(
      roots: [disk.root], executable: script("time.sleep(600)"), waiting: false, longestSilence: .milliseconds(300))
    #expect(try await deaths(session, 2).allSatisfy { $0.contains("it said nothing") })
    await session.watcher.stop()
  }

  /// Only silence counts, whatever else a process sends or omits.
  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatSendsAliveIsKeptAndNoConsumerIsWoken() async throws {
    let body = """
      s.sendall(b'photodw' + bytes([4]))
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
      #expect(try await deaths(session, 1)[0].contains("it exited with status 0"))
      #expect(session.model.files.isEmpty, "the listing was not finished")
    }
    await session.watcher.stop()
    // Only an empty directory can be removed. A process that is killed leaves its directory for sync cookies in it.
    #expect(rmdir(cookies) == 0)
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
      "s.sendall(b'photodw' + bytes([4]) + struct.pack('<I', 0xFFFFFFFF) + b'x' * 1000)",
      "s.sendall(b'photodw' + bytes([4]) + struct.pack('<I', 0))",
      "s.sendall(b'photodw' + bytes([4])); frame(bytes([200]))",
      "s.sendall(b'photodw' + bytes([4])); frame(bytes([1, 2, 3]))",
      "s.sendall(b'photodw' + bytes([4]) + struct.pack('<I', 1000) + b'x'); s.shutdown(socket.SHUT_WR)",
      "s.sendall(b'phot'); s.close()",
      "sys.exit(3)",
      "os.kill(os.getpid(), 11)",
    ])
  func oneThatTalksNonsenseIsReplaced(what: String) async throws {
    let session = try await WatchSession(
      roots: [disk.root], executable: script(what + "\ntime.sleep(600)"), waiting: false)
    #expect(try await deaths(session, 1).count == 1)
    #expect(session.records.isEmpty)
    await session.watcher.stop()
  }

  @Test(.enabled(if: hasPython, "/usr/bin/python3 is not installed"))
  func aProcessThatEndsAtOnceIsRestartedAfterGrowingPauses() async throws {
    let starts = disk.outside + "/starts"
    let session = try await WatchSession(
      roots: [disk.root], executable: script("open('\(starts)', 'a').write(repr(time.monotonic()) + '\\n')"),
      waiting: false)
    _ = try await deaths(session, 4)
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
    #expect(try await deaths(session, 1)[0].contains("can't be started"))
    // A package is being replaced, and now the program exists.
    Disk.write(disk.outside + "/new", "#!/bin/sh\nexec \(BuiltPrograms.path("photod-watch"))\n")
    chmod(disk.outside + "/new", 0o755)
    Glibc.rename(disk.outside + "/new", path)
    try await session.sync()
    session.expectTruth([disk.root])
    await session.watcher.stop()
  }
}
