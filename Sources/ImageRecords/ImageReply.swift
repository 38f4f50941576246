// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import WatchRecords

/// The reason why there is no picture.
package enum PictureFailure: UInt8, Hashable, Sendable {
  /// The file is damaged.
  case unreadable = 1
  /// There is no decoder for the format, or for this variant of it.
  case unsupported = 2
  /// The picture has more pixels than the request allows. That holds for results of any size.
  case tooLarge = 3
  /// Only a request for an embedded picture fails with this.
  case noEmbeddedPicture = 4
  case outOfMemory = 5
  /// The file could not be read, for example because its disk failed. That says nothing of its content.
  case readFailed = 6
  /// The result has more bytes than the request allows, or longer sides than its format. A smaller one may be possible.
  case resultTooLarge = 7
}

/// A message of a decoder to photod. photod treats it as hostile, because a damaged file may have taken over the
/// process. `begins` and then `bytes` until the promised count answer a request, or one `failed`.
package enum ImageReply: Hashable, Sendable {
  /// A picture follows.
  ///
  /// - contentType: image/jpeg or image/png.
  /// - width, height: in pixels, 1...65535.
  /// - byteCount: the size of the picture in bytes, at least 1.
  /// - isDegraded: whether the file could give a larger picture for the same frame.
  case begins(contentType: String, width: UInt32, height: UInt32, byteCount: UInt64, isDegraded: Bool)
  /// The next bytes of the picture, at least one and at most `maximumBytes`.
  case bytes([UInt8])
  /// The message is a clause in plain English, for a person. It has at most `longestMessage` bytes.
  case failed(PictureFailure, message: String)

  package static let maximumBytes = 1 << 20
  package static let longestMessage = 1_000

  private enum Tag: UInt8 {
    case begins = 1
    case bytes, failed
  }

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .begins(let contentType, let width, let height, let byteCount, let isDegraded):
      bytes.append(Tag.begins.rawValue)
      bytes.append(name: Array(contentType.utf8.prefix(PictureRequest.longestContentType)))
      bytes.append(integer: width)
      bytes.append(integer: height)
      bytes.append(integer: byteCount)
      bytes.append(boolean: isDegraded)
    case .bytes(let content):
      bytes.append(Tag.bytes.rawValue)
      bytes.append(integer: UInt32(content.count))
      bytes.append(contentsOf: content)
    case .failed(let failure, let message):
      bytes.append(Tag.failed.rawValue)
      bytes.append(failure.rawValue)
      bytes.append(name: Self.cut(message))
    }
  }

  /// The longest beginning of the message that fits and is UTF-8.
  private static func cut(_ message: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in message {
      guard bytes.count + character.utf8.count <= longestMessage else { break }
      bytes += character.utf8
    }
    return bytes
  }

  package init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    let tag: Tag = try reader.choice("a reply's tag")
    switch tag {
    case .begins:
      let contentType = try reader.contentType()
      guard contentType == "image/jpeg" || contentType == "image/png" else {
        throw reader.error("a picture is neither JPEG nor PNG")
      }
      let width = try reader.side("a picture's width")
      let height = try reader.side("a picture's height")
      let byteCount: UInt64 = try reader.integer("a picture's size")
      guard byteCount > 0 else { throw reader.error("a picture is empty") }
      self = .begins(
        contentType: contentType, width: width, height: height, byteCount: byteCount,
        isDegraded: try reader.boolean("whether a picture is degraded"))
    case .bytes:
      let count: UInt32 = try reader.integer("a number of bytes")
      guard count > 0, count <= Self.maximumBytes else { throw reader.error("\(count) bytes of a picture are sent") }
      self = .bytes(try reader.bytes(Int(count), "a picture's bytes"))
    case .failed:
      let failure: PictureFailure = try reader.choice("a failure")
      let message = try reader.name("a message")
      guard message.count <= Self.longestMessage, let text = String(validating: message, as: UTF8.self) else {
        throw reader.error("a message is too long, or not UTF-8")
      }
      self = .failed(failure, message: text)
    }
    guard reader.isAtEnd else { throw reader.error("bytes follow a reply") }
  }
}
