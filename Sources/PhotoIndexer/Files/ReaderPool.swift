import PhotoMetadata
import Synchronization

/// Readers, each with its buffer, for as many threads as read at one time.
final class ReaderPool: Sendable {
  private struct Idle: ~Copyable {
    // `MediaReader` belongs to one thread at a time, so it is removed from this list while it is used.
    nonisolated(unsafe) var readers: [MediaReader] = []
  }

  private let idle = Mutex(Idle())

  func withReader<Value>(_ body: (inout MediaReader) -> Value) -> Value {
    nonisolated(unsafe) var reader = idle.withLock { $0.readers.popLast() } ?? MediaReader()
    let value = body(&reader)
    idle.withLock { $0.readers.append(reader) }
    return value
  }
}
