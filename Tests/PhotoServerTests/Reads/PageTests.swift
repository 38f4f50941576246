import Dispatch
import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import Varlink

@testable import PhotoServer

/// Pages that stay unread for a while.
@Suite(.timeLimit(.minutes(10))) struct PageTests {
  private struct Page: Decodable {
    struct Parameters: Decodable { let assets: [Identified]? }
    struct Identified: Decodable { let id: AssetID }
    let parameters: Parameters
    let continues: Bool?
    let error: String?
  }

  /// A deadline of ten seconds that passes at once for one page, and never for the others.
  private final class Deadline: Sendable {
    private let page: Int
    private let startCount = Mutex(0)
    private let (passed, continuation) = AsyncStream.makeStream(of: Void.self)

    init(passesFor page: Int) { self.page = page }

    /// The number of pages for which it was set.
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

  /// The pages of all assets, read after `ready`.
  private func pages(_ path: String, after ready: () async throws -> Void) async throws -> [Page] {
    let socket = try RawSocket(path: path)
    try socket.send(#"{"method":"org.photod.library.Fetch","parameters":{},"more":true}"#)
    try await ready()
    var pages: [Page] = []
    repeat {
      pages.append(try JSONDecoder().decode(Page.self, from: try await socket.receive()))
    } while pages.last?.continues == true
    // The next call is answered after everything that this one had to report.
    try await status(socket)
    return pages
  }

  private func status(_ socket: RawSocket) async throws {
    try socket.send(#"{"method":"org.photod.library.Status"}"#)
    _ = try await socket.receive()
  }

  @Test func lastPageMayBeReadLate() async throws {
    let fixture = try ServerFixture()
    // Two pages, which together exceed the buffer of a connection.
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

  @Test func anUnreadPageThatOthersFollowExpires() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(2_000, titleLength: 2_300)
    let deadline = Deadline(passesFor: 2)
    try await fixture.serving(pageDeadline: deadline.pass) { path, failures in
      let pages = try await pages(path) {
        await deadline.waitUntilPassed()
        // After this round trip on another connection, the service has handled the deadline.
        try await status(try RawSocket(path: path))
      }
      #expect(pages.count == 3 && pages.last?.error == "org.photod.library.SnapshotExpired")
      #expect(failures() == [])
    }
  }

  /// Pages that are read in time do not extend the life of the snapshot.
  @Test func aSnapshotExpiresAsAWhole() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(2_000, titleLength: 2_300)
    let deadline = Deadline(passesFor: 2)
    let forever: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(3_600)) }
    let passes: @Sendable (ContinuousClock.Instant) async throws -> Void = { _ in try await deadline.pass() }
    try await fixture.serving(pageDeadline: forever, snapshotDeadline: passes) { path, failures in
      let pages = try await pages(path) {
        await deadline.waitUntilPassed()
        try await status(try RawSocket(path: path))
      }
      #expect(pages.count == 3 && pages.last?.error == "org.photod.library.SnapshotExpired")
      #expect(failures() == [])
    }
  }
}

/// A client that reads only when the test says so.
final class RawSocket: Sendable {
  private let descriptor: CInt
  private let received = Mutex<[UInt8]>([])
  /// Reading blocks, and the service needs the threads of tasks.
  private let queue = DispatchQueue(label: "raw socket")

  init(path: String) throws { descriptor = try connectedSocket(path: path) }

  deinit { close(descriptor) }

  func send(_ message: String) throws {
    let bytes = Array(message.utf8) + [0]
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Receives one message, without its NUL.
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
        guard count != 0 else { throw POSIXError(.ECONNRESET) }
        guard count > 0 else { throw SystemCallError("read") }
        received += buffer[..<count]
      }
    }
  }
}
