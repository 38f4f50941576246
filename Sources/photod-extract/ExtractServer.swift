import CDescriptorPassing
import CReplyBuffer
import ExtractRecords
import FileContent
import Glibc
import PhotoMetadata
import SystemErrors
import WatchRecords

/// Answers photod's requests one after another.
final class ExtractServer {
  /// How long one file may take, in seconds, without the time in which photod fetches its bytes. photod kills the process
  /// earlier. This limit is for a process that photod has left behind, because photod itself was killed.
  static let longestRead: UInt32 = 20

  private let socket: Int32
  private var reader = MediaReader()
  private var frames = ExtractStream.assembler()
  /// The descriptors that came with requests which are not decoded yet.
  private var descriptors: [Int32] = []
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// The bytes of one message. It is kept, so that no message allocates memory.
  private var outgoing = ExtractStream.greeting

  init(socket: Int32) { self.socket = socket }

  /// Works until photod closes its end of the socket.
  /// - Returns: the exit status.
  func run() -> Int32 {
    do {
      try add()
      try sendAll()
      while true {
        try receive()
        guard var request = try nextRequest() else { continue }
        replybuffer_begin()
        while true {
          guard case .file(let name, let byteCount, let isFetched) = request else {
            throw ServerEnd.failed("bytes came that were not asked for")
          }
          try answer(name: name, byteCount: byteCount, isFetched: isFetched)
          guard let next = try nextRequest() else { break }
          request = next
        }
        try sendAll()
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
    replybuffer_next()
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
    try add()
  }

  /// Asks photod for bytes of the current file.
  /// - Returns: like pread(2).
  private func fetch(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    let count = min(buffer.count, ExtractRequest.maximumBytes)
    ExtractStream.append(.needs(offset: UInt64(offset), count: UInt32(count)), to: &outgoing)
    try add()
    // A slow share may take longer than the reading. If photod ends, its end of the socket is closed.
    try sendAll()
    while true {
      guard let request = try nextRequest() else {
        try receive()
        continue
      }
      guard case .bytes(let bytes, let number) = request, bytes.count <= count else {
        throw ServerEnd.failed("another request came in place of bytes")
      }
      replybuffer_begin()
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
    guard byteCount >= 0 else { throw ServerEnd.failed("the socket to photod can't be read: \(errorText(errno))") }
    guard byteCount > 0 else { throw ServerEnd.closed }
    descriptors += received[..<Int(count)]
    frames.append(buffer[..<byteCount])
  }

  /// Adds the message to those that are sent together.
  private func add() throws {
    let result = outgoing.withUnsafeBytes { replybuffer_add($0.baseAddress, $0.count) }
    guard result == 0 else { throw ServerEnd.closed }
    outgoing.removeAll(keepingCapacity: true)
  }

  /// Sends all messages, and ends the work on the files for which photod waits.
  private func sendAll() throws {
    guard replybuffer_end() == 0 else { throw ServerEnd.closed }
  }
}
