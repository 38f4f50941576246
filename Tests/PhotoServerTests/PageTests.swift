import Dispatch
import Foundation
import Glibc
import PhotoModel
import Synchronization
import Testing
import Varlink

@testable import PhotoServer

/// Pages that nobody reads for a while. Time itself is what these tests are of.
@Suite(.timeLimit(.minutes(1))) struct PageTests {
  private struct Page: Decodable {
    struct Parameters: Decodable { let assets: [Identified]? }
    struct Identified: Decodable { let id: Int64 }
    let parameters: Parameters
    let continues: Bool?
    let error: String?
  }

  /// Calls Fetch, reads nothing for twice the time that a page may be unread, then everything.
  private func fetchLate(_ fixture: ServerFixture) async throws -> (pages: [Page], failures: [String]) {
    let timeout = Duration.milliseconds(500)
    let result = Mutex<([Page], [String])>(([], []))
    try await fixture.serving(pageTimeout: timeout) { path, failures in
      let socket = try RawSocket(path: path)
      try socket.send(#"{"method":"org.photod.library.Fetch","parameters":{},"more":true}"#)
      try await Task.sleep(for: timeout * 2)
      var pages: [Page] = []
      repeat {
        pages.append(try JSONDecoder().decode(Page.self, from: try await socket.receive()))
      } while pages.last?.continues == true
      // The next call is answered after whatever the last one had to report.
      try socket.send(#"{"method":"org.photod.library.Status"}"#)
      _ = try await socket.receive()
      let (all, reported) = (pages, failures())
      result.withLock { $0 = (all, reported) }
    }
    return result.withLock { $0 }
  }

  @Test func lastPageMayBeReadLate() async throws {
    let fixture = try ServerFixture()
    // Two pages, together more than a connection buffers.
    let ids = try fixture.insert(700, titleLength: 2_300)
    let (pages, failures) = try await fetchLate(fixture)
    #expect(pages.count == 2 && pages.allSatisfy { $0.error == nil })
    #expect(Set(pages.flatMap { $0.parameters.assets ?? [] }.map(\.id)) == Set(ids))
    #expect(failures == [])
  }

  @Test func pageThatOthersFollowExpiresUnread() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(2_000, titleLength: 2_300)
    let (pages, failures) = try await fetchLate(fixture)
    #expect(pages.last?.error == "org.photod.library.SnapshotExpired")
    #expect(failures == [])
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
