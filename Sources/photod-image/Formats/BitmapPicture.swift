// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// The picture of a BMP file without compression, for a request.
struct BitmapPicture {
  let request: PictureRequest
  let view: ByteView

  func rendered() throws(PictureError) -> MadePicture {
    guard let start = view.uint32(at: 10, isLittle: true), let headerBytes = view.uint32(at: 14, isLittle: true),
      let fields = view.part(at: 14, count: headerBytes)
    else { throw Self.damaged }
    let header = try Header(fields)
    let (size, bits, width) = (header.size, header.bits, header.size.width)
    try size.check(request)
    guard header.compression == 0, [1, 4, 8, 24, 32].contains(bits) else {
      throw PictureError(
        .unsupported, "a BMP with \(bits) bits and compression \(header.compression) is not supported")
    }
    let rowBytes = (width * bits + 31) / 32 * 4
    let colors = header.colors == 0 ? 1 << min(bits, 8) : min(header.colors, 256)
    let palette = bits <= 8 ? view.part(at: 14 + headerBytes, count: header.colorBytes * colors) : fields
    guard let palette, let rows = view.part(at: start, count: rowBytes * size.height) else { throw Self.damaged }
    let pixels = try Pixels.allocate(size, IMAGEDECODERS_RGB)
    let target = pixels.bytes
    for y in 0..<size.height {
      let row = rowBytes * (header.isDownwards ? y : size.height - 1 - y)
      for x in 0..<width {
        let place = 3 * (y * width + x)
        // Blue comes first.
        if bits >= 24 {
          for band in 0..<3 { target[place + band] = rows.bytes[row + x * bits / 8 + 2 - band] }
        } else {
          let byte = rows.bytes[row + x * bits / 8]
          let index = Int(byte >> UInt8(8 - bits - x * bits % 8)) & (1 << bits - 1)
          guard index < colors else { continue }
          for band in 0..<3 { target[place + band] = palette.bytes[header.colorBytes * index + 2 - band] }
        }
      }
    }
    return try MadePicture(try pixels.converted(.standard, to: size.scaled(to: request.frame)), for: request)
  }

  /// The header of a version of Windows, or of OS/2 1.x (BITMAPCOREHEADER), which has fewer fields and 16 bits for a side.
  private struct Header {
    let size: PixelSize
    let bits: Int
    let compression: Int
    /// The colours of the palette; 0 for as many as the bits allow.
    let colors: Int
    /// The bytes of a colour of the palette.
    let colorBytes: Int
    /// Whether the first row is at the top.
    let isDownwards: Bool

    init(_ fields: ByteView) throws(PictureError) {
      if fields.count == 12, let width = fields.uint16(at: 4, isLittle: true),
        let height = fields.uint16(at: 6, isLittle: true), let bits = fields.uint16(at: 10, isLittle: true)
      {
        (size, self.bits) = (PixelSize(width, height), bits)
        (compression, colors, colorBytes, isDownwards) = (0, 0, 3, false)
        return
      }
      guard fields.count >= 40, let width = fields.uint32(at: 4, isLittle: true),
        let height = fields.uint32(at: 8, isLittle: true), let bits = fields.uint16(at: 14, isLittle: true),
        let compression = fields.uint32(at: 16, isLittle: true), let used = fields.uint32(at: 32, isLittle: true)
      else { throw PictureError(.unsupported, "this kind of BMP is not supported") }
      // A negative height means that the first row is at the top.
      isDownwards = height > 0x7FFF_FFFF
      size = PixelSize(width, isDownwards ? 0x1_0000_0000 - height : height)
      (self.bits, self.compression, colors, colorBytes) = (bits, compression, used, 4)
    }
  }

  private static let damaged = PictureError(.unreadable, "the BMP is cut off")
}
