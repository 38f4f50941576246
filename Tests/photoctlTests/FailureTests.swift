import PhotoClient
import Testing

@testable import photoctl

struct FailureTests {
  @Test func aFailureHasAProblemARemedyAndAReference() {
    let failure = Failure(PhotoLibraryError.noSuchCollection(collection: "Ses", similar: ["album:Sea"]), in: "query")
    #expect(
      failure.threeLines == """
        photoctl: there is no album 'Ses'
          Similar albums are 'album:Sea'.
          See `photoctl help query`.

        """)
    #expect(failure.status == .noInput)
  }

  @Test func quotedTextReachesNoTerminalAsControlCharacters() {
    let evil = "\u{1B}[31m\u{9B}1m\u{202E}\n"
    let errors: [PhotoLibraryError] = [
      .noSuchCollection(collection: evil, similar: ["folder:/p/" + evil]),
      .ambiguousCollection(collection: evil, candidates: [evil, evil]), .unknownSortKey(key: evil, known: []),
      .notInLibrary(path: evil, message: "/p/\(evil) is in none. See."),
    ]
    var texts = errors.map { Failure($0, in: "query").threeLines }
    texts.append(Failure.predicate(evil, message: "'\(evil)' is no key", position: 0, command: "query").threeLines)
    texts.append(UsageError.text("Error: --type is '\u{1B}[31m'.\nUsage: x\n", style: .plain))
    for text in texts {
      #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Printable.isPlain($0) }, "\(text.debugDescription)")
    }
    #expect(texts[0].split(separator: "\n").count == 3)
  }

  @Test func aMissingDaemonPointsToTheHelpOfPhotoctl() {
    let error = PhotoLibraryError.unreachable(socketPath: "/run/s", reason: "no process listens")
    #expect(
      Failure(error, in: "show").threeLines == """
        photoctl: photod is not reachable at /run/s: no process listens
          Start the photod that serves this socket, or name another socket with --socket or PHOTOD_SOCKET.
          See `photoctl help`.

        """)
  }

  /// As when a folder of `rescan` is offline.
  @Test func anAnswerOfPhotodPointsToTheHelpOfTheCommand() {
    let failure = Failure(PhotoLibraryError.libraryUnavailable(message: "/p is offline. Mount it."), in: "rescan")
    #expect(
      failure.threeLines == "photoctl: /p is offline\n  Mount it.\n  See `photoctl help rescan`.\n")
    #expect(failure.status == .unavailable)
  }

  /// As when root asks the photod of another user.
  @Test func aSocketOfAnotherUserIsNamedWithTheRemedy() {
    let failure = Failure(
      PhotoLibraryError.permissionDenied(socketPath: "/run/user/1000/photod/photod.sock"), in: "show")
    #expect(
      failure.threeLines == """
        photoctl: /run/user/1000/photod/photod.sock belongs to another user
          Each user has a photod. Connect to your own, or run this program as that user.
          See `photoctl help show`.

        """)
    #expect(failure.status == .notPermitted)
  }

  @Test func rootIsToldToRunPhotoctlAsTheUserOfSudo() {
    let error = PhotoLibraryError.unreachable(
      socketPath: PhotoLibrary.standardSocketPath, reason: "there is no socket")
    let variables = ["SUDO_USER": "anna\u{1B}"]
    let failure = Failure(error, in: "status") { variables[$0] }
    #expect(failure.remedy == "root has no photod. Run photoctl without sudo, as anna?.")
    for user in [nil, ""] {
      let other = Failure(error, in: "status") { $0 == "SUDO_USER" ? user : nil }
      #expect(other.remedy.contains("photod.socket"), "\(other.remedy)")
    }
    // A socket that was named is not that of root.
    let named = Failure(PhotoLibraryError.unreachable(socketPath: "/s", reason: "there is no socket"), in: "status") {
      variables[$0]
    }
    #expect(named.remedy.hasPrefix("Start the photod that serves this socket"), "\(named.remedy)")
  }

  @Test func aPredicateIsShownWithACaretBelowTheError() {
    let failure = Failure.predicate(
      "title == 'é\t' AND isFav", message: "'isFav' is no key", position: 18, command: "query")
    #expect(
      failure.threeLines == """
        photoctl: 'isFav' is no key
            title == 'é?' AND isFav
                              ^
          A predicate compares keys of an asset with values: --where "isFavorite == true AND rating >= 4".
          See `photoctl help query`.

        """)
    #expect(failure.status == .data)
  }

  @Test func theCaretIsAlignedBelowWideCharacters() {
    let failure = Failure.predicate("title == '東京e\u{301}' x", message: "m", position: 15, command: "query")
    #expect(
      failure.problem == "m\n    title == '東京e\u{301}' x\n    \(String(repeating: " ", count: 16))^")
  }

  @Test func theProgramsNameIsHighlightedIfColoursAreWanted() {
    let failure = Failure(.usage, "p", remedy: "r.")
    #expect(failure.text(style: Style(isColored: true)).hasPrefix("\u{1B}[31mphotoctl:\u{1B}[0m p\n"))
  }

  @Test func aPositionOutsideThePredicateIsNoTrap() {
    for position in [-1, 3, 1_000_000] {
      let failure = Failure.predicate("ab", message: "m", position: position, command: "query")
      #expect(failure.problem.hasPrefix("m\n    ab\n    "))
    }
  }

  @Test(arguments: [
    (PhotoLibraryError.unknownSortKey(key: "x", known: []), CommandStatus.usage),
    (.changeTokenExpired(message: "m", currentToken: "t"), .data), (.noSuchAsset(ids: [1]), .noInput),
    (.notInLibrary(path: "/a", message: "m"), .noInput), (.libraryUnavailable(message: "m"), .unavailable),
    (.connectionClosed, .unavailable), (.changeOutcomeUnknown, .unavailable), (.internalError(message: "m"), .software),
    (.storageFull(message: "m"), .inputOutput), (.timedOut(message: "m"), .tryAgain),
    (.malformedReply("m"), .protocolFailure), (.permissionDenied(socketPath: "/s"), .notPermitted),
  ])
  func everyErrorHasItsExitCode(error: PhotoLibraryError, status: CommandStatus) {
    #expect(Failure(error, in: "query").status == status)
  }
}
