// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// The bytes on the socket pair between photod and photod-watch. Each side begins with the greeting. Frames follow: a
/// u32 length (little-endian, 1 to `maximumFrameBytes`) and that many bytes of whole records (to photod-watch: of
/// orders). A frame is one ordered batch.
public enum WatchStream {
  /// The number changes with the format. Both programs are of one build, so there is no negotiation.
  public static let version: UInt8 = 8
  /// The first bytes of each side: seven letters and the version.
  public static let greeting: [UInt8] = Array("photodw".utf8) + [version]
  /// The longest payload of a frame.
  public static let maximumFrameBytes = 1 << 20

  /// The records of one frame's payload.
  /// - Throws: `WatchFormatError` at the first byte that violates the format. Then no record of the frame is returned.
  public static func records(in payload: ArraySlice<UInt8>) throws(WatchFormatError) -> [WatchRecord] {
    var reader = ByteReader(payload)
    var records: [WatchRecord] = []
    while !reader.isAtEnd { records.append(try WatchRecord(from: &reader)) }
    return records
  }

  /// The orders of one frame's payload.
  /// - Throws: `WatchFormatError`, as in `records(in:)`.
  public static func orders(in payload: ArraySlice<UInt8>) throws(WatchFormatError) -> [WatchOrder] {
    var reader = ByteReader(payload)
    var orders: [WatchOrder] = []
    while !reader.isAtEnd { orders.append(try WatchOrder(from: &reader)) }
    return orders
  }

  /// One frame of these records. Traps beyond `maximumFrameBytes`. Frames are cut far below that size (`FrameBuilder`).
  public static func frame(_ records: [WatchRecord]) -> [UInt8] {
    var builder = FrameBuilder()
    for record in records { builder.append(record) }
    return builder.take()
  }

  /// One frame of one order.
  public static func frame(_ order: WatchOrder) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 0]
    order.encode(into: &bytes)
    sealFrame(&bytes)
    return bytes
  }

  /// One frame of one call.
  public static func frame(_ call: FileCall) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 0]
    call.encode(into: &bytes)
    sealFrame(&bytes)
    return bytes
  }

  /// One frame of one answer.
  public static func frame(_ answer: FileAnswer) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 0]
    answer.encode(into: &bytes)
    sealFrame(&bytes)
    return bytes
  }

  fileprivate static func sealFrame(_ bytes: inout [UInt8]) {
    precondition(bytes.count - 4 <= maximumFrameBytes, "a frame of \(bytes.count - 4) bytes")
    sealFrame(&bytes, from: 0)
  }

  /// Writes the length of a frame that begins at `start` with four bytes of room for it, and ends at the last byte.
  package static func sealFrame(_ bytes: inout [UInt8], from start: Int) {
    let length = bytes.count - start - 4
    precondition(length > 0, "an empty frame")
    for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
  }
}

/// Collects the records of one frame.
public struct FrameBuilder: Sendable {
  private var bytes: [UInt8] = [0, 0, 0, 0]
  public private(set) var recordCount = 0

  public init() {}

  public var isEmpty: Bool { recordCount == 0 }
  /// A full frame is sent although more records follow. Frames are small, so that their reader can begin early and is
  /// done soon after the last one. One record never exceeds 132 KB, so a frame stays far below
  /// `WatchStream.maximumFrameBytes`.
  public var isFull: Bool { bytes.count >= 128 << 10 || recordCount >= 250 }

  public mutating func append(_ record: WatchRecord) {
    record.encode(into: &bytes)
    recordCount += 1
  }

  /// Returns the frame, and empties the builder.
  public mutating func take() -> [UInt8] {
    WatchStream.sealFrame(&bytes)
    defer { self = FrameBuilder() }
    return bytes
  }
}

/// Assembles whole frames from the pieces that recv(2) returns. It holds at most one frame and one further read.
public struct FrameAssembler: Sendable {
  private var bytes: [UInt8] = []
  /// The index of the next frame in `bytes`. The bytes before it were taken.
  private var start = 0
  /// How many bytes of the connection are no longer in `bytes`. Errors need it.
  private var consumed = 0
  /// Whether the peer has sent its greeting.
  package private(set) var greeted = false
  private let greeting: [UInt8]
  private let maximumFrameBytes: Int

  public init() { self.init(greeting: WatchStream.greeting, maximumFrameBytes: WatchStream.maximumFrameBytes) }

  /// For another protocol with the same frames.
  package init(greeting: [UInt8], maximumFrameBytes: Int) {
    self.greeting = greeting
    self.maximumFrameBytes = maximumFrameBytes
  }

  public mutating func append(_ received: some Collection<UInt8>) {
    if start > 0 {
      consumed += start
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: received)
  }

  /// The payload of the next whole frame, or nil if more bytes are needed.
  /// - Throws: `WatchFormatError` if the peer's greeting is another, or a length impossible. The connection is useless
  ///   then.
  public mutating func next() throws(WatchFormatError) -> ArraySlice<UInt8>? {
    if !greeted {
      let received = bytes[start...].prefix(greeting.count)
      guard greeting.starts(with: received) else {
        throw WatchFormatError(
          what: "the peer greets with \(Array(received)), not \(greeting)", offset: consumed + start)
      }
      guard received.count == greeting.count else { return nil }
      start += greeting.count
      greeted = true
    }
    guard bytes.count - start >= 4 else { return nil }
    var length = 0
    for index in 0..<4 { length |= Int(bytes[start + index]) << (8 * index) }
    guard length > 0, length <= maximumFrameBytes else {
      throw WatchFormatError(
        what: "a frame of \(length) bytes, not 1 to \(maximumFrameBytes)", offset: consumed + start)
    }
    guard bytes.count - start - 4 >= length else { return nil }
    let payload = bytes[start + 4..<start + 4 + length]
    start += 4 + length
    return payload
  }
}
