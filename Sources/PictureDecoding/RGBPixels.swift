// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// RGB in memory, row after row without padding.
package final class RGBPixels {
  package let size: PixelSize
  package let bytes: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter bits: 8 or 16.
  package init(_ size: PixelSize, bits: Int = 8) throws(PictureError) {
    let count = size.width * size.height * 3 * bits / 8
    guard let memory = malloc(count) else { throw PictureError(.outOfMemory, "the pixels need \(count) bytes") }
    self.size = size
    bytes = UnsafeMutableBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: count)
  }

  deinit { free(bytes.baseAddress) }

  /// Turns pixels with 8 bits.
  /// - Parameter orientation: EXIF 1...8
  package func upright(_ orientation: Int) throws(PictureError) -> RGBPixels {
    guard orientation > 1 else { return self }
    let result = try RGBPixels(size.rotated(orientation))
    let (source, target, width) = (bytes, result.bytes, size.width)
    let (right, bottom) = (size.width - 1, size.height - 1)
    for y in 0..<result.size.height {
      for x in 0..<result.size.width {
        let (column, row) =
          switch orientation {
          case 2: (right - x, y)
          case 3: (right - x, bottom - y)
          case 4: (x, bottom - y)
          case 5: (y, x)
          case 6: (y, bottom - x)
          case 7: (right - y, bottom - x)
          default: (right - y, x)
          }
        let (from, to) = (3 * (row * width + column), 3 * (y * result.size.width + x))
        target[to] = source[from]
        target[to + 1] = source[from + 1]
        target[to + 2] = source[from + 2]
      }
    }
    return result
  }
}
