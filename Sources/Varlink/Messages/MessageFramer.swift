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
///
/// Nothing that is kept refers to more memory than its own bytes need. Otherwise a message of one byte could hold the
/// buffer of hundreds of kilobytes in which it came, and ``MessageMemory`` would count one byte.
struct MessageFramer {
  enum Frame: Equatable {
    /// Without its NUL. May be empty.
    case message(ByteBuffer)
    case tooLarge
    /// Nothing more can be made of this stream.
    case hopeless
  }

  let maximumMessageBytes: Int
  /// Bytes that came and were not handed out, of which the first `scanned` hold no NUL.
  private(set) var pending = ByteBuffer()
  private var scanned = 0
  /// How much of a message that is too large was thrown away so far; nil while there is none.
  private var discarded: Int?
  /// `.hopeless` was handed out. Nothing follows it.
  private var hasGivenUp = false

  /// Bytes of a message that is not whole yet.
  var pendingByteCount: Int { pending.readableBytes }

  init(maximumMessageBytes: Int) {
    self.maximumMessageBytes = maximumMessageBytes
  }

  /// Adds a copy of what was read. If all frames were taken before, what is pending is at most the maximum and one chunk.
  ///
  /// The channel reads into the same buffer again if nothing refers to it. Otherwise it would keep several buffers for
  /// as long as the connection is open.
  mutating func push(_ chunk: ByteBuffer) {
    guard !hasGivenUp else { return }
    pending.discardReadBytes()
    pending.writeImmutableBuffer(chunk)
  }

  /// The next frame; nil when more bytes are needed.
  ///
  /// - Complexity: each byte is looked at once.
  mutating func next() -> Frame? {
    guard !hasGivenUp else { return nil }
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
      if count > 4 * maximumMessageBytes {
        (hasGivenUp, pending) = (true, ByteBuffer())
        return .hopeless
      }
      return end == nil ? nil : .tooLarge
    }
    if let end {
      defer { freeReadBytes() }
      guard end <= maximumMessageBytes, let message = pending.readSlice(length: end) else {
        pending.moveReaderIndex(forwardBy: end + 1)
        return .tooLarge
      }
      pending.moveReaderIndex(forwardBy: 1)
      if 2 * end < pending.storageCapacity { return .message(ByteBuffer(bytes: message.readableBytesView)) }
      // The message takes over the memory, of which it is the most.
      pending = ByteBuffer(bytes: pending.readableBytesView)
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

  /// Frees the memory of bytes that were handed out, once it is a third of all. So this copies at most two bytes for each that is
  /// handed out.
  private mutating func freeReadBytes() {
    if pending.readerIndex * 2 >= pending.readableBytes { pending = ByteBuffer(bytes: pending.readableBytesView) }
  }
}
