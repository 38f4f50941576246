// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import ImageRecords

/// An encoded picture without any metadata.
struct MadePicture {
  /// At most this many pixels on each side, because JPEG has no more.
  private static let longestSide = 65_535

  let contentType: String
  let size: PixelSize
  let isDegraded: Bool
  let bytes: [UInt8]

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
    size = PixelSize(Int(shown.width), Int(shown.height)).rotated(orientation)
    guard size.longerSide <= Self.longestSide else {
      throw PictureError(.tooLarge, "a picture of \(size.width) × \(size.height) pixels can't be encoded")
    }
    let isPNG = request.format == .png || (request.format == .automatic && pixels.isTransparent)
    // Small pictures have no details that the better quality would keep.
    let quality: Int32 = isPNG ? 0 : size.longerSide <= 512 ? 85 : 88
    var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    try PictureError.check(
      imagedecoders_encode(&pixels.content, shown, Int32(orientation), quality, &start, &count))
    defer { imagedecoders_free(start) }
    guard UInt64(count) <= request.maximumBytes else {
      throw PictureError(
        .tooLarge, "the encoded picture has \(count) bytes, and at most \(request.maximumBytes) are allowed")
    }
    bytes = Array(UnsafeBufferPointer(start: start, count: count))
    contentType = isPNG ? "image/png" : "image/jpeg"
    self.isDegraded = isDegraded
  }
}
