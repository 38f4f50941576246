import Glibc
import Logging
import Synchronization
import SystemErrors

/// The socket at which this process listens. It belongs to the process, and each library gets a duplicate.
final class ListeningSocket: Sendable {
  private enum State {
    /// The service manager passed the socket, and keeps it when photod ends. The path is nil if the socket has none. The
    /// file is nil if there was none at the path when photod started.
    case given(Int32, path: String?, file: SocketFile.Identity?)
    case made(SocketFile)
  }

  private let state: Mutex<State>
  /// The service manager has the socket too. When a client connects and there is no photod, the manager starts one.
  let isGiven: Bool

  /// - Parameter descriptor: a listening socket of a service manager. ``close(_:)`` closes it.
  init(given descriptor: Int32) {
    isGiven = true
    let path = UnixSocketAddress.path(of: descriptor)
    state = Mutex(.given(descriptor, path: path, file: path.flatMap { SocketFile.Identity(of: $0) }))
  }

  init(made file: SocketFile) {
    isGiven = false
    state = Mutex(.made(file))
  }

  /// A duplicate for a library, which closes it.
  func duplicate() throws(StartError) -> Int32 {
    let copy = state.withLock { state in
      switch state {
      case .given(let descriptor, _, _): fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      case .made(let file): fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)
      }
    }
    guard copy >= 0 else {
      throw StartError(
        .system, "the socket can't be duplicated: \(errorText(errno))", remedy: "Raise the limit of open files.")
    }
    return copy
  }

  /// The path of its file. It is empty for a socket of a service manager that has none.
  var path: String {
    state.withLock { state in
      switch state {
      case .given(_, let path, _): path ?? ""
      case .made(let file): file.path
      }
    }
  }

  /// The condition of the socket's file.
  enum Condition: Sendable {
    /// The file is there, so that clients can connect.
    case present
    /// The file was deleted, and photod has made a socket at this path again. Libraries need a new duplicate.
    case madeAgain(path: String)
    /// There is no such file, and only the service manager can make it again. It was deleted, or a private mount
    /// namespace hides it from this process.
    case lost(path: String)
    /// The file was deleted, and photod could not make it again.
    case failed(path: String, StartError)
  }

  /// Checks whether the socket's file is still there, and makes it again if photod made it. A program that cleans /run or
  /// /tmp may have deleted it. A file of another process is left alone.
  ///
  /// This costs a stat(2), unless the file is gone. It waits for no other process: the next check tries again.
  func restore() -> Condition {
    state.withLock { state in
      switch state {
      case .given(_, let path, let file):
        guard let path, file?.isThere != true else { return .present }
        return .lost(path: path)
      case .made(let file):
        if file.isThere { return .present }
        switch Self.bind(file.path) {
        case .success(let new):
          // The name belongs to the new socket.
          file.stopListening()
          state = .made(new)
          return .madeAgain(path: file.path)
        case .failure(let error): return .failed(path: file.path, error)
        }
      }
    }
  }

  private static func bind(_ path: String) -> Result<SocketFile, StartError> {
    do { return .success(try SocketFile(binding: path, waits: false)) } catch { return .failure(error) }
  }

  /// Closes the socket, and removes its file if photod made it.
  func close(_ logger: Logger) {
    state.withLock { state in
      switch state {
      case .given(let descriptor, _, _): Glibc.close(descriptor)
      case .made(let file):
        if let problem = file.close() {
          logger.warning("socket not removed", metadata: ["path": "\(file.path)", "error": "\(problem)"])
        }
      }
    }
  }
}
