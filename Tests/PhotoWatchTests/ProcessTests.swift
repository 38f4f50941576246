// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  @Test func stoppedProcessIsReaped() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    await session.watcher.stop()
    #expect(kill(process, 0) != 0 && errno == ESRCH)
    #expect(session.watcher.processID == nil)
    await #expect(throws: WatchSession.Ended.self) { while true { try await session.takeInput() } }
  }

  @Test func processInheritsNoDescriptor() async throws {
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
    // The socket, the inotify instance, the cookies' directory, the mount table, and libinotifytools' own descriptors.
    #expect(!targets.contains("/dev/null"), "\(targets)")
    #expect(targets.count { $0.hasPrefix("socket:") } == 1, "\(targets)")
    await session.watcher.stop()
  }

  @Test func idleProcessHasNoOpenDirectory() async throws {
    disk.write("a/b/c.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.write("a/b/d.jpg")
    try await session.sync()
    let process = try #require(session.watcher.processID)
    // It sends `synced` before it sleeps. The answer to another sync proves that it slept in between.
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

  /// It tries again at every check.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"))
  func aDirectoryForSyncCookiesThatCanNotBeOpenedIsRemoved() async throws {
    let cookies = disk.outside + "/cookies"
    Disk.makeDirectories(cookies)
    let source = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <string.h>
      static int replaced(const char *function, const char *path, int flags, int mode) {
        int (*real)(const char *, int, int) = dlsym(RTLD_NEXT, function);
        if (!strstr(path, "/cookies/")) return real(path, flags, mode);
        errno = EMFILE;
        return -1;
      }
      int open(const char *path, int flags, int mode) { return replaced("open", path, flags, mode); }
      int open64(const char *path, int flags, int mode) { return replaced("open64", path, flags, mode); }

      """
    disk.write("a.jpg")
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(disk, source, variables: "XDG_RUNTIME_DIR= TMPDIR=\(cookies)"))
    session.expectDiskState([disk.root])
    await session.watcher.stop()
    #expect(rmdir(cookies) == 0, "it is empty")
  }

  @Test func processIsRestartedAfterItsEnd() async throws {
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
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aProgramThatEndsAtOnceIsReportedWithItsReason() async throws {
    let session = try await WatchSession(roots: [disk.root], executable: "/bin/false", waiting: false)
    while session.deaths.count < 2 { try await session.takeInput() }
    #expect(session.deaths[0].contains("status 1"))
    await session.watcher.stop()
  }

  @Test func aProgramWithAnotherProtocolIsRefused() async throws {
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
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func processEndsWhenItsParentIsKilled() async throws {
    // A script is killed in photod's place. photod-watch is its child, and the script had the other end of the socket.
    let executable = BuiltPrograms.path("photod-watch")
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
    let parent = TestProcess()
    parent.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    parent.arguments = [disk.outside + "/parent.py", executable, record]
    try parent.run()
    try await eventually("the script has started photod-watch") { access(record, R_OK) == 0 }
    let child = try #require(Disk.read(record).flatMap { pid_t($0) })
    #expect(kill(child, 0) == 0)
    parent.signal(SIGKILL)
    await parent.waitUntilExit()
    try await eventually("photod-watch has ended") { Disk.hasEnded(child) }
  }
}

extension Disk {
  /// Whether a process has ended, or only waits to be reaped by its new parent.
  static func hasEnded(_ process: pid_t) -> Bool {
    guard let line = read("/proc/\(process)/stat"), let end = line.lastIndex(of: ")") else { return true }
    return line[end...].dropFirst(2).first == "Z"
  }
}
