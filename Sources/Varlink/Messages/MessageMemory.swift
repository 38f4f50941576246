import NIOCore
import Synchronization

/// Counts the memory for the messages of all connections of a service. These are calls that arrive or are being
/// answered, and replies that wait for their readers.
///
/// A connection may hold a call of 16 MiB and 2 MiB of replies. 2,048 such connections would take more memory than the
/// service may have, so one bound applies to all of them. Beyond it, the connection that holds the most is closed.
/// Clients that read, and send short calls, hold almost nothing.
final class MessageMemory: Sendable {
  private struct State {
    var total = 0
    /// The bytes of calls by open connection.
    var calls: [Int: Int] = [:]
    /// The bytes of replies by connection.
    var replies: [Int: Int] = [:]
    /// Replies that several connections may wait for, by memory address. They count once in the total.
    var shared: [UInt: Int] = [:]
  }

  /// The smallest part of a reply that counts as shared. Smaller parts count for each connection.
  private static let sharedFrom = 4 << 10

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var total: Int { state.withLock { $0.total } }

  func open(_ connection: Int) { state.withLock { $0.calls[connection] = 0 } }

  /// Forgets the calls of a connection that is closed.
  func close(_ connection: Int) {
    state.withLock { state in
      state.total -= state.calls.removeValue(forKey: connection) ?? 0
      state.replies[connection] = nil
    }
  }

  /// Adds bytes of calls. A negative number subtracts bytes that are no longer needed.
  ///
  /// - Returns: the connection to close, if all hold too much.
  func addCalls(_ byteCount: Int, to connection: Int) -> Int? {
    state.withLock { state in
      guard byteCount != 0, let calls = state.calls[connection] else { return nil }
      state.total += byteCount
      state.calls[connection] = calls + byteCount
      return byteCount > 0 ? largest(state) : nil
    }
  }

  /// Adds replies that wait for the reader of a connection.
  ///
  /// - Returns: the connection to close, if all hold too much.
  func addReply(_ parts: [ByteBuffer], to connection: Int) -> Int? {
    state.withLock { state in
      for part in parts {
        state.replies[connection, default: 0] += part.readableBytes
        if part.readableBytes < Self.sharedFrom {
          state.total += part.readableBytes
        } else {
          let place = Self.place(of: part)
          if state.shared[place] == nil { state.total += part.readableBytes }
          state.shared[place, default: 0] += 1
        }
      }
      return largest(state)
    }
  }

  func removeReply(_ parts: [ByteBuffer], from connection: Int) {
    state.withLock { state in
      for part in parts {
        state.replies[connection]? -= part.readableBytes
        if part.readableBytes < Self.sharedFrom {
          state.total -= part.readableBytes
          continue
        }
        let place = Self.place(of: part)
        guard let count = state.shared[place] else { continue }
        state.shared[place] = count > 1 ? count - 1 : nil
        if count == 1 { state.total -= part.readableBytes }
      }
    }
  }

  private func largest(_ state: borrowing State) -> Int? {
    guard state.total > limit else { return nil }
    return state.calls.max { one, other in
      one.value + (state.replies[one.key] ?? 0) < other.value + (state.replies[other.key] ?? 0)
    }?.key
  }

  private static func place(of part: ByteBuffer) -> UInt {
    part.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
  }
}

/// The memory of all connections as one of them uses it.
struct MessageShare: Sendable {
  let memory: MessageMemory
  let connection: Int
  /// Closes this or another connection that holds too much.
  let evict: @Sendable (Int) -> Void

  func addCalls(_ byteCount: Int) {
    if let largest = memory.addCalls(byteCount, to: connection) { evict(largest) }
  }

  func addReply(_ parts: [ByteBuffer]) {
    if let largest = memory.addReply(parts, to: connection) { evict(largest) }
  }

  func removeReply(_ parts: [ByteBuffer]) { memory.removeReply(parts, from: connection) }
}
