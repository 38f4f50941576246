// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import WatchRecords

extension ByteReader {
  /// An error at the present offset.
  func error(_ what: String) -> WatchFormatError { WatchFormatError(what: what, offset: offset) }

  /// A media type of RFC 6838: printable ASCII without spaces. It may be empty.
  mutating func contentType() throws(WatchFormatError) -> String {
    let bytes = try name("a content type")
    guard bytes.count <= PictureRequest.longestContentType, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw error("a content type is no media type of RFC 6838")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A width or height in pixels, from 1 to 65,535.
  mutating func side(_ field: String) throws(WatchFormatError) -> UInt32 {
    let value: UInt32 = try integer(field)
    guard (1...65_535).contains(value) else { throw error("\(field) is \(value)") }
    return value
  }
}
