// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// The bytes on the socket pair between photod and photod-watch. Each side begins with the greeting; then come frames: a
/// u32 length (little-endian, 1 to `maximumFrameBytes`) and that many bytes of whole records (or, to photod-watch,
/// orders). A frame is one ordered batch.
public enum WatchStream {
  /// A change of the format changes this number; both programs are of one build, so there is no negotiation.
  public static let version: UInt8 = 2
  /// What each side says first: seven letters and the version.
  public static let greeting: [UInt8] = Array("photodw".utf8) + [version]
  /// The longest payload of a frame.
  public static let maximumFrameBytes = 1 << 20

  /// The records of one frame's payload.
  /// - throws: `WatchFormatError` on the first byte that is none of the format; nothing is returned of such a frame.
  public static func records(in payload: ArraySlice<UInt8>) throws(WatchFormatError) -> [WatchRecord] {
    var reader = ByteReader(payload)
    var records: [WatchRecord] = []
    while !reader.isAtEnd { records.append(try WatchRecord(from: &reader)) }
    return records
  }

  /// The orders of one frame's payload.
  /// - throws: `WatchFormatError` as `records(in:)`.
  public static func orders(in payload: ArraySlice<UInt8>) throws(WatchFormatError) -> [WatchOrder] {
    var reader = ByteReader(payload)
    var orders: [WatchOrder] = []
    while !reader.isAtEnd { orders.append(try WatchOrder(from: &reader)) }
    return orders
  }

  /// One frame of these records. Traps beyond `maximumFrameBytes`: who cuts frames cuts them far below (`FrameBuilder`).
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

  fileprivate static func sealFrame(_ bytes: inout [UInt8]) {
    let length = bytes.count - 4
    precondition(length > 0 && length <= maximumFrameBytes, "a frame of \(length) bytes")
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
  }
}

/// Records on their way into one frame.
public struct FrameBuilder: Sendable {
  private var bytes: [UInt8] = [0, 0, 0, 0]
  public private(set) var recordCount = 0

  public init() {}

  public var isEmpty: Bool { recordCount == 0 }
  /// A frame that has this many bytes or records is sent though more is to come: small, so that who reads them has
  /// something to do early, and is done soon after the last. One record never exceeds 132 KB, so a
  /// frame stays far below `WatchStream.maximumFrameBytes`.
  public var isFull: Bool { bytes.count >= 128 << 10 || recordCount >= 250 }

  public mutating func append(_ record: WatchRecord) {
    record.encode(into: &bytes)
    recordCount += 1
  }

  /// The frame, and an empty builder.
  public mutating func take() -> [UInt8] {
    WatchStream.sealFrame(&bytes)
    defer { self = FrameBuilder() }
    return bytes
  }
}

/// Takes what recv(2) gave, in whatever pieces, and gives whole frames. Holds at most one frame and one read more.
public struct FrameAssembler: Sendable {
  private var bytes: [UInt8] = []
  /// Where the next frame begins in `bytes`; what is before it was taken.
  private var start = 0
  /// Bytes of the connection that are no more in `bytes`: for errors.
  private var consumed = 0
  private var greeted = false

  public init() {}

  public mutating func append(_ received: some Collection<UInt8>) {
    if start > 0 {
      consumed += start
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: received)
  }

  /// The payload of the next whole frame, or nil when more bytes are needed.
  /// - throws: `WatchFormatError` when the peer greets otherwise or names an impossible length; the connection is useless
  ///   then.
  public mutating func next() throws(WatchFormatError) -> ArraySlice<UInt8>? {
    if !greeted {
      let greeting = WatchStream.greeting
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
    guard length > 0, length <= WatchStream.maximumFrameBytes else {
      throw WatchFormatError(
        what: "a frame of \(length) bytes, not 1 to \(WatchStream.maximumFrameBytes)", offset: consumed + start)
    }
    guard bytes.count - start - 4 >= length else { return nil }
    let payload = bytes[start + 4..<start + 4 + length]
    start += 4 + length
    return payload
  }
}
