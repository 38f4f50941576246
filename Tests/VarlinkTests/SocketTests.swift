import Foundation
import TestTools
import Testing

@testable import Varlink

struct SocketTests {
  @Test func theSocketAndItsFolderAreForTheirOwnerAlone() throws {
    let folder = try TemporaryFolder("varlink")
    defer { withExtendedLifetime(folder) {} }
    let directory = folder.path
    let before = umask(0)
    defer { umask(before) }
    let path = directory + "/a/b/test.sock"
    let descriptor = try VarlinkSocket.listen(path: path)
    defer { close(descriptor) }
    #expect(try mode(path) == S_IFSOCK | 0o600)
    #expect(try mode(directory + "/a/b") == S_IFDIR | 0o700)
    #expect(try mode(directory + "/a") == S_IFDIR | 0o700)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func aSocketLeftByADeadServiceIsReplacedALivingOneIsNot() throws {
    let folder = try TemporaryFolder("varlink")
    defer { withExtendedLifetime(folder) {} }
    let directory = folder.path
    let path = directory + "/test.sock"
    close(try VarlinkSocket.listen(path: path))
    let alive = try VarlinkSocket.listen(path: path)
    defer { close(alive) }
    #expect(throws: VarlinkSocket.Failure(reason: .inUse, path: path)) { try VarlinkSocket.listen(path: path) }
  }

  @Test func aFileThatIsNoSocketIsLeftAlone() throws {
    let folder = try TemporaryFolder("varlink")
    defer { withExtendedLifetime(folder) {} }
    let directory = folder.path
    let path = directory + "/precious"
    try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: VarlinkSocket.Failure(reason: .notASocket, path: path)) { try VarlinkSocket.listen(path: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "x")
  }

  @Test func aPathOf107BytesWorksALongerOneIsAnError() throws {
    let folder = try TemporaryFolder("varlink")
    defer { withExtendedLifetime(folder) {} }
    let directory = folder.path
    let longest = directory + "/" + String(repeating: "x", count: 107 - directory.utf8.count - 1)
    close(try VarlinkSocket.listen(path: longest))
    #expect(throws: VarlinkSocket.Failure(reason: .pathTooLong, path: longest + "x")) {
      try VarlinkSocket.listen(path: longest + "x")
    }
  }

  private func mode(_ path: String) throws -> mode_t {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status.st_mode
  }
}

extension LiveService {
  @Suite struct Peers {
    @Test func thePeerIsTheProcessThatConnected() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        _ = try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        let accepted = try #require(fixture.log.events.first { $0.hasPrefix("accepted") })
        #expect(accepted.contains("pid: \(getpid())"))
        #expect(accepted.contains("uid: \(geteuid())"))
      }
    }

    /// No other user is needed: a service for another user refuses this one.
    @Test func aPeerOfAnotherUserIsClosedAtOnceAndReported() async throws {
      try await Fixture.with(allowedUserID: geteuid() + 1) { fixture in
        let raw = try RawClient(path: fixture.path)
        #expect(try await raw.receive() == nil)
        await fixture.log.wait(for: "refused(Varlink.VarlinkService.Refusal.otherUser")
        #expect(fixture.service.connectionCount == 0)
      }
    }

    @Test(
      .enabled(if: geteuid() == 0, "only root can become another user"),
      .enabled(if: Python.isThere, "python3 is not installed"))
    func aProcessOfAnotherUserIsRefused() async throws {
      try await Fixture.with(socketMode: 0o666) { fixture in
        try #require(chmod(fixture.directory, 0o711) == 0)
        let result = try await Python.run(
          """
          import os, socket, sys
          os.setgid(65534); os.setuid(65534)
          s = socket.socket(socket.AF_UNIX); s.settimeout(20)
          s.connect(sys.argv[1])
          try: s.sendall(b'{"method":"org.varlink.service.GetInfo"}\\0')
          except OSError: pass
          try: print(repr(s.recv(100)))
          except ConnectionResetError: print("b''")
          """, [fixture.path])
        #expect(result.output == "b''\n", "\(result)")
        await fixture.log.wait(for: "otherUser, uid: Optional(65534)")
      }
    }
  }
}
