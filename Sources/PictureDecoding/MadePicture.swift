// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords

/// An encoded picture without any metadata.
package struct MadePicture {
  package enum Format {
    case png
    /// - quality: 1...100
    case jpeg(quality: Int32)
  }

  /// libjpeg encodes at most this many pixels on each side (JPEG_MAX_DIMENSION), although the format has room for 65,535.
  private static let longestSideOfJPEG = 65_500
  /// A reply to photod has no longer sides.
  private static let longestSideOfPNG = 65_535

  package let contentType: String
  package let size: PixelSize
  package let isDegraded: Bool
  package let bytes: [UInt8]

  /// - encode: encodes the picture.
  /// - Throws: `resultTooLarge` if the picture can't be encoded, or has more bytes than the request allows.
  package init(
    size: PixelSize, isTransparent: Bool, isDegraded: Bool = false, for request: PictureRequest,
    encode: (Format) throws(PictureError) -> [UInt8]
  ) throws(PictureError) {
    let isPNG = request.format == .png || (request.format == .automatic && isTransparent)
    guard size.longerSide <= (isPNG ? Self.longestSideOfPNG : Self.longestSideOfJPEG) else {
      throw PictureError(
        .resultTooLarge,
        "a picture of \(size.width) × \(size.height) pixels can't be encoded as \(isPNG ? "PNG" : "JPEG")")
    }
    // Small pictures have no details that the better quality would keep.
    bytes = try encode(isPNG ? .png : .jpeg(quality: size.longerSide <= 512 ? 85 : 88))
    guard UInt64(bytes.count) <= request.maximumBytes else {
      throw PictureError(
        .resultTooLarge,
        "the encoded picture has \(bytes.count) bytes, and at most \(request.maximumBytes) are allowed")
    }
    contentType = isPNG ? "image/png" : "image/jpeg"
    self.size = size
    self.isDegraded = isDegraded
  }
}
