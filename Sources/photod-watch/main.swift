// SPDX-License-Identifier: GPL-2.0-or-later

import CThread
import CWatchShim
import Glibc
import SystemErrors

/// The descriptor of the socket to photod: 3, or the number after --fd.
func socketDescriptor(_ arguments: [String]) throws(WatchStartError) -> Int32 {
  var descriptor: Int32 = 3
  let arguments = arguments.filter { $0 != "--files" }
  if arguments.count == 3, arguments[1] == "--fd", let given = Int32(arguments[2]), given >= 0 {
    descriptor = given
  } else if arguments.count != 1 {
    throw WatchStartError(
      message: """
        usage: photod-watch [--files] [--fd N]; photod starts it, N is one end of a socket pair; \
        with --files it opens files for photod, and watches nothing
        """)
  }
  var kind: Int32 = 0
  var length = socklen_t(MemoryLayout<Int32>.size)
  guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else {
    throw WatchStartError(message: "descriptor \(descriptor) is no socket: only photod can start this program")
  }
  guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw WatchStartError(message: errorText(errno)) }
  return descriptor
}

/// Runs the watcher or, with --files, the file server, until photod closes its end of the socket or a signal ends the
/// process.
/// - Returns: the exit status.
func work() -> Int32 {
  do throws(WatchStartError) {
    let socket = try socketDescriptor(CommandLine.arguments)
    watchshim_close_others(socket)
    // The directory in which photod was started must remain unmountable.
    guard chdir("/") == 0 else {
      throw WatchStartError(message: "the directory can't be changed to /: \(errorText(errno))")
    }
    if CommandLine.arguments.contains("--files") {
      // Signals may end it at any point, because it keeps nothing that needs cleaning up.
      let deathError = watchshim_die_with_parent()
      guard deathError == 0 else {
        throw WatchStartError(message: "the signal for the parent's end can't be set: \(errorText(deathError))")
      }
      var server = FileServer(socket: socket)
      return server.run()
    }
    let signalError = watchshim_note_termination()
    guard signalError == 0 else {
      throw WatchStartError(message: "the signal handler can't be set: \(errorText(signalError))")
    }
    let deathError = watchshim_die_with_parent()
    guard deathError == 0 else {
      throw WatchStartError(message: "the signal for the parent's end can't be set: \(errorText(deathError))")
    }
    // Callers wait for what happens in the folders. If the kernel refuses the slice, they wait longer on a busy machine.
    _ = cthread_request_slice(cthread_shortest_slice)
    return FolderWatch(socket: socket).run()
  } catch {
    complain(error.message)
    return 1
  }
}

exit(work())
