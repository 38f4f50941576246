import Glibc

/// The exit status of photod, numbered as in `sysexits.h`.
package enum EndStatus: Int32, Sendable {
  case success = 0
  /// EX_USAGE: the command line is wrong.
  case usage = 64
  /// EX_SOFTWARE: a bug, or a stop that took too long.
  case software = 70
  /// EX_OSERR: the system refused something that it usually grants.
  case system = 71
  /// EX_CANTCREAT: a directory, the lock or the socket can't be made.
  case cannotCreate = 73
  /// EX_IOERR: the catalog can't be read or written.
  case inputOutput = 74
  /// EX_TEMPFAIL: another photod is there already.
  case alreadyRunning = 75
  /// EX_CONFIG: the configuration is wrong.
  case configuration = 78
}

/// Why photod can't start or can't go on: the problem, its remedy and the exit status.
package struct StartError: Error, Hashable, Sendable, CustomStringConvertible {
  package var status: EndStatus
  /// The problem and its place, such as `/home/a/.config/photod/config.toml:3: unknown key "root"`.
  package var problem: String
  /// The remedy, as a sentence.
  package var remedy: String

  package init(_ status: EndStatus, _ problem: String, remedy: String) {
    self.status = status
    self.problem = problem
    self.remedy = remedy
  }

  /// Makes a start error from any other error, with its description as the problem.
  ///
  /// - Parameter isTriedAgain: photod tries again by itself.
  package init(_ error: any Error, isTriedAgain: Bool = false) {
    if let error = error as? StartError {
      self = error
    } else {
      self.init(
        .inputOutput, "\(error)",
        remedy: isTriedAgain
          ? "Correct this; photod tries again every few seconds."
          : "Correct this, then start photod again.")
    }
  }

  /// One line, for a status or a log.
  package var description: String { "\(problem). \(remedy)" }

  /// Three lines for a terminal: the problem, the remedy, and where to read more.
  package var threeLines: String {
    "photod: \(problem)\n  \(remedy)\n  See `photod --help` for options, files and exit codes.\n"
  }
}
