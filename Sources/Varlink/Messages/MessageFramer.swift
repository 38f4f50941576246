import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Cuts a byte stream into messages at the NULs. It is a pure state machine, and the channel's handler feeds it.
///
/// A message that is too long is not kept. Its bytes are dropped up to its NUL, and `.tooLarge` replaces it, so that
/// its sender gets an error. If the message exceeds four times the limit, `.unrecoverable` ends the stream without an
/// error reply.
///
/// Nothing that is kept refers to more memory than its own bytes need. Otherwise a message of one byte could hold the
/// buffer of hundreds of kilobytes in which it came, and ``MessageMemory`` would count one byte.
struct MessageFramer {
  enum Frame: Equatable {
    /// A message without its NUL. It may be empty.
    case message(ByteBuffer)
    case tooLarge
    /// The rest of the stream can't be read as messages.
    case unrecoverable
  }

  let maximumMessageBytes: Int
  /// Received bytes that were not handed out. The first `scanned` of them contain no NUL.
  private(set) var pending = ByteBuffer()
  private var scanned = 0
  /// How many bytes of a message that is too large were dropped so far; nil if there is no such message.
  private var discarded: Int?
  /// `.unrecoverable` was handed out. Nothing follows it.
  private var hasGivenUp = false

  /// The bytes of an incomplete message.
  var pendingByteCount: Int { pending.readableBytes }

  init(maximumMessageBytes: Int) {
    self.maximumMessageBytes = maximumMessageBytes
  }

  /// Adds a copy of the chunk. If all frames were taken before, the pending bytes are at most the maximum and one
  /// chunk.
  ///
  /// If nothing refers to the buffer, the channel reads into it again. Otherwise it would keep several buffers as long
  /// as the connection is open.
  mutating func push(_ chunk: ByteBuffer) {
    guard !hasGivenUp else { return }
    pending.discardReadBytes()
    pending.writeImmutableBuffer(chunk)
  }

  /// The next frame; nil if more bytes are needed.
  ///
  /// - Complexity: each byte is examined once.
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
        return .unrecoverable
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
      // The message takes over the memory, because it fills most of it.
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

  /// Frees the memory of bytes that were handed out if it is a third of all. So this copies at most two bytes for each
  /// byte that is handed out.
  private mutating func freeReadBytes() {
    if pending.readerIndex * 2 >= pending.readableBytes { pending = ByteBuffer(bytes: pending.readableBytesView) }
  }
}
