// SPDX-License-Identifier: GPL-2.0-or-later

import CJPEG
import Glibc
import ImageRecords
import PictureDecoding

extension RGBPixels: EmbeddedPixels {
  package var bandCount: Int { 3 }

  package static func decode(_ view: ByteView, at size: PixelSize) throws(PictureError) -> RGBPixels {
    let pixels = try RGBPixels(size)
    try check(
      jpegcodec_decode(
        view.bytes.baseAddress, view.count, Int32(size.width), Int32(size.height), pixels.bytes.baseAddress))
    return pixels
  }

  package func picture(
    of area: PixelArea, orientation: Int, isDegraded: Bool, for request: PictureRequest
  ) throws(PictureError) -> MadePicture {
    let upright = try part(area).upright(orientation)
    return try MadePicture(size: upright.size, isTransparent: false, isDegraded: isDegraded, for: request) {
      format throws(PictureError) in
      guard case .jpeg(let quality) = format else {
        throw PictureError(.unsupported, "no PNG is made here")
      }
      var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
      try Self.check(
        jpegcodec_encode(
          upright.bytes.baseAddress, Int32(upright.size.width), Int32(upright.size.height), quality, &start, &count))
      defer { free(start) }
      return Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  private func part(_ area: PixelArea) throws(PictureError) -> RGBPixels {
    guard area.size != size else { return self }
    let part = try RGBPixels(area.size)
    let (source, target) = (UnsafeMutableRawBufferPointer(bytes), UnsafeMutableRawBufferPointer(part.bytes))
    let count = 3 * area.size.width
    for y in 0..<area.size.height {
      let start = 3 * ((area.top + y) * size.width + area.left)
      UnsafeMutableRawBufferPointer(rebasing: target[(y * count)..<((y + 1) * count)])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<(start + count)]))
    }
    return part
  }

  /// - Throws: the last failure of the decoder, except if the result is a success.
  private static func check(_ result: jpegcodec_result) throws(PictureError) {
    let failure: PictureFailure
    switch result {
    case JPEGCODEC_DONE: return
    case JPEGCODEC_UNSUPPORTED: failure = .unsupported
    case JPEGCODEC_NO_MEMORY: failure = .outOfMemory
    default: failure = .unreadable
    }
    throw PictureError(failure, PictureError.printable(jpegcodec_message()))
  }
}
