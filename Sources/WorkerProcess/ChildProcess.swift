// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemErrors

/// Two connected descriptors that no child inherits (Swift on Linux imports neither pipe2 nor eventfd).
func makeSocketPair(nonBlocking: Bool = false) throws -> [Int32] {
  var pair: [Int32] = [-1, -1]
  let flags = SOCK_CLOEXEC.rawValue | (nonBlocking ? SOCK_NONBLOCK.rawValue : 0)
  guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0, &pair) == 0 else {
    throw WorkerError("no socket pair can be made", errorNumber: errno)
  }
  return pair
}

/// A running worker: its process, our end of the socket pair, and our end of its standard error. If the program uses
/// PR_SET_PDEATHSIG, as photod-watch does, the thread that starts it must live as long as the child: Linux takes the
/// thread's end for the parent's death.
package struct ChildProcess: Sendable {
  package let processID: pid_t
  package let socket: Int32
  package let standardError: Int32

  /// Starts the program with one end of a new socket pair as descriptor 3, and its standard error in another pair. No
  /// signal is blocked or ignored in it. The program must first close our descriptors that lack close-on-exec.
  package init(executable: String, arguments: [String] = []) throws {
    let pair = try makeSocketPair()
    let errorPipe: [Int32]
    do {
      errorPipe = try makeSocketPair()
    } catch {
      for descriptor in pair { close(descriptor) }
      throw error
    }
    var started: pid_t = 0
    let number = Self.spawn(executable, arguments, socket: pair[1], standardError: errorPipe[1], &started)
    close(pair[1])
    close(errorPipe[1])
    guard number == 0 else {
      close(pair[0])
      close(errorPipe[0])
      throw WorkerError("\(executable) can't be started", errorNumber: number)
    }
    for descriptor in [pair[0], errorPipe[0]] {
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
    processID = started
    socket = pair[0]
    standardError = errorPipe[0]
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], socket: Int32, standardError: Int32, _ started: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // 3 is assigned last, because until then it may be one of the others.
    posix_spawn_file_actions_adddup2(&actions, standardError, STDERR_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var words = ([executable] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    words.append(nil)
    return posix_spawn(&started, executable, &actions, &attributes, &words, environ)
  }

  /// Closes our ends, so that the process ends by itself. After `patience` it is killed. Then it is reaped.
  /// `beforeClosing` may read the last of its standard error.
  ///
  /// - Parameter kill: kills a process.
  /// - Returns: how it ended. nil if it did not end within the same time again, although it was killed: it waits for a
  ///   disk, and must still be reaped.
  package func end(patience: Duration, kill: (pid_t) -> Void, beforeClosing: () -> Void) -> String? {
    close(socket)
    defer {
      beforeClosing()
      close(standardError)
    }
    var status: Int32 = 0
    var deadline = ContinuousClock.now + patience
    var isKilled = false
    while true {
      let reaped = waitpid(processID, &status, WNOHANG)
      if reaped == processID { break }
      if reaped < 0, errno != EINTR { return "its exit status is not known: \(errorText(errno))" }
      if ContinuousClock.now >= deadline {
        if isKilled { return nil }
        kill(processID)
        isKilled = true
        deadline = ContinuousClock.now + patience
      }
      usleep(2000)
    }
    if isKilled { return "it did not end by itself and was killed" }
    let signal = status & 0x7F
    return signal == 0 ? "it exited with status \((status >> 8) & 0xFF)" : "signal \(signal) ended it"
  }
}
