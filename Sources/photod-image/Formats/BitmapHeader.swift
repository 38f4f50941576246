// SPDX-License-Identifier: GPL-2.0-or-later

import EmbeddedPictures
import PictureDecoding

/// The header of a version of Windows or OS/2. The one of OS/2 1.x (BITMAPCOREHEADER) has 16 bits for a side. The one of
/// OS/2 2.x may end after any field.
struct BitmapHeader {
  enum Coding {
    /// Indexes into the palette, of so many bits.
    case palette(bits: Int)
    /// The same, with runs of equal indexes (BI_RLE4, BI_RLE8).
    case runs(bits: Int)
    /// The channels in a number of so many bits.
    case channels(bits: Int, BitmapChannels)
  }

  let size: PixelSize
  let coding: Coding
  /// The colours of the palette; 0 for as many as the bits allow.
  let colors: Int
  /// The bytes of a colour of the palette.
  let colorBytes: Int
  /// Whether the first row is at the top.
  private let isDownwards: Bool

  /// - Parameters:
  ///   - fields: the whole header.
  ///   - masks: those of red, green, blue and alpha. They follow the first 40 bytes of a header, in it or after it.
  init(_ fields: ByteView, masks: ByteView?) throws(PictureError) {
    func field(_ offset: Int, bytes: Int = 4) -> Int { fields.number(at: offset, bytes: bytes, isLittle: true) ?? 0 }
    if fields.count == 12 {
      size = PixelSize(field(4, bytes: 2), field(6, bytes: 2))
      (colors, colorBytes, isDownwards) = (0, 3, false)
      coding = try Self.coding(bits: field(10, bytes: 2), compression: 0, .none)
      return
    }
    guard fields.count >= 16 else { throw PictureError(.unsupported, "this kind of BMP is not supported") }
    let (width, height) = (field(4), field(8))
    // A negative height means that the first row is at the top.
    isDownwards = height > 0x7FFF_FFFF
    size = PixelSize(width, isDownwards ? 0x1_0000_0000 - height : height)
    (colors, colorBytes) = (field(32), 4)
    let (bits, compression) = (field(14, bytes: 2), field(16))
    // OS/2 uses these numbers for other codings.
    let isOfOS2 = fields.count == 64 || fields.count < 40
    guard !isOfOS2 || compression < 3, !isDownwards || !(1...2).contains(compression) else {
      throw Self.unsupported(bits, compression)
    }
    // Only the last two kinds of headers, and this compression, have a mask of alpha.
    let hasAlpha = fields.count >= 56 || compression == 6
    coding = try Self.coding(
      bits: bits, compression: compression, masks.map { BitmapChannels(masks: $0, hasAlpha: hasAlpha) })
  }

  private static func coding(
    bits: Int, compression: Int, _ masks: BitmapChannels?
  ) throws(PictureError) -> Coding {
    switch (compression, bits) {
    case (0, 1), (0, 2), (0, 4), (0, 8): return .palette(bits: bits)
    case (0, 16): return .channels(bits: 16, .fiveBits)
    case (0, 24), (0, 32): return .channels(bits: bits, .eightBits)
    case (1, 8), (2, 4): return .runs(bits: bits)
    case (3, 16), (3, 32), (6, 16), (6, 32):
      guard let masks else { throw BitmapPicture.damaged }
      return .channels(bits: bits, masks)
    default: throw unsupported(bits, compression)
    }
  }

  private static func unsupported(_ bits: Int, _ compression: Int) -> PictureError {
    PictureError(.unsupported, "a BMP with \(bits) bits and compression \(compression) is not supported")
  }

  func rowBytes(bits: Int) -> Int { (size.width * bits + 31) / 32 * 4 }

  /// The number in the file of the row that is at `y` from the top.
  func row(_ y: Int) -> Int { isDownwards ? y : size.height - 1 - y }
}

/// The bits of the channels of a pixel.
struct BitmapChannels {
  struct Channel {
    let mask: UInt32

    /// The channel's value, from 0 to 255.
    func byte(of pixel: UInt32) -> UInt8 {
      guard mask != 0 else { return 0 }
      let shift = UInt32(mask.trailingZeroBitCount)
      let (value, most) = ((pixel & mask) >> shift, mask >> shift)
      // Nearly all files have eight bits, for which no division is needed.
      return most == 255 ? UInt8(value) : UInt8(UInt64(value) * 255 / UInt64(most))
    }
  }

  let red: Channel
  let green: Channel
  let blue: Channel
  /// The mask is 0 if the pixels are opaque.
  let alpha: Channel

  private init(_ red: UInt32, _ green: UInt32, _ blue: UInt32, _ alpha: UInt32) {
    (self.red, self.green) = (Channel(mask: red), Channel(mask: green))
    (self.blue, self.alpha) = (Channel(mask: blue), Channel(mask: alpha))
  }

  /// - Parameter masks: 16 bytes, for red, green, blue and alpha.
  init(masks: ByteView, hasAlpha: Bool) {
    func mask(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: masks.uint32(at: 4 * index, isLittle: true) ?? 0) }
    self.init(mask(0), mask(1), mask(2), hasAlpha ? mask(3) : 0)
  }

  static let fiveBits = BitmapChannels(0x7C00, 0x03E0, 0x001F, 0)
  static let eightBits = BitmapChannels(0xFF_0000, 0xFF00, 0xFF, 0)
}
