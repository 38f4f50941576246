import Foundation
import Glibc
import PhotoModel
import Testing
import Varlink

@testable import PhotoClient

struct PhotoLibraryErrorTests {
  private struct Parameters: Encodable {
    var message: String?
    var position: Int?
    var key: String?
    var known: [String]?
    var ids: [AssetID]?
    var collection: String?
    var similar: [String]?
    var candidates: [String]?
    var currentToken: String?
    var requestIndex: Int?
    var status: String?
    var path: String?
    var count: Int?
  }

  @Test func everyErrorOfTheContractIsACase() {
    let text = "This failed. Do that."
    let all: [(String, Parameters, PhotoLibraryError)] = [
      ("InvalidPredicate", .init(message: text, position: 3), .invalidPredicate(message: text, position: 3)),
      ("InvalidText", .init(message: text, position: 3), .invalidText(message: text, position: 3)),
      ("UnknownSortKey", .init(key: "size", known: ["id"]), .unknownSortKey(key: "size", known: ["id"])),
      ("UnknownValueKey", .init(key: "size", known: ["year"]), .unknownValueKey(key: "size", known: ["year"])),
      ("NoSuchAsset", .init(ids: [4]), .noSuchAsset(ids: [4])),
      ("NoSuchCollection", .init(collection: "X", similar: ["Y"]), .noSuchCollection(collection: "X", similar: ["Y"])),
      (
        "AmbiguousCollection", .init(collection: "X", candidates: ["id:1"], count: 30),
        .ambiguousCollection(collection: "X", candidates: ["id:1"], count: 30)
      ),
      (
        "ChangeTokenExpired", .init(message: text, currentToken: "l.1.2"),
        .changeTokenExpired(message: text, currentToken: "l.1.2")
      ),
      ("SnapshotExpired", .init(message: text), .snapshotExpired(message: text)),
      ("ChangeRejected", .init(message: text, requestIndex: 1), .changeRejected(requestIndex: 1, message: text)),
      ("NotAuthorized", .init(message: text, status: "denied"), .notAuthorized(status: "denied", message: text)),
      ("LibraryUnavailable", .init(message: text), .libraryUnavailable(message: text)),
      ("StorageFull", .init(message: text), .storageFull(message: text)),
      ("NotInLibrary", .init(message: text, path: "/a"), .notInLibrary(path: "/a", message: text)),
      ("TimedOut", .init(message: text), .timedOut(message: text)),
      ("InternalError", .init(message: text), .internalError(message: text)),
    ]
    for (name, parameters, expected) in all {
      #expect(PhotoLibraryError(VarlinkError("org.photod.library.\(name)", parameters)) == expected)
    }
  }

  @Test func aDaemonsMessageIsSplitIntoProblemAndRemedy() {
    let error = PhotoLibraryError.timedOut(message: "It took 30.5 seconds. Try again. Or wait.")
    #expect(error.message == "It took 30.5 seconds")
    #expect(error.remedy == "Try again. Or wait.")
    let bare = PhotoLibraryError.timedOut(message: "It took long.")
    #expect(bare.message == "It took long")
    #expect(bare.remedy == "Try again with more time.")
  }

  /// systemd serves the standard socket only.
  @Test func theRemedyForAnUnreachableDaemonFitsTheSocket() async throws {
    let standard = PhotoLibrary.standardSocketPath
    let dead = PhotoLibraryError(.connectionRefused(path: standard))
    #expect(
      dead.remedy == "Run `systemctl --user start photod.socket`, or run `photod` in another terminal."
        + " For the photod of `make run`, set the PHOTOD_SOCKET that it prints.")
    for error in [
      PhotoLibraryError(.connectionRefused(path: "/tmp/s")), PhotoLibraryError(.noSuchSocket(path: "/tmp/s")),
    ] {
      #expect(
        error.remedy == "Start the photod that serves this socket, or choose another socket. PHOTOD_SOCKET may name it."
      )
    }
    let silent = PhotoLibraryError(.timedOut(path: standard))
    #expect(silent.remedy.hasPrefix("It hangs, or it is too busy. Restart it with `systemctl"))
    let full = PhotoLibraryError(.connectionFailed(path: standard, reason: "socket: Too many open files"))
    #expect(full.remedy.hasPrefix("The limit of open files may be reached"))
    try await withTemporaryDirectory { folder in
      let long = folder + "/" + String(repeating: "x", count: 120)
      for (path, reason) in [(folder, "it is no socket"), (long, "the path of a socket has at most 107 bytes")] {
        let error = await #expect(throws: PhotoLibraryError.self) { try await PhotoLibrary(socketPath: path).status() }
        #expect(error?.message == "photod is not reachable at \(path): \(reason)")
        #expect(error?.remedy.hasPrefix("Check the path of the socket. The standard one is /") == true)
        #expect(error?.isWithoutDaemon == false)
      }
    }
  }

  @Test func unknownErrorsKeepTheirNameAndParameters() {
    let later = PhotoLibraryError(VarlinkError("org.photod.library.TooHot", ["degrees": 90]))
    #expect(later == .unknown(name: "org.photod.library.TooHot", parameters: #"{"degrees":90}"#))
    let broken = PhotoLibraryError(VarlinkError("org.photod.library.NoSuchAsset"))
    #expect(broken == .unknown(name: "org.photod.library.NoSuchAsset", parameters: "{}"))
    #expect(PhotoLibraryError(VarlinkError.invalidParameter("since")) == .invalidParameter("since"))
  }

  /// photod closes the connection, since even root may not use the photod of another user.
  @Test(.enabled(if: geteuid() == 0, "only root can connect to the socket of another user"))
  func aSocketOfAnotherUserIsNamedAsSuch() async throws {
    try await withTemporaryDirectory { folder in
      let path = folder + "/photod.sock"
      let listener = try VarlinkSocket.listen(path: path)
      defer { close(listener) }
      try #require(chown(path, 4_242, 4_242) == 0)
      // The listener does not block.
      #expect(fcntl(listener, F_SETFL, 0) == 0)
      Thread.detachNewThread { for _ in 0..<2 { close(accept(listener, nil, nil)) } }
      let expected = PhotoLibraryError.permissionDenied(socketPath: path)
      await #expect(throws: expected) { try await PhotoLibrary(socketPath: path).status() }
      await #expect(throws: expected) { for try await _ in PhotoLibrary(socketPath: path).fetch() {} }
    }
  }

  @Test func aMissingDaemonIsUnreachable() async {
    let library = PhotoLibrary(socketPath: "/nowhere/at/all.sock")
    let expected = PhotoLibraryError.unreachable(socketPath: "/nowhere/at/all.sock", reason: "there is no socket")
    await #expect(throws: expected) { try await library.status() }
    await #expect(throws: expected) { try await library.performChanges([]) }
    await #expect(throws: expected) { for try await _ in library.fetch() {} }
  }
}
