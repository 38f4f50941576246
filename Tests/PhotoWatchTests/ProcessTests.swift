// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoWatch
import Testing
import WatchRecords

@Suite struct ProcessTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  @Test func itIsReapedWhenItIsStopped() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    await session.watcher.stop()
    #expect(kill(process, 0) != 0 && errno == ESRCH)
    #expect(session.watcher.processID == nil)
    await #expect(throws: WatchSession.Ended.self) { while true { try await session.takeInput() } }
  }

  @Test func itInheritsNoDescriptor() async throws {
    let leaky = open("/dev/null", O_RDONLY)
    defer { close(leaky) }
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    var targets: [String] = []
    let stream = try #require(opendir("/proc/\(process)/fd"))
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard let number = Int32(name), number > 2 else { continue }
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/\(process)/fd/\(name)", &buffer, buffer.count)
      guard count > 0 else { continue }
      targets.append(String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    // The socket, the inotify instance, the directory of the cookies, the mount table; libinotifytools' own descriptors.
    #expect(!targets.contains("/dev/null"), "\(targets)")
    #expect(targets.count { $0.hasPrefix("socket:") } == 1, "\(targets)")
    await session.watcher.stop()
  }

  @Test func itHoldsNoDirectoryOpenWhenItIsQuiet() async throws {
    disk.write("a/b/c.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.write("a/b/d.jpg")
    try await session.sync()
    let process = try #require(session.watcher.processID)
    // It says `synced` before it sleeps; the answer to another one proves that it slept between.
    try await session.sync()
    let stream = try #require(opendir("/proc/\(process)/fd"))
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/\(process)/fd/\(name)", &buffer, buffer.count)
      guard count > 0 else { continue }
      let target = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      #expect(!target.hasPrefix(disk.root))
    }
    await session.watcher.stop()
  }

  @Test func itIsStartedAgainWhenItDies() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    let request = session.watcher.rescan(root: 1, directory: nil)
    kill(process, SIGKILL)
    while session.deaths.isEmpty { try await session.takeInput() }
    #expect(try await session.takeInput() == .started(session: 2))
    if !session.records.contains(.scanEnded(root: 1, request: request, complete: true)) {
      try await session.take { if case .scanEnded(1, _, true) = $0 { true } else { false } }
    }
    try await session.sync()
    session.expectTruth([disk.root])
    await session.watcher.stop()
  }

  @Test func aProgramThatDiesAtOnceIsSaidWithItsReason() async throws {
    let session = try await WatchSession(roots: [disk.root], executable: "/bin/false", waiting: false)
    while session.deaths.count < 2 { try await session.takeInput() }
    #expect(session.deaths[0].contains("status 1"))
    await session.watcher.stop()
  }

  @Test func aProgramThatSpeaksOtherwiseIsRefused() async throws {
    let script = disk.outside + "/speaks"
    Disk.write(script, "#!/bin/sh\necho 'hello, I am no photod-watch' >&3\nread line <&3\n")
    chmod(script, 0o755)
    let session = try await WatchSession(roots: [disk.root], executable: script, waiting: false)
    while session.deaths.isEmpty { try await session.takeInput() }
    #expect(session.deaths[0].contains("greets"))
    await session.watcher.stop()
  }

  @Test func aConsumerThatDoesNotReadCostsBoundedMemoryAndLosesNothing() async throws {
    for index in 0..<300 { disk.write("d\(index % 10)/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root], maximumWaitingFrames: 1)
    for round in 0..<30 {
      session.watcher.rescan(root: 1, directory: nil)
      if round % 10 == 0 { disk.write("d\(round)/new.jpg") }
    }
    try await session.sync()
    session.expectTruth([disk.root])
    await session.watcher.stop()
  }

  @Test func itEndsWhenItsParentIsKilled() async throws {
    // A script that is killed in our place: photod-watch is its child, and it had the other end of the socket.
    let executable = try WatchSession.builtExecutable()
    let record = disk.outside + "/pid"
    let script = """
      import os, socket, subprocess, sys, time
      ours, theirs = socket.socketpair()
      number = theirs.fileno()
      child = subprocess.Popen([sys.argv[1], '--fd', str(number)], pass_fds=[number])
      theirs.close()
      ours.recv(8)
      open(sys.argv[2] + '.new', 'w').write(str(child.pid))
      os.rename(sys.argv[2] + '.new', sys.argv[2])
      time.sleep(600)
      """
    Disk.write(disk.outside + "/parent.py", script)
    var parent: pid_t = 0
    let words: [String] = ["/usr/bin/python3", disk.outside + "/parent.py", executable, record]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    let started = posix_spawn(&parent, "/usr/bin/python3", nil, nil, &arguments, environ)
    try #require(started == 0)
    var deadline = ContinuousClock.now + .seconds(60)
    while access(record, R_OK) != 0, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    let child = try #require(Disk.read(record).flatMap { pid_t($0) })
    #expect(kill(child, 0) == 0)
    kill(parent, SIGKILL)
    var status: Int32 = 0
    waitpid(parent, &status, 0)
    deadline = .now + .seconds(60)
    while !Disk.hasEnded(child), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    #expect(Disk.hasEnded(child))
  }
}

extension Disk {
  static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// A process that is no more, or only waits to be reaped by whoever inherited it.
  static func hasEnded(_ process: pid_t) -> Bool {
    guard let line = read("/proc/\(process)/stat"), let end = line.lastIndex(of: ")") else { return true }
    return line[end...].dropFirst(2).first == "Z"
  }
}
