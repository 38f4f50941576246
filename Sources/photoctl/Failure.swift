import PhotoClient

/// How photoctl ends, as `sysexits.h` numbers it.
enum EndStatus: Int32, CaseIterable, Sendable {
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

/// Why a command could not do what it was asked to: three lines for a person, and a status for a script.
struct Failure: Error, Hashable, Sendable {
  var status: EndStatus
  /// What is wrong, with what.
  var problem: String
  /// What to do about it, as a sentence.
  var remedy: String
  /// The command whose help has more; empty for photoctl's own.
  var command = ""

  init(_ status: EndStatus, _ problem: String, remedy: String, command: String = "") {
    self.status = status
    self.problem = problem
    self.remedy = remedy
    self.command = command
  }

  /// For an error of any part, thrown by this command.
  init(_ error: any Error, in command: String) {
    switch error {
    case let failure as Failure:
      self = failure
      if self.command.isEmpty { self.command = command }
    case let error as PhotoLibraryError:
      let status = Self.status(of: error)
      // Where photod is, and how it is started, is no matter of one command.
      // Titles and paths are in both.
      self.init(
        status, Printable.text(error.message), remedy: Printable.text(error.remedy),
        command: status == .unavailable ? "" : command)
    default:
      self.init(
        .software, Printable.text("\(error)"), remedy: "That is a mistake of photoctl; please report it.",
        command: command)
    }
  }

  /// What is wrong, the remedy, where to read more.
  var threeLines: String { text(style: .plain) }

  /// ``threeLines``, with the name of the program set off.
  func text(style: Style) -> String {
    let help = command.isEmpty || command == "photoctl" ? "photoctl help" : "photoctl help \(command)"
    return "\(style.bad("photoctl:")) \(problem)\n  \(remedy)\n  See '\(help)'.\n"
  }

  /// With the predicate and a caret below the place that is wrong.
  static func predicate(_ predicate: String, message: String, position: Int, command: String) -> Failure {
    // A control character would move the caret away from its place.
    let shown = Printable.text(predicate)
    let before = String(String.UnicodeScalarView(shown.unicodeScalars.prefix(max(0, position))))
    let caret = String(repeating: " ", count: TextWidth.columns(of: before)) + "^"
    return Failure(.data, "\(Printable.text(message))\n    \(shown)\n    \(caret)", remedy: hint, command: command)
  }

  private static let hint = "Predicates compare keys of an asset: --where \"isFavorite == true AND rating >= 4\"."

  private static func status(of error: PhotoLibraryError) -> EndStatus {
    switch error {
    case .unknownSortKey, .invalidParameter: .usage
    case .invalidPredicate, .invalidText, .changeTokenExpired, .changeRejected: .data
    case .noSuchAsset, .noSuchCollection, .ambiguousCollection, .notInLibrary,
      .notABackup:
      .noInput
    case .unreachable, .connectionClosed, .libraryUnavailable: .unavailable
    case .internalError: .software
    case .storageFull, .cannotWrite: .inputOutput
    case .snapshotExpired, .timedOut, .busy: .tryAgain
    case .methodMissing, .malformedReply, .unknown: .protocolFailure
    case .notAuthorized, .permissionDenied: .notPermitted
    }
  }
}
