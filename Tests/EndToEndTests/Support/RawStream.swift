import Foundation
import Glibc
import PhotoTestSupport
import Testing

/// A call with `more` on a socket. The test decides when to read, and how many bytes.
///
/// Only one task may use it at a time.
final class RawStream {
  private let socket: CInt
  private var received = Data()

  init(_ fixture: DaemonFixture, _ method: String, _ parameters: some Encodable) throws {
    socket = try connectedSocket(path: fixture.socket)
    let text = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
    let call = Array(#"{"method":"\#(method)","more":true,"parameters":\#(text)}"#.utf8) + [0]
    try #require(write(socket, call, call.count) == call.count)
  }

  deinit { close(socket) }

  /// Waits for the first byte, and reads at most `count` bytes.
  func read(_ count: Int) throws {
    var bytes = [UInt8](repeating: 0, count: count)
    let taken = Glibc.read(socket, &bytes, count)
    try #require(taken >= 0, "read: \(String(cString: strerror(errno)))")
    try #require(taken > 0, "photod closed the connection")
    received += bytes[..<taken]
  }

  private struct Message<Reply: Decodable>: Decodable { let parameters: Reply }

  /// Waits for the next reply, and returns its parameters.
  func next<Reply: Decodable>(_ type: Reply.Type) throws -> Reply {
    while true {
      if let end = received.firstIndex(of: 0) {
        let message = received[..<end]
        received = Data(received[(end + 1)...])
        return try JSONDecoder().decode(Message<Reply>.self, from: message).parameters
      }
      try read(1 << 16)
    }
  }
}
