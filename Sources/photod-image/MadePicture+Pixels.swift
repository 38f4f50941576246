// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import ImageRecords
import PictureDecoding

extension MadePicture {
  /// - Parameters:
  ///   - pixels: RGB or RGBA with 8 bits.
  ///   - area: the part that is shown, before the rotation. Nil means all of it.
  ///   - orientation: EXIF 1...8
  init(
    _ pixels: Pixels, area: imagedecoders_area? = nil, orientation: Int = 1, isDegraded: Bool = false,
    for request: PictureRequest
  ) throws(PictureError) {
    let shown =
      area ?? imagedecoders_area(left: 0, top: 0, width: pixels.content.width, height: pixels.content.height)
    try self.init(
      size: PixelSize(Int(shown.width), Int(shown.height)).rotated(orientation), isTransparent: pixels.isTransparent,
      isDegraded: isDegraded, for: request
    ) { format throws(PictureError) in
      let quality: Int32 = if case .jpeg(let quality) = format { quality } else { 0 }
      var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
      try PictureError.check(
        imagedecoders_encode(&pixels.content, shown, Int32(orientation), quality, &start, &count))
      defer { imagedecoders_free(start) }
      return Array(UnsafeBufferPointer(start: start, count: count))
    }
  }
}
