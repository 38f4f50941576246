// SPDX-License-Identifier: Apache-2.0

import CTestProcess
import Foundation
import Glibc

/// A program that a test starts. It stands in place of Foundation's `Process`, and has the same names.
///
/// A test program that starts hundreds of programs side by side needs two things that Foundation's class does not give
/// on Linux:
/// - A program inherits its three standard descriptors and no other. Foundation's class passes on descriptors that
///   another thread has opened meanwhile. The program then holds the pipe of another program open, and a test that
///   reads this pipe waits for the ends of both.
/// - The end of a program is known when the program has ended. Foundation's class waits for the end of a socket that
///   the program inherits. A daemon that the program leaves behind, or another program, delays it.
package final class TestProcess: @unchecked Sendable {
  package enum TerminationReason: Sendable { case exit, uncaughtSignal }

  private enum State {
    case new
    case running(pid_t)
    /// - Parameter status: what waitpid(2) returns.
    case ended(pid_t, status: Int32)
  }

  // These are set before the program is started, and not changed later.
  package var executableURL: URL?
  package var arguments: [String]?
  /// If it is nil, the program has the variables of the test.
  package var environment: [String: String]?
  package var currentDirectoryURL: URL?
  /// If one of these is nil, the program has that of the test.
  package var standardInput: (any StandardStream)?
  package var standardOutput: (any StandardStream)?
  package var standardError: (any StandardStream)?

  private let condition = NSCondition()
  // Under the lock of `condition`.
  private var state = State.new
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Starts the program. The test's own copies of the program's ends of the pipes are closed.
  package func run() throws {
    let path = executableURL!.path
    let streams = [standardInput, standardOutput, standardError]
    let descriptors = streams.enumerated().map { number, stream in stream?.descriptor(number) ?? Int32(number) }
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    var child: pid_t = 0
    let error = Self.withPointers([path] + (arguments ?? [])) { words in
      Self.withPointers(variables) { variables in
        testprocess_spawn(&child, path, words, variables, currentDirectoryURL?.path, descriptors)
      }
    }
    guard error == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO, userInfo: [NSFilePathErrorKey: path])
    }
    for (number, stream) in streams.enumerated() { stream?.wasPassedOn(number) }
    condition.withLock { state = .running(child) }
    let reaper = Thread { [self, child] in reap(child) }
    reaper.stackSize = 256 << 10
    reaper.start()
  }

  /// Waits for the end. It blocks its thread.
  @available(*, noasync) package func waitUntilExit() {
    condition.withLock { while case .running = state { condition.wait() } }
  }

  /// Waits for the end. Other tests need the threads of the tasks meanwhile.
  package func waitUntilExit() async {
    await withCheckedContinuation { continuation in
      let isRunning = condition.withLock {
        guard case .running = state else { return false }
        waiting.append(continuation)
        return true
      }
      if !isRunning { continuation.resume() }
    }
  }

  package var isRunning: Bool {
    condition.withLock { if case .running = state { true } else { false } }
  }

  /// It stays the same after the end of the program.
  package var processIdentifier: pid_t {
    condition.withLock {
      switch state {
      case .new: preconditionFailure("the program was not started")
      case .running(let id), .ended(let id, _): id
      }
    }
  }

  /// The exit status, or the signal that ended the program.
  package var terminationStatus: Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : signal
  }

  package var terminationReason: TerminationReason { status & 0x7F == 0 ? .exit : .uncaughtSignal }

  package func terminate() { signal(SIGTERM) }

  /// Sends a signal if the program runs. No other process can get it, because a process is reaped under the same lock.
  package func signal(_ number: Int32) {
    condition.withLock { if case .running(let id) = state { Glibc.kill(id, number) } }
  }

  private var status: Int32 {
    condition.withLock {
      guard case .ended(_, let status) = state else { preconditionFailure("the program has not ended") }
      return status
    }
  }

  private func reap(_ id: pid_t) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let continuations = condition.withLock {
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      state = .ended(id, status: status)
      condition.broadcast()
      defer { waiting = [] }
      return waiting
    }
    for continuation in continuations { continuation.resume() }
  }

  private static func withPointers<Result>(
    _ words: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let pointers = words.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return (pointers + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}

/// The standard input, output or error of a ``TestProcess``: a pipe, a file or `FileHandle.nullDevice`.
package protocol StandardStream {
  /// The descriptor that the program gets as descriptor `number`. A negative one stands for /dev/null.
  func descriptor(_ number: Int) -> Int32
  /// The program has its own copy now.
  func wasPassedOn(_ number: Int)
}

extension FileHandle: StandardStream {
  package func descriptor(_ number: Int) -> Int32 { self === FileHandle.nullDevice ? -1 : fileDescriptor }
  package func wasPassedOn(_ number: Int) {}

  /// Reads to the end. Other tests need the threads of the tasks meanwhile.
  package func readToEnd() async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try self.readToEnd() }) }
    }
  }

  /// Waits for bytes or the end. Other tests need the threads of the tasks meanwhile.
  ///
  /// - Returns: no bytes at the end.
  package func availableData(within limit: Duration) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        var polled = pollfd(fd: self.fileDescriptor, events: Int16(POLLIN), revents: 0)
        continuation.resume(
          with: Result {
            guard poll(&polled, 1, Int32(limit / .milliseconds(1))) > 0 else { throw POSIXError(.ETIMEDOUT) }
            return self.availableData
          })
      }
    }
  }
}

extension Pipe: StandardStream {
  package func descriptor(_ number: Int) -> Int32 { end(number).fileDescriptor }

  package func wasPassedOn(_ number: Int) {
    // Two streams of a program can be the same pipe.
    try? end(number).close()
  }

  private func end(_ number: Int) -> FileHandle { number == 0 ? fileHandleForReading : fileHandleForWriting }
}
