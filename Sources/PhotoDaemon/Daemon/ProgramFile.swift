import Glibc

/// The file that this process runs, and whether an update has put another in its place.
///
/// The file that runs keeps its inode as long as it does, so another inode under the same name is another file, and no
/// version has to be read from it.
package struct ProgramFile: Sendable {
  package let path: String
  private let device: dev_t
  private let inode: ino_t

  /// - Parameters:
  ///   - link: What leads to the file that runs; a path of its own is for tests.
  ///   - name: What the process was started as. Where it is an absolute path that leads to what runs, it is what is looked
  ///     at: an update may leave the file alone, and have the link that stands there lead to another.
  /// - Returns: Nil where /proc does not say what runs.
  package init?(link: String = "/proc/self/exe", name: String? = CommandLine.arguments.first) {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(link, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
    }
    var status = stat()
    guard count > 0, stat(link, &status) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
    var named = stat()
    if let name, name.hasPrefix("/"), stat(name, &named) == 0, (named.st_dev, named.st_ino) == (device, inode) {
      path = name
      return
    }
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    // proc(5): so it says that the name is gone, or another's.
    let mark = " (deleted)"
    path = text.hasSuffix(mark) ? String(text.dropLast(mark.count)) : text
  }

  /// Another program stands there. One that was only removed has no successor, and is not replaced. Costs a stat(2).
  package var isReplaced: Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return (status.st_dev, status.st_ino) != (device, inode) && access(path, X_OK) == 0
  }
}

/// When a daemon whose program was replaced leaves, so that the next connection starts the new one: as soon as nobody
/// would notice, but not never.
package struct Departure: Sendable {
  package enum Decision: Hashable, Sendable {
    case stay
    /// To be told, once.
    case replaced
    case leave
  }

  /// How long nobody must have asked anything, so that a script of many commands keeps its daemon.
  package static let quietTime = Duration.seconds(5)
  /// How long streams may hold it up: a window that shows photos is open all day. They end with an error then that their
  /// client resumes from, at the new daemon.
  package static let patience = Duration.seconds(3600)

  private var noticedAt: SuspendingClock.Instant?

  package init() {}

  /// - Parameters:
  ///   - canLeave: A service manager holds the socket.
  ///   - idleTime: How long there has been no call; zero while one is being answered.
  package mutating func decide(
    isReplaced: Bool, canLeave: Bool, idleTime: Duration, now: SuspendingClock.Instant
  ) -> Decision {
    guard let noticedAt else {
      guard isReplaced else { return .stay }
      self.noticedAt = now
      // Not at once: an update that replaces several programs is perhaps only half done.
      return .replaced
    }
    guard isReplaced, canLeave, idleTime >= Self.quietTime || noticedAt.duration(to: now) >= Self.patience else {
      return .stay
    }
    return .leave
  }
}
