// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords
import PictureDecoding

/// The pixels of an embedded picture in memory, row after row without padding, with 8 bits. Each program has a decoder of
/// its own.
package protocol EmbeddedPixels {
  /// Decodes a JPEG at exactly this size, which is not larger than its own, and not rotated.
  /// - Throws: `unsupported` if the decoder of this program can't show its colours.
  static func decode(_ view: ByteView, at size: PixelSize) throws(PictureError) -> Self

  var size: PixelSize { get }
  /// Red, green, blue, and opacity if there are four bands.
  var bytes: UnsafeMutableBufferPointer<UInt8> { get }
  var bandCount: Int { get }

  /// Encodes a part of the pixels.
  /// - Parameters:
  ///   - area: the part, before the rotation.
  ///   - orientation: EXIF 1...8
  func picture(
    of area: PixelArea, orientation: Int, isDegraded: Bool, for request: PictureRequest
  ) throws(PictureError) -> MadePicture
}

/// A part of a picture, in pixels.
package struct PixelArea {
  package var left: Int
  package var top: Int
  package var size: PixelSize
}

extension PixelSize {
  /// The centered part with this size.
  package func center(_ part: PixelSize) -> PixelArea {
    PixelArea(left: (width - part.width) / 2, top: (height - part.height) / 2, size: part)
  }
}
