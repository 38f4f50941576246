import Glibc

/// The file that this process runs. It finds out whether an update has put another file in its place.
///
/// A file keeps its inode while it runs, so another inode under the same name is another file. No version has to be
/// read from it.
package struct ProgramFile: Sendable {
  package let path: String
  private let device: dev_t
  private let inode: ino_t

  /// - Parameters:
  ///   - link: The link to the file that runs. Tests pass a path of their own.
  ///   - name: The name by which the process was started. If it is an absolute path that leads to the file that runs,
  ///     this path is examined later. An update may keep the file, and change a symbolic link at this path.
  /// - Returns: Nil if /proc does not name the file.
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
    // proc(5): the kernel appends this if the name is gone, or belongs to another file.
    let mark = " (deleted)"
    path = text.hasSuffix(mark) ? String(text.dropLast(mark.count)) : text
  }

  /// Another program is at the path. A program that was only removed has no successor, and does not count as replaced.
  /// This costs a stat(2).
  package var isReplaced: Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return (status.st_dev, status.st_ino) != (device, inode) && access(path, X_OK) == 0
  }
}

/// Decides when a daemon whose program was replaced ends, so that the next connection starts the new program. It ends
/// when it is idle, and at the latest after ``patience``.
package struct Departure: Sendable {
  package enum Decision: Hashable, Sendable {
    case stay
    /// The program was replaced. This is logged once.
    case replaced
    case leave
  }

  /// How long there must have been no call, so that a script of many commands keeps its daemon.
  package static let quietTime = Duration.seconds(5)
  /// How long streams may delay the end. A window that shows photos is open all day. After this time, streams end with
  /// an error from which their clients resume at the new daemon.
  package static let patience = Duration.seconds(3600)

  private var noticedAt: SuspendingClock.Instant?

  package init() {}

  /// - Parameters:
  ///   - canLeave: A service manager holds the socket, and clients can connect to it.
  ///   - idleTime: How long there has been no call; zero while one is being answered.
  package mutating func decide(
    isReplaced: Bool, canLeave: Bool, idleTime: Duration, now: SuspendingClock.Instant
  ) -> Decision {
    guard let noticedAt else {
      guard isReplaced else { return .stay }
      self.noticedAt = now
      // The daemon does not end at once, because an update of several programs may be half done.
      return .replaced
    }
    guard isReplaced, canLeave, idleTime >= Self.quietTime || noticedAt.duration(to: now) >= Self.patience else {
      return .stay
    }
    return .leave
  }
}
