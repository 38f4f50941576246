import CReplyBuffer
import Dispatch
import Glibc
import TestTools
import Testing

/// The replies that a reader keeps while it works on further files.
@Suite(.timeLimit(.minutes(10))) struct ReplyBufferTests {
  /// photod blames the first file without a reply. So the replies before it must arrive while it is read.
  @Test func replyIsSentWhileTheNextFileTakesLong() async throws {
    let photod = try Listener()
    async let received = photod.receive()
    await #expect(processExitsWith: .success) { [path = photod.path as String] in
      let socket = try connectedSocket(path: path)
      try #require(replybuffer_prepare(socket, longest) == 0)
      replybuffer_begin()
      try #require(replybuffer_add("reply", 5) == 0)
      replybuffer_next()
      // photod ends the connection once it has the reply.
      var byte: UInt8 = 0
      try #require(recv(socket, &byte, 1, 0) == 0)
    }
    #expect(await received == "reply")
  }

  @Test func replyIsSentIfTheNextFileEndsTheProcess() async throws {
    let photod = try Listener()
    async let received = photod.receive()
    await #expect(processExitsWith: .signal(SIGSEGV)) { [path = photod.path as String] in
      let socket = try connectedSocket(path: path)
      try #require(replybuffer_prepare(socket, longest) == 0)
      replybuffer_begin()
      try #require(replybuffer_add("reply", 5) == 0)
      replybuffer_next()
      // Only a page that can't be read is certain to end the process.
      let page = mmap(nil, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      page?.storeBytes(of: 1, as: UInt8.self)
    }
    #expect(await received == "reply")
  }

  @Test func repliesAreSentAtTheEnd() async throws {
    let photod = try Listener()
    async let received = photod.receive(count: 300_000)
    await #expect(processExitsWith: .success) { [path = photod.path as String] in
      let socket = try connectedSocket(path: path)
      try #require(replybuffer_prepare(socket, longest) == 0)
      replybuffer_begin()
      let reply = [UInt8](repeating: UInt8(ascii: "r"), count: 100)
      // They are more than the buffer has room for.
      for _ in 0..<3_000 {
        replybuffer_next()
        try #require(replybuffer_add(reply, reply.count) == 0)
      }
      try #require(replybuffer_end() == 0)
    }
    #expect(await received.utf8.count == 300_000)
  }
}

/// The seconds after which a file ends the process. Beside many tests, the other end may read late.
private let longest: UInt32 = 3_600

/// The end of the socket that photod has.
private final class Listener: Sendable {
  let path: String
  /// How long it waits for a connection, and for bytes. If a reader ends before it has connected, the test fails then.
  private static var patience: timeval { timeval(tv_sec: 120, tv_usec: 0) }

  private let folder: TemporaryFolder
  private let socket: Int32

  init() throws {
    folder = try TemporaryFolder("replies")
    path = folder.path + "/socket"
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let result = withSocketAddress(path) { bind(socket, $0, $1) }
    guard socket >= 0, result == 0, listen(socket, 1) == 0 else { throw SystemCallError("bind \(path)") }
    Self.setPatience(of: socket)
  }

  deinit { close(socket) }

  /// Takes one connection, reads this many bytes of it, and ends it.
  ///
  /// - Returns: fewer if no more come in time, or if the connection ends.
  func receive(count: Int = 5) async -> String {
    // A thread of the tasks would be missing to all other tests while it waits.
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "replies").async { continuation.resume(returning: self.take(count)) }
    }
  }

  /// accept(2) honours this limit as well.
  private static func setPatience(of socket: Int32) {
    var patience = Self.patience
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  private func take(_ count: Int) -> String {
    let connection = accept(socket, nil, nil)
    guard connection >= 0 else { return "" }
    defer { close(connection) }
    Self.setPatience(of: connection)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < count {
      let got = recv(connection, &piece, piece.count, 0)
      guard got > 0 else { break }
      bytes += piece[..<got]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

private func withSocketAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}
