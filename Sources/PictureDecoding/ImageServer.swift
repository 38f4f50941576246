// SPDX-License-Identifier: GPL-2.0-or-later

import CDescriptorPassing
import Glibc
import ImageRecords
import SystemErrors
import WatchRecords

/// Answers photod's requests one after another.
final class ImageServer {
  /// How long one picture may take, in seconds. photod kills the process after the same time. This limit is for a process
  /// that photod has left behind, because photod itself was killed.
  private static let longestDecode: UInt32 = 20

  private let socket: Int32
  private let program: DecoderProgram
  private var frames = ImageStream.assembler()
  /// The descriptors that came with requests which are not decoded yet.
  private var descriptors: [Int32] = []
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var outgoing = ImageStream.greeting

  init(socket: Int32, program: DecoderProgram) {
    self.socket = socket
    self.program = program
  }

  /// Works until photod closes its end of the socket.
  /// - Returns: the exit status.
  func run() -> Int32 {
    do {
      while true {
        while let payload = try frames.next() { try answer(try PictureRequest(payload)) }
        try send()
        try receive()
      }
    } catch ServerEnd.closed {
      return 0
    } catch {
      complain("\(program.name): \(error)")
      return 1
    }
  }

  private enum ServerEnd: Error, CustomStringConvertible {
    case closed
    case failed(String)

    var description: String {
      switch self {
      case .closed: "photod closed its end"
      case .failed(let reason): reason
      }
    }
  }

  private func answer(_ request: PictureRequest) throws {
    guard !descriptors.isEmpty else { throw ServerEnd.failed("a request came without its descriptor") }
    let descriptor = descriptors.removeFirst()
    defer { close(descriptor) }
    alarm(Self.longestDecode)
    let made: MadePicture
    do throws(PictureError) {
      made = try program.make(request, descriptor)
      alarm(0)
    } catch {
      alarm(0)
      ImageStream.append(.failed(error.failure, message: error.message), to: &outgoing)
      return try send()
    }
    ImageStream.append(
      .begins(
        contentType: made.contentType, width: UInt32(made.size.width), height: UInt32(made.size.height),
        byteCount: UInt64(made.bytes.count), isDegraded: made.isDegraded), to: &outgoing)
    for start in stride(from: 0, to: made.bytes.count, by: ImageReply.maximumBytes) {
      let end = min(made.bytes.count, start + ImageReply.maximumBytes)
      ImageStream.append(.bytes(Array(made.bytes[start..<end])), to: &outgoing)
      try send()
    }
  }

  private func receive() throws {
    var received = [Int32](repeating: -1, count: DESCRIPTORPASSING_MAXIMUM)
    var count = UInt32(received.count)
    let byteCount = descriptorpassing_receive(socket, &buffer, buffer.count, &received, &count)
    if byteCount < 0, errno == EINTR { return }
    // photod has ended, and had not read all replies.
    if byteCount < 0, errno == ECONNRESET { throw ServerEnd.closed }
    guard byteCount >= 0 else { throw ServerEnd.failed("the socket to photod can't be read: \(errorText(errno))") }
    guard byteCount > 0 else { throw ServerEnd.closed }
    descriptors += received[..<Int(count)]
    frames.append(buffer[..<byteCount])
  }

  private func send() throws {
    var done = 0
    while done < outgoing.count {
      let count = outgoing.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ServerEnd.closed }
      done += count
    }
    outgoing.removeAll(keepingCapacity: true)
  }
}
