/// The displayed size in the sequence headers of MPEG-1, MPEG-2, H.264 and H.265: cropped, and stretched to square pixels.
enum SequenceHeader {
  /// MPEG-1 and MPEG-2, after the start code 0x000001B3. The size without aspect if the stream ends there.
  ///
  /// - Parameter next: the next start code. An extension must follow in MPEG-2 (ISO/IEC 13818-2, 6.1.1.6), and the number
  ///   of the aspect means something else there.
  static func mpeg(_ bytes: some RandomAccessCollection<UInt8>, next: UInt8?) -> (width: Int, height: Int)? {
    guard let stored = stored(bytes), let next, let byte = bytes.dropFirst(3).first else { return stored(bytes) }
    return next == 0xB5 ? mpeg2(stored, aspect: byte >> 4) : mpeg1(stored, aspect: Int(byte >> 4))
  }

  /// 12 bits each.
  private static func stored(_ bytes: some RandomAccessCollection<UInt8>) -> (width: Int, height: Int)? {
    let head = Array(bytes.prefix(3))
    guard head.count == 3 else { return nil }
    return size(Int(head[0]) << 4 | Int(head[1] >> 4), Int(head[1] & 15) << 8 | Int(head[2]))
  }

  /// The heights of pixels in MPEG-1, in ten-thousandths of their widths, from pel_aspect_ratio 1.
  private static let pelHeights = [
    10_000, 6735, 7031, 7615, 8055, 8437, 8935, 9157, 9815, 10_255, 10_695, 10_950, 11_575, 12_015,
  ]

  /// MPEG-1 has the aspect of the pixels (ISO/IEC 11172-2, 2.4.3.2).
  private static func mpeg1(_ stored: (width: Int, height: Int), aspect: Int) -> (width: Int, height: Int) {
    pelHeights.indices.contains(aspect - 1) ? stretched(stored, by: (10_000, pelHeights[aspect - 1])) : stored
  }

  /// MPEG-2 has the aspect of the display (ISO/IEC 13818-2, 6.3.3).
  private static func mpeg2(_ stored: (width: Int, height: Int), aspect: UInt8) -> (width: Int, height: Int) {
    let display: (Int, Int)? = [2: (4, 3), 3: (16, 9), 4: (221, 100)][aspect]
    guard let display else { return stored }
    return stretched(stored, by: (stored.height * display.0, stored.width * display.1))
  }

  /// The aspects of pixels in H.264 and H.265 (ITU-T H.264, table E-1), from aspect_ratio_idc 1.
  private static let aspects = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
    (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  /// The size in square pixels. The height stays. An aspect that no camera has is damage and is ignored.
  static func stretched(_ size: (width: Int, height: Int), by pixel: (Int, Int)) -> (width: Int, height: Int) {
    guard pixel.0 > 0, pixel.1 > 0, pixel.0 <= 8 * pixel.1, pixel.1 <= 8 * pixel.0 else { return size }
    return (max(1, (size.width * pixel.0 + pixel.1 / 2) / pixel.1), size.height)
  }

  /// An H.264 sequence parameter set (ITU-T H.264, 7.3.2.1.1), after the NAL unit's header of one byte.
  static func h264(_ payload: some Sequence<UInt8>) -> (width: Int, height: Int)? {
    var bits = BitReader(payload)
    let profile = bits.bits(8)
    bits.skip(16)
    _ = bits.unsigned()
    var chroma = 1
    if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
      chroma = bits.unsigned()
      if chroma == 3 { bits.skip(1) }
      _ = bits.unsigned()
      _ = bits.unsigned()
      bits.skip(1)
      if bits.bit() == 1 { skipScalingLists(&bits, count: chroma == 3 ? 12 : 8) }
    }
    _ = bits.unsigned()
    switch bits.unsigned() {
    case 0: _ = bits.unsigned()
    case 1:
      bits.skip(1)
      _ = bits.signed()
      _ = bits.signed()
      let cycle = bits.unsigned()
      guard cycle <= 255 else { return nil }
      for _ in 0..<cycle { _ = bits.signed() }
    default: break
    }
    _ = bits.unsigned()
    bits.skip(1)
    let columns = bits.unsigned() + 1
    let rows = bits.unsigned() + 1
    let framesOnly = bits.bit()
    if framesOnly == 0 { bits.skip(1) }
    bits.skip(1)
    guard columns <= 4096, rows <= 4096 else { return nil }
    var (width, height) = (16 * columns, 16 * (2 - framesOnly) * rows)
    if bits.bit() == 1 {
      let crop = (0..<4).map { _ in min(bits.unsigned(), 1 << 20) }
      let unitX = chroma == 1 || chroma == 2 ? 2 : 1
      let unitY = (chroma == 1 ? 2 : 1) * (2 - framesOnly)
      width -= unitX * (crop[0] + crop[1])
      height -= unitY * (crop[2] + crop[3])
    }
    guard !bits.isExhausted, let stored = size(width, height) else { return nil }
    return displayed(stored, &bits)
  }

  /// The size by the usability information (E.1.1 of both standards): whether there is any, whether it has an aspect,
  /// and the aspect.
  private static func displayed(_ stored: (width: Int, height: Int), _ bits: inout BitReader) -> (
    width: Int, height: Int
  ) {
    guard bits.bit() == 1, bits.bit() == 1 else { return stored }
    let code = bits.bits(8)
    if code == 255 {
      let pixel = (bits.bits(16), bits.bits(16))
      return bits.isExhausted ? stored : stretched(stored, by: pixel)
    }
    return aspects.indices.contains(code - 1) ? stretched(stored, by: aspects[code - 1]) : stored
  }

  private static func skipScalingLists(_ bits: inout BitReader, count: Int) {
    for index in 0..<count where bits.bit() == 1 {
      var (last, next) = (8, 8)
      for _ in 0..<(index < 6 ? 16 : 64) {
        if next != 0 { next = (last + bits.signed() + 256) & 255 }
        if next != 0 { last = next }
      }
    }
  }

  /// An H.265 sequence parameter set (ITU-T H.265, 7.3.2.2.1), after the NAL unit's header of two bytes.
  static func h265(_ payload: some Sequence<UInt8>) -> (width: Int, height: Int)? {
    var bits = BitReader(payload)
    bits.skip(4)
    let sublayers = bits.bits(3)
    bits.skip(1)
    // profile_tier_level: 88 bits of profile, 8 of level, then the sublayers.
    bits.skip(96)
    if sublayers > 0 {
      let present = (0..<8).map { _ in bits.bits(2) }
      for flags in present.prefix(sublayers) {
        bits.skip((flags & 2 != 0 ? 88 : 0) + (flags & 1 != 0 ? 8 : 0))
      }
    }
    _ = bits.unsigned()
    let chroma = bits.unsigned()
    if chroma == 3 { bits.skip(1) }
    var (width, height) = (min(bits.unsigned(), 1 << 17), min(bits.unsigned(), 1 << 17))
    if bits.bit() == 1 {
      let crop = (0..<4).map { _ in min(bits.unsigned(), 1 << 20) }
      width -= (chroma == 1 || chroma == 2 ? 2 : 1) * (crop[0] + crop[1])
      height -= (chroma == 1 ? 2 : 1) * (crop[2] + crop[3])
    }
    guard !bits.isExhausted, let stored = size(width, height) else { return nil }
    return skipToUsability(&bits, sublayers: sublayers) ? displayed(stored, &bits) : stored
  }

  // MARK: - H.265

  /// Skips what is between the size and the usability information (7.3.2.2.1).
  ///
  /// - Returns: false if a number is beyond its bound. What follows cannot be read then.
  private static func skipToUsability(_ bits: inout BitReader, sublayers: Int) -> Bool {
    // The depths of luma and chroma.
    for _ in 0..<2 { _ = bits.unsigned() }
    let orderBits = bits.unsigned() + 4
    guard orderBits <= 16 else { return false }
    for _ in 0..<3 * (bits.bit() == 1 ? sublayers + 1 : 1) { _ = bits.unsigned() }
    // The sizes of blocks, and the depths of their trees.
    for _ in 0..<6 { _ = bits.unsigned() }
    if bits.bit() == 1, bits.bit() == 1 { skipScalingLists(&bits) }
    bits.skip(2)
    if bits.bit() == 1 {  // pcm_enabled_flag
      bits.skip(8)
      for _ in 0..<2 { _ = bits.unsigned() }
      bits.skip(1)
    }
    guard skipPictureSets(&bits) else { return false }
    if bits.bit() == 1 {  // long_term_ref_pics_present_flag
      let count = bits.unsigned()
      guard count <= 32 else { return false }
      bits.skip(count * (orderBits + 1))
    }
    bits.skip(2)
    return !bits.isExhausted
  }

  /// `scaling_list_data` (7.3.4)
  private static func skipScalingLists(_ bits: inout BitReader) {
    for size in 0..<4 {
      for _ in 0..<(size == 3 ? 2 : 6) {
        if bits.bit() == 0 {
          _ = bits.unsigned()
        } else {
          if size > 1 { _ = bits.signed() }
          for _ in 0..<min(64, 1 << (4 + 2 * size)) { _ = bits.signed() }
        }
      }
    }
  }

  /// The sets of pictures that others refer to (7.3.7). Each can be written as a difference from the one before, so the
  /// distances of that one are needed: those before the picture, and then those after it (7.4.8).
  private static func skipPictureSets(_ bits: inout BitReader) -> Bool {
    let count = bits.unsigned()
    guard count <= 64 else { return false }
    var distances: [Int] = []
    for index in 0..<count {
      if index > 0, bits.bit() == 1 {
        let isNegative = bits.bit() == 1
        let amount = bits.unsigned() + 1
        guard amount <= 1 << 15 else { return false }
        var next: [Int] = []
        for distance in distances + [0] {
          let isUsed = bits.bit() == 1
          if isUsed || bits.bit() == 1 { next.append(distance + (isNegative ? -amount : amount)) }
        }
        distances = next.filter { $0 < 0 }.sorted(by: >) + next.filter { $0 > 0 }.sorted()
      } else {
        let counts = (bits.unsigned(), bits.unsigned())
        guard counts.0 + counts.1 <= 16 else { return false }
        distances = []
        for (count, sign) in [(counts.0, -1), (counts.1, 1)] {
          var distance = 0
          for _ in 0..<count {
            let step = bits.unsigned() + 1
            guard step <= 1 << 15 else { return false }
            distance += sign * step
            bits.skip(1)
            distances.append(distance)
          }
        }
      }
      guard distances.count <= 16, !bits.isExhausted else { return false }
    }
    return true
  }

  private static func size(_ width: Int, _ height: Int) -> (width: Int, height: Int)? {
    width > 0 && height > 0 ? (width, height) : nil
  }
}
