// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import Glibc
import ImageRecords
import PictureDecoding

/// The pixels of a decoder.
final class Pixels: EmbeddedPixels {
  var content: imagedecoders_pixels

  init(_ content: imagedecoders_pixels) { self.content = content }

  deinit { imagedecoders_free(content.bytes) }

  var size: PixelSize { PixelSize(Int(content.width), Int(content.height)) }
  var bytes: UnsafeMutableBufferPointer<UInt8> {
    UnsafeMutableBufferPointer(start: content.bytes, count: content.count)
  }

  var bandCount: Int { Int(content.model.rawValue) }

  /// Zeroed pixels with 8 bits.
  static func allocate(_ size: PixelSize, _ model: imagedecoders_model) throws(PictureError) -> Pixels {
    let bands = model == IMAGEDECODERS_CMYK ? 4 : Int(model.rawValue)
    let count = size.width * size.height * bands
    guard let memory = calloc(count, 1) else { throw PictureError(.outOfMemory, "the pixels need \(count) bytes") }
    return Pixels(
      imagedecoders_pixels(
        width: Int32(size.width), height: Int32(size.height), model: model, bits: 8,
        bytes: memory.assumingMemoryBound(to: UInt8.self), count: count))
  }

  /// Decodes a picture that libvips knows. The size is that before its rotation.
  static func decode(_ view: ByteView, at size: PixelSize) throws(PictureError) -> Pixels {
    var content = imagedecoders_pixels()
    try PictureError.check(
      imagedecoders_decode(view.bytes.baseAddress, view.count, Int32(size.width), Int32(size.height), &content))
    let pixels = Pixels(content)
    // libjpeg fills the missing rows with one colour. A file that lacks nothing but its end marker is shown.
    if pixels.hasUniformLastRow, JPEGStructure.isCutOff(view) {
      throw PictureError(.unreadable, "the JPEG is cut off")
    }
    return pixels
  }

  private var hasUniformLastRow: Bool {
    let (bands, row) = (bandCount, bytes.suffix(size.width * bandCount))
    return row.indices.dropFirst(bands).allSatisfy { abs(Int(row[$0]) - Int(row[$0 - bands])) <= 2 }
  }

  /// Scales the pixels, and converts them to sRGB with 8 bits.
  func converted(_ colors: ColorMeaning, to size: PixelSize) throws(PictureError) -> Pixels {
    var content = imagedecoders_pixels()
    if let conversion = colors.conversion, self.content.model == IMAGEDECODERS_RGB {
      try PictureError.check(
        imagedecoders_scale(&self.content, Int32(size.width), Int32(size.height), &content))
      let scaled = Pixels(content)
      let result = try Pixels.allocate(scaled.size, IMAGEDECODERS_RGB)
      conversion.map(scaled.bytes, bits: Int(content.bits), into: result.bytes)
      return result
    }
    try PictureError.check(
      imagedecoders_convert(&self.content, &colors.content, Int32(size.width), Int32(size.height), &content))
    return Pixels(content)
  }

  func picture(
    of area: PixelArea, orientation: Int, isDegraded: Bool, for request: PictureRequest
  ) throws(PictureError) -> MadePicture {
    let part = imagedecoders_area(
      left: Int32(area.left), top: Int32(area.top), width: Int32(area.size.width), height: Int32(area.size.height))
    return try MadePicture(self, area: part, orientation: orientation, isDegraded: isDegraded, for: request)
  }

  /// Whether a pixel shows the background.
  var isTransparent: Bool {
    guard content.model == IMAGEDECODERS_RGBA else { return false }
    let bytes = bytes
    return stride(from: 3, to: bytes.count, by: 4).contains { bytes[$0] < 255 }
  }
}

/// The meaning of the values of pixels, with the memory of its ICC profile.
final class ColorMeaning {
  var content: imagedecoders_colors

  init(_ content: imagedecoders_colors) { self.content = content }

  deinit { imagedecoders_free(content.profile) }

  /// Nil if libvips converts the colours.
  var conversion: ColorConversion? {
    // The profile of a picture in PQ or HLG is an approximation. libvips has one for P3.
    let isHighDynamicRange = content.transfer == 16 || content.transfer == 18
    guard isHighDynamicRange || (content.profile == nil && content.primaries == 9) else { return nil }
    return ColorConversion(primaries: Int(content.primaries), transfer: Int(content.transfer))
  }

  /// sRGB.
  static var standard: ColorMeaning {
    ColorMeaning(imagedecoders_colors(profile: nil, profile_count: 0, primaries: 2, transfer: 2))
  }

  /// The colours of an ICC profile.
  static func profile(_ view: ByteView) -> ColorMeaning {
    let colors = standard
    guard let memory = malloc(max(1, view.count)), let start = view.bytes.baseAddress else { return colors }
    memcpy(memory, start, view.count)
    colors.content.profile = memory.assumingMemoryBound(to: UInt8.self)
    colors.content.profile_count = view.count
    return colors
  }
}
