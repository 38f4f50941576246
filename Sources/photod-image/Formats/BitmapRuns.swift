// SPDX-License-Identifier: GPL-2.0-or-later

import PictureDecoding

/// The codings BI_RLE8 and BI_RLE4 of BMP (Microsoft, "Bitmap Compression").
///
/// Pairs of bytes follow each other: a count and the index to repeat, or 0 and a command. A command ends the row or the
/// picture, moves on, or announces indexes that follow as they are. No pixel is outside of the picture, whatever the file
/// says.
struct BitmapRuns {
  /// 4 or 8.
  let bits: Int

  /// Decodes the indexes, row by row from the bottom. A pixel that the file leaves out keeps its index.
  ///
  /// - Parameter indexes: one byte for each pixel.
  /// - Returns: false if the data end before the last row.
  func decode(_ data: UnsafeRawBufferPointer, _ size: PixelSize, into indexes: UnsafeMutableBufferPointer<UInt8>)
    -> Bool
  {
    var (x, y, at) = (0, 0, 0)
    func put(_ index: UInt8) {
      if x < size.width { indexes[y * size.width + x] = index }
      x += 1
    }
    while at + 1 < data.count, y < size.height {
      let (count, value) = (Int(data[at]), data[at + 1])
      at += 2
      if count > 0 {
        for number in 0..<count { put(index(number, of: value)) }
        continue
      }
      switch value {
      case 0: (x, y) = (0, y + 1)
      case 1: return true
      case 2:
        guard at + 1 < data.count else { return false }
        (x, y) = (x + Int(data[at]), y + Int(data[at + 1]))
        at += 2
      default:
        // These bytes are padded to an even number.
        let byteCount = (Int(value) * bits + 7) / 8
        guard at + byteCount <= data.count else { return false }
        for number in 0..<Int(value) { put(index(number, of: data[at + number * bits / 8])) }
        at += (byteCount + 1) / 2 * 2
      }
    }
    return y >= size.height - 1
  }

  /// A byte has two indexes of four bits. The first one is in the higher bits.
  private func index(_ number: Int, of byte: UInt8) -> UInt8 {
    if bits == 8 { return byte }
    return number % 2 == 0 ? byte >> 4 : byte & 0x0F
  }
}
