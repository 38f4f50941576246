import PhotoClient

/// The exit codes of photoctl, as numbered in `sysexits.h`.
enum CommandStatus: Int32, CaseIterable, Sendable {
  /// Not of sysexits.h: the command of `watch --exec` failed.
  case commandFailed = 1
  case usage = 64
  case data = 65
  case noInput = 66
  case unavailable = 69
  case software = 70
  case inputOutput = 74
  case tryAgain = 75
  case protocolFailure = 76
  case notPermitted = 77
}

/// Why a command failed: three lines for a person, and an exit code for a script.
struct Failure: Error, Hashable, Sendable {
  var status: CommandStatus
  /// The problem, with its subject, such as a path or an id.
  var problem: String
  /// The remedy, as a sentence.
  var remedy: String
  /// The command whose help has more. Empty for photoctl's own help.
  var command = ""

  init(_ status: CommandStatus, _ problem: String, remedy: String, command: String = "") {
    self.status = status
    self.problem = problem
    self.remedy = remedy
    self.command = command
  }

  /// The failure for any error that was thrown by this command.
  ///
  /// - Parameter environment: returns a variable. sudo sets `SUDO_USER`.
  init(_ error: any Error, in command: String, environment: (String) -> String? = Style.variable) {
    switch error {
    case let failure as Failure:
      self = failure
      if self.command.isEmpty { self.command = command }
    case let error as PhotoLibraryError:
      let status = Self.status(of: error)
      // The messages contain titles and paths, which must be made printable.
      self.init(
        status, Printable.text(error.message), remedy: Printable.text(Self.remedy(for: error, environment)),
        command: Self.concernsAnyCommand(error) ? "" : command)
    default:
      self.init(
        .software, Printable.text("\(error)"), remedy: "This is a bug of photoctl. Please report it.",
        command: command)
    }
  }

  /// The problem, the remedy, and where to read more.
  var threeLines: String { text(style: .plain) }

  /// ``threeLines`` with the name of the program highlighted.
  func text(style: Style) -> String {
    let help = command.isEmpty || command == "photoctl" ? "photoctl help" : "photoctl help \(command)"
    return "\(style.bad("photoctl:")) \(problem)\n  \(remedy)\n  See `\(help)`.\n"
  }

  /// The failure for a predicate, which is shown with a caret below the error.
  static func predicate(_ predicate: String, message: String, position: Int, command: String) -> Failure {
    // A control character would displace the caret.
    let shown = Printable.text(predicate)
    let before = String(String.UnicodeScalarView(shown.unicodeScalars.prefix(max(0, position))))
    let caret = String(repeating: " ", count: TextWidth.columns(of: before)) + "^"
    return Failure(.data, "\(Printable.text(message))\n    \(shown)\n    \(caret)", remedy: hint, command: command)
  }

  private static let hint =
    "A predicate compares keys of an asset with values: --where \"isFavorite == true AND rating >= 4\"."

  /// The remedy of the error. It is another one if root looks for a photod by `sudo`. It never has the number of a
  /// request, because the command made the requests.
  private static func remedy(for error: PhotoLibraryError, _ environment: (String) -> String?) -> String {
    if case .changeRejected(let index, _) = error,
      error.remedy == PhotoLibraryError.changeRejected(requestIndex: index, message: "").remedy
    {
      return "Nothing was changed. Correct the command, and repeat it."
    }
    if case .unreachable(let path, _) = error, path != PhotoLibrary.standardSocketPath, error.isWithoutDaemon {
      return "Start the photod that serves this socket, or name another socket with --socket or PHOTOD_SOCKET."
    }
    guard error.isWithoutDaemon, let user = environment("SUDO_USER"), !user.isEmpty else { return error.remedy }
    return "root has no photod. Run photoctl without sudo, as \(user)."
  }

  /// Whether photod did not answer. Then the help of photoctl is named. The reason of an answer may concern the command.
  private static func concernsAnyCommand(_ error: PhotoLibraryError) -> Bool {
    switch error {
    case .unreachable, .connectionClosed, .changeOutcomeUnknown: true
    default: false
    }
  }

  private static func status(of error: PhotoLibraryError) -> CommandStatus {
    switch error {
    case .unknownSortKey, .unknownValueKey, .invalidParameter: .usage
    case .invalidPredicate, .invalidText, .changeTokenExpired, .changeRejected: .data
    case .noSuchAsset, .noSuchCollection, .ambiguousCollection, .notInLibrary,
      .notABackup, .noSuchResource, .resourceUnavailable:
      .noInput
    case .noImage(let kind, _): imageStatus(kind)
    case .unreachable, .connectionClosed, .changeOutcomeUnknown, .libraryUnavailable: .unavailable
    case .internalError: .software
    case .storageFull, .cannotWrite: .inputOutput
    case .snapshotExpired, .timedOut, .busy, .tooManyImageRequests, .resourceChanged: .tryAgain
    case .methodMissing, .malformedReply, .unknown: .protocolFailure
    case .notAuthorized, .permissionDenied: .notPermitted
    }
  }

  private static func imageStatus(_ kind: ImageFailure.Kind) -> CommandStatus {
    switch kind {
    case .noSuchAsset, .unavailable: .noInput
    case .unreadable, .tooLarge, .unknown: .data
    case .unsupported: .unavailable
    case .storageFull: .inputOutput
    }
  }
}
