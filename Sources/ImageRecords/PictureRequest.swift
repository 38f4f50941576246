// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import WatchRecords

/// The way in which a picture is made.
package enum PictureKind: UInt8, Hashable, Sendable {
  /// The picture that the file has embedded: the EXIF thumbnail of a JPEG, the `thmb` of a HEIC, the preview of a RAW.
  /// It is made at once. A file without one gives ``PictureFailure/noEmbeddedPicture``.
  case embedded = 1
  /// The picture itself is decoded. For a RAW file, that is the largest embedded preview if it is large enough, else
  /// the developed picture.
  case rendered = 2
}

/// The frame in which a picture is shown, in pixels of the upright picture.
package struct PictureFrame: Hashable, Sendable {
  /// 1...65535
  package var width: UInt32
  /// 1...65535
  package var height: UInt32
  /// Whether the picture covers the frame. Else it fits inside.
  package var covers: Bool

  package init(width: UInt32, height: UInt32, covers: Bool = false) {
    self.width = width
    self.height = height
    self.covers = covers
  }
}

package enum PictureFormat: UInt8, Hashable, Sendable {
  /// JPEG, or PNG if the picture has transparency.
  case automatic = 0
  /// JPEG. Transparency is shown over white.
  case jpeg = 1
  case png = 2
}

/// A message of photod to a decoder: one picture of a file. A descriptor that is open for reading comes with its
/// bytes, and the offset of that descriptor is not moved.
package struct PictureRequest: Hashable, Sendable {
  /// The name of the file, without its folder.
  package var name: [UInt8]
  /// The media type of the catalog. The content decides, except between the kinds of RAW files and TIFF. At most
  /// `longestContentType` bytes.
  package var contentType: String
  package var kind: PictureKind
  /// Nil means the picture's own size.
  package var frame: PictureFrame?
  package var format: PictureFormat
  /// The EXIF orientation that the catalog has, 1...8. If it is 0, the orientation in the file is used. Formats that
  /// describe the rotation themselves (HEIC, AVIF, JPEG XL) ignore it.
  package var orientation: UInt8
  /// The time of a video's frame. After the end, it is the last frame. Nil means the first frame that is not black.
  /// photod-image ignores it.
  package var atMilliseconds: UInt64?
  /// A picture with more pixels is refused before it is decoded.
  package var maximumPixels: UInt64
  /// A result with more bytes is refused.
  package var maximumBytes: UInt64

  package static let longestContentType = 100
  /// The latest time of a frame: some 31 years.
  package static let latestMilliseconds: UInt64 = 1_000_000_000_000

  package init(
    name: [UInt8], contentType: String, kind: PictureKind, frame: PictureFrame? = nil,
    format: PictureFormat = .automatic, orientation: UInt8 = 0, atMilliseconds: UInt64? = nil, maximumPixels: UInt64,
    maximumBytes: UInt64
  ) {
    self.name = name
    self.contentType = contentType
    self.kind = kind
    self.frame = frame
    self.format = format
    self.orientation = orientation
    self.atMilliseconds = atMilliseconds
    self.maximumPixels = maximumPixels
    self.maximumBytes = maximumBytes
  }

  /// The name must not exceed 65,535 bytes. A content type that is too long is cut off.
  package func encode(into bytes: inout [UInt8]) {
    bytes.append(name: name)
    bytes.append(name: Array(contentType.utf8.prefix(Self.longestContentType)))
    bytes.append(kind.rawValue)
    bytes.append(boolean: frame != nil)
    if let frame {
      bytes.append(integer: frame.width)
      bytes.append(integer: frame.height)
      bytes.append(boolean: frame.covers)
    }
    bytes.append(format.rawValue)
    bytes.append(orientation)
    bytes.append(boolean: atMilliseconds != nil)
    if let atMilliseconds { bytes.append(integer: atMilliseconds) }
    bytes.append(integer: maximumPixels)
    bytes.append(integer: maximumBytes)
  }

  package init(_ payload: ArraySlice<UInt8>) throws(WatchFormatError) {
    var reader = ByteReader(payload)
    name = try reader.name("a name")
    contentType = try reader.contentType()
    kind = try reader.choice("a kind of picture")
    if try reader.boolean("whether there is a frame") {
      frame = PictureFrame(
        width: try reader.side("a frame's width"), height: try reader.side("a frame's height"),
        covers: try reader.boolean("whether the frame is covered"))
    }
    format = try reader.choice("a format")
    orientation = try reader.integer("an orientation")
    guard orientation <= 8 else { throw reader.error("orientation \(orientation) is none of EXIF") }
    if try reader.boolean("whether there is a time") {
      let time: UInt64 = try reader.integer("a time")
      guard time <= Self.latestMilliseconds else { throw reader.error("the time \(time) is no time of a video") }
      atMilliseconds = time
    }
    maximumPixels = try reader.integer("the most pixels")
    maximumBytes = try reader.integer("the most bytes")
    guard reader.isAtEnd else { throw reader.error("bytes follow a request") }
  }
}
