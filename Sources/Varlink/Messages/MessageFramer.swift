import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Cuts a byte stream into messages at the NULs: a pure state machine, fed by the channel's handler.
///
/// A message that is longer than allowed is not kept: its bytes are thrown away up to its NUL and `.tooLarge` stands
/// in its place, so that its sender can be told. A sender who goes on for four times the limit gets no such courtesy.
struct MessageFramer {
  enum Frame: Equatable {
    /// Without its NUL. May be empty.
    case message(ByteBuffer)
    case tooLarge
    /// Nothing more can be made of this stream.
    case hopeless
  }

  let maximumMessageBytes: Int
  private static let largeMessageBytes = 64 << 10

  /// Bytes that came and were not handed out, of which the first `scanned` hold no NUL.
  private var pending = ByteBuffer()
  private var scanned = 0
  /// How much of a message that is too large was thrown away so far; nil while there is none.
  private var discarded: Int?

  /// Bytes of a message that is not whole yet.
  var pendingByteCount: Int { pending.readableBytes }

  init(maximumMessageBytes: Int) {
    self.maximumMessageBytes = maximumMessageBytes
  }

  /// Adds what was read. Memory: what is pending, at most the maximum and one chunk.
  mutating func push(_ chunk: ByteBuffer) {
    if pending.readableBytes == 0 {
      pending = chunk
      scanned = 0
    } else {
      pending.discardReadBytes()
      pending.writeImmutableBuffer(chunk)
    }
  }

  /// The next frame; nil when more bytes are needed.
  ///
  /// - Complexity: each byte is looked at once.
  mutating func next() -> Frame? {
    let unscanned = scanned
    let end = pending.withUnsafeReadableBytes { bytes -> Int? in
      guard unscanned < bytes.count, let base = bytes.baseAddress,
        let hit = memchr(base + unscanned, 0, bytes.count - unscanned)
      else { return nil }
      return UnsafeRawPointer(hit) - base
    }
    scanned = 0
    if var count = discarded {
      count += end ?? pending.readableBytes
      pending.moveReaderIndex(forwardBy: end.map { $0 + 1 } ?? pending.readableBytes)
      discarded = end == nil ? count : nil
      if count > 4 * maximumMessageBytes { return .hopeless }
      return end == nil ? nil : .tooLarge
    }
    if let end {
      guard end <= maximumMessageBytes, let message = pending.readSlice(length: end) else {
        pending.moveReaderIndex(forwardBy: end + 1)
        return .tooLarge
      }
      pending.moveReaderIndex(forwardBy: 1)
      // The message is a part of the same memory: what is kept here would keep all of it.
      if pending.readableBytes == 0 {
        pending = ByteBuffer()
      } else if end > Self.largeMessageBytes {
        pending = ByteBuffer(bytes: pending.readableBytesView)
      }
      return .message(message)
    }
    if pending.readableBytes > maximumMessageBytes {
      discarded = pending.readableBytes
      pending = ByteBuffer()
      return nil
    }
    scanned = pending.readableBytes
    return nil
  }
}
