// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// The picture of a BMP file, for a request (Microsoft, "Bitmap Storage" and BITMAPV5HEADER).
struct BitmapPicture {
  let request: PictureRequest
  let view: ByteView

  func rendered() throws(PictureError) -> MadePicture {
    guard let start = view.uint32(at: 10, isLittle: true), let headerBytes = view.uint32(at: 14, isLittle: true),
      let fields = view.part(at: 14, count: headerBytes)
    else { throw Self.damaged }
    let header = try BitmapHeader(fields, masks: view.part(at: 14 + 40, count: 16))
    let size = header.size
    try size.check(request)
    let pixels: Pixels
    switch header.coding {
    case .palette(let bits):
      let indexes = PackedIndexes(rows: try rows(header, bits, from: start), bits: bits, header)
      pixels = try colored(header, bits: bits, after: headerBytes) { indexes[$0, $1] }
    case .runs(let bits):
      let indexes = try Pixels.allocate(size, IMAGEDECODERS_GREY)
      guard let data = view.part(at: start, count: view.count - start),
        BitmapRuns(bits: bits).decode(data.bytes, size, into: indexes.bytes)
      else { throw Self.damaged }
      pixels = try colored(header, bits: bits, after: headerBytes) { x, y in
        Int(indexes.bytes[(size.height - 1 - y) * size.width + x])
      }
    case .channels(let bits, let channels):
      pixels = try unpacked(header, channels, rows: try rows(header, bits, from: start), bytes: bits / 8)
    }
    return try MadePicture(try pixels.converted(.standard, to: size.scaled(to: request.frame)), for: request)
  }

  static let damaged = PictureError(.unreadable, "the BMP is cut off")

  /// The rows without compression. Each is a multiple of four bytes.
  private func rows(_ header: BitmapHeader, _ bits: Int, from start: Int) throws(PictureError) -> ByteView {
    guard let rows = view.part(at: start, count: header.rowBytes(bits: bits) * header.size.height) else {
      throw Self.damaged
    }
    return rows
  }

  /// Makes the pixels of a palette.
  ///
  /// - Parameter index: the index of the pixel at x and y, counted from the top left.
  private func colored(
    _ header: BitmapHeader, bits: Int, after headerBytes: Int, index: (Int, Int) -> Int
  ) throws(PictureError) -> Pixels {
    let count = header.colors == 0 ? 1 << bits : min(header.colors, 256)
    guard let palette = view.part(at: 14 + headerBytes, count: header.colorBytes * count) else { throw Self.damaged }
    let pixels = try Pixels.allocate(header.size, IMAGEDECODERS_RGB)
    let target = pixels.bytes
    for y in 0..<header.size.height {
      for x in 0..<header.size.width {
        let index = index(x, y)
        guard index < count else { continue }
        // Blue comes first.
        for band in 0..<3 {
          target[3 * (y * header.size.width + x) + band] = palette.bytes[header.colorBytes * index + 2 - band]
        }
      }
    }
    return pixels
  }

  /// Makes the pixels whose channels are in the file. If all of them are transparent, the writer did not mean it.
  private func unpacked(
    _ header: BitmapHeader, _ channels: BitmapChannels, rows: ByteView, bytes: Int
  ) throws(PictureError) -> Pixels {
    let size = header.size
    let rowBytes = header.rowBytes(bits: 8 * bytes)
    func value(_ x: Int, _ y: Int) -> UInt32 {
      let place = rowBytes * header.row(y) + bytes * x
      return (0..<bytes).reduce(0) { $0 | UInt32(rows.bytes[place + $1]) << (8 * UInt32($1)) }
    }
    let hasAlpha =
      channels.alpha.mask != 0
      && (0..<size.height).contains { y in (0..<size.width).contains { value($0, y) & channels.alpha.mask != 0 } }
    let pixels = try Pixels.allocate(size, hasAlpha ? IMAGEDECODERS_RGBA : IMAGEDECODERS_RGB)
    let (target, bands) = (pixels.bytes, hasAlpha ? 4 : 3)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (value, place) = (value(x, y), bands * (y * size.width + x))
        target[place] = channels.red.byte(of: value)
        target[place + 1] = channels.green.byte(of: value)
        target[place + 2] = channels.blue.byte(of: value)
        if hasAlpha { target[place + 3] = channels.alpha.byte(of: value) }
      }
    }
    return pixels
  }

  /// Indexes of 1, 2, 4 or 8 bits, the first in the highest bits of a byte.
  private struct PackedIndexes {
    let rows: ByteView
    let bits: Int
    let header: BitmapHeader

    init(rows: ByteView, bits: Int, _ header: BitmapHeader) {
      (self.rows, self.bits, self.header) = (rows, bits, header)
    }

    subscript(x: Int, y: Int) -> Int {
      let byte = rows.bytes[header.rowBytes(bits: bits) * header.row(y) + x * bits / 8]
      return Int(byte >> UInt8(8 - bits - x * bits % 8)) & (1 << bits - 1)
    }
  }
}
