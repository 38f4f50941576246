import CDescriptorPassing
import ExtractRecords
import FileContent
import Glibc
import PhotoMetadata
import WatchRecords

/// Answers photod's requests one after another.
final class ExtractServer {
  /// How long one file may take, in seconds, without the time in which photod fetches its bytes. photod kills the process
  /// earlier. This limit is for a process that photod has left behind, because photod itself was killed.
  private static let longestRead: UInt32 = 20

  private let socket: Int32
  private var reader = MediaReader()
  private var frames = ExtractStream.assembler()
  /// The descriptors that came with requests which are not decoded yet.
  private var descriptors: [Int32] = []
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var outgoing = ExtractStream.greeting

  init(socket: Int32) { self.socket = socket }

  /// Works until photod closes its end of the socket.
  /// - Returns: the exit status.
  func run() -> Int32 {
    do {
      while true {
        while let request = try nextRequest() {
          guard case .file(let name, let byteCount, let isFetched) = request else {
            throw ServerEnd.failed("bytes came that were not asked for")
          }
          try answer(name: name, byteCount: byteCount, isFetched: isFetched)
        }
        try send()
        try receive()
      }
    } catch ServerEnd.closed {
      return 0
    } catch {
      complain("photod-extract: \(error)")
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

  private func answer(name: [UInt8], byteCount: UInt64, isFetched: Bool) throws {
    let size = Int64(clamping: byteCount)
    let facts: MediaFacts
    alarm(Self.longestRead)
    defer { alarm(0) }
    if isFetched {
      var end: (any Error)?
      let source = FileBytes.reader { buffer, offset in
        do {
          return try self.fetch(into: buffer, at: offset)
        } catch {
          end = end ?? error
          errno = EIO
          return -1
        }
      }
      facts = reader.facts(of: source, byteCount: size, name: name)
      if let end { throw end }
    } else {
      guard !descriptors.isEmpty else { throw ServerEnd.failed("a request came without its descriptor") }
      let descriptor = descriptors.removeFirst()
      defer { close(descriptor) }
      facts = reader.facts(descriptor: descriptor, byteCount: size, name: name)
    }
    ExtractStream.append(.facts(facts), to: &outgoing)
    // photod reads replies while this process works on the next file.
    try send()
  }

  /// Asks photod for bytes of the current file.
  /// - Returns: like pread(2).
  private func fetch(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    let count = min(buffer.count, ExtractRequest.maximumBytes)
    ExtractStream.append(.needs(offset: UInt64(offset), count: UInt32(count)), to: &outgoing)
    try send()
    // A slow share may take longer than the reading. If photod ends, its end of the socket is closed.
    alarm(0)
    while true {
      guard let request = try nextRequest() else {
        try receive()
        continue
      }
      guard case .bytes(let bytes, let number) = request, bytes.count <= count else {
        throw ServerEnd.failed("another request came in place of bytes")
      }
      alarm(Self.longestRead)
      guard number == 0 else {
        errno = number
        return -1
      }
      buffer.copyBytes(from: bytes)
      return bytes.count
    }
  }

  private func nextRequest() throws -> ExtractRequest? {
    try frames.next().map { try ExtractRequest($0) }
  }

  private func receive() throws {
    var received = [Int32](repeating: -1, count: DESCRIPTORPASSING_MAXIMUM)
    var count = UInt32(received.count)
    let byteCount = descriptorpassing_receive(socket, &buffer, buffer.count, &received, &count)
    if byteCount < 0, errno == EINTR { return }
    // photod has ended, and had not read all replies.
    if byteCount < 0, errno == ECONNRESET { throw ServerEnd.closed }
    guard byteCount >= 0 else { throw ServerEnd.failed("the socket to photod can't be read: \(describe(errno))") }
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
