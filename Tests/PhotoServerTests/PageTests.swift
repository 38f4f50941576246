import Dispatch
import Foundation
import Glibc
import PhotoModel
import Synchronization
import Testing
import Varlink

@testable import PhotoServer

/// Pages that nobody reads for a while.
@Suite(.timeLimit(.minutes(10))) struct PageTests {
  private struct Page: Decodable {
    struct Parameters: Decodable { let assets: [Identified]? }
    struct Identified: Decodable { let id: Int64 }
    let parameters: Parameters
    let continues: Bool?
    let error: String?
  }

  /// Ten seconds, that pass at once for one page and never for the others.
  private final class Deadline: Sendable {
    private let page: Int
    private let startCount = Mutex(0)
    private let (passed, continuation) = AsyncStream.makeStream(of: Void.self)

    init(passesFor page: Int) { self.page = page }

    /// For how many pages it was set.
    var count: Int { startCount.withLock { $0 } }

    func pass() async throws {
      let number = startCount.withLock { count in
        count += 1
        return count
      }
      guard number == page else { return try await Task.sleep(for: .seconds(3_600)) }
      continuation.yield()
    }

    func waitUntilPassed() async { for await _ in passed { return } }
  }

  /// The pages of everything, read after `ready`.
  private func pages(_ path: String, after ready: () async throws -> Void) async throws -> [Page] {
    let socket = try RawSocket(path: path)
    try socket.send(#"{"method":"org.photod.library.Fetch","parameters":{},"more":true}"#)
    try await ready()
    var pages: [Page] = []
    repeat {
      pages.append(try JSONDecoder().decode(Page.self, from: try await socket.receive()))
    } while pages.last?.continues == true
    // The next call is answered after whatever this one had to report.
    try await status(socket)
    return pages
  }

  private func status(_ socket: RawSocket) async throws {
    try socket.send(#"{"method":"org.photod.library.Status"}"#)
    _ = try await socket.receive()
  }

  @Test func lastPageMayBeReadLate() async throws {
    let fixture = try ServerFixture()
    // Two pages, together more than a connection buffers.
    let ids = try fixture.insert(700, titleLength: 2_300)
    let deadline = Deadline(passesFor: 2)
    try await fixture.serving(pageDeadline: deadline.pass) { path, failures in
      let pages = try await pages(path) {}
      #expect(pages.count == 2 && pages.allSatisfy { $0.error == nil })
      #expect(Set(pages.flatMap { $0.parameters.assets ?? [] }.map(\.id)) == Set(ids))
      #expect(deadline.count == 1, "the last page has none")
      #expect(failures() == [])
    }
  }

  @Test func pageThatOthersFollowExpiresUnread() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(2_000, titleLength: 2_300)
    let deadline = Deadline(passesFor: 2)
    try await fixture.serving(pageDeadline: deadline.pass) { path, failures in
      let pages = try await pages(path) {
        await deadline.waitUntilPassed()
        // A round trip beside it: the service has turned to the deadline by then.
        try await status(try RawSocket(path: path))
      }
      #expect(pages.count == 3 && pages.last?.error == "org.photod.library.SnapshotExpired")
      #expect(failures() == [])
    }
  }
}

/// A client that reads when it is told to.
private final class RawSocket: Sendable {
  private let descriptor: CInt
  private let received = Mutex<[UInt8]>([])
  /// Reading blocks; the tasks' threads are needed by the service.
  private let queue = DispatchQueue(label: "raw socket")

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  deinit { close(descriptor) }

  func send(_ message: String) throws {
    let bytes = Array(message.utf8) + [0]
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// One message, without its NUL.
  func receive() async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.receiveBlocking() }) }
    }
  }

  private func receiveBlocking() throws -> Data {
    try received.withLock { received in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var searched = 0
      while true {
        if let end = received[searched...].firstIndex(of: 0) {
          defer { received.removeFirst(end + 1) }
          return Data(received[..<end])
        }
        searched = received.count
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { throw POSIXError(.ECONNRESET) }
        received += buffer[..<count]
      }
    }
  }
}
