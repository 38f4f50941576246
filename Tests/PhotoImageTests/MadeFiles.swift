import CZlib
import Foundation

/// Files that a test makes itself.
enum MadeFiles {
  /// Four quarters: red, green, blue, white in reading order.
  static func quarters(_ width: Int, _ height: Int) -> (Int, Int) -> [UInt8] {
    { x, y in
      switch (x < width / 2, y < height / 2) {
      case (true, true): [200, 0, 0]
      case (false, true): [0, 200, 0]
      case (true, false): [0, 0, 200]
      case (false, false): [200, 200, 200]
      }
    }
  }

  /// An uncompressed TIFF of RGB with 8 bits.
  ///
  /// - color: the colour of a pixel, before the rotation.
  static func tiff(
    _ width: Int, _ height: Int, orientation: Int = 1, profile: [UInt8] = [], bands: Int = 3,
    color: (Int, Int) -> [UInt8]
  ) -> [UInt8] {
    var pixels: [UInt8] = []
    for y in 0..<height { for x in 0..<width { pixels += color(x, y) } }
    let entries = 11 + (bands == 4 ? 1 : 0) + (profile.isEmpty ? 0 : 1)
    let end = 8 + 2 + 12 * entries + 4
    let bitsAt = end
    let profileAt = bitsAt + 2 * 4
    let pixelsAt = profileAt + profile.count
    var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + two(entries)
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) {
      file += two(tag) + two(type) + four(count) + four(value)
    }
    entry(256, 4, 1, width)
    entry(257, 4, 1, height)
    entry(258, 3, bands, bitsAt)
    entry(259, 3, 1, 1)
    entry(262, 3, 1, 2)
    entry(273, 4, 1, pixelsAt)
    entry(274, 3, 1, orientation)
    entry(277, 3, 1, bands)
    entry(278, 4, 1, height)
    entry(279, 4, 1, pixels.count)
    entry(284, 3, 1, 1)
    if bands == 4 { entry(338, 3, 1, 2) }
    if !profile.isEmpty { entry(34675, 7, profile.count, profileAt) }
    file += four(0) + [8, 0, 8, 0, 8, 0, 8, 0] + profile + pixels
    return file
  }

  /// A JPEG with another one as its thumbnail, in the second directory of EXIF.
  static func jpeg(_ picture: [UInt8], thumbnail: [UInt8], orientation: Int = 1) -> [UInt8] {
    func entry(_ tag: Int, _ type: Int, _ value: Int) -> [UInt8] { two(tag) + two(type) + four(1) + four(value) }
    let second = 8 + 2 + 12 + 4
    let at = second + 2 + 3 * 12 + 4
    var exif: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
    exif += two(1) + entry(0x112, 3, orientation) + four(second)
    exif += two(3) + entry(0x103, 3, 6) + entry(0x201, 4, at) + entry(0x202, 4, thumbnail.count) + four(0) + thumbnail
    return Array(picture.prefix(2)) + segment(0xE1, Array("Exif\0\0".utf8) + exif) + picture.dropFirst(2)
  }

  /// The header of a JPEG with three components, without a picture.
  static func jpegHeader(_ width: Int, _ height: Int) -> [UInt8] {
    let sides = two(height).reversed() + two(width).reversed()
    let components: [UInt8] = [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
    return [0xFF, 0xD8] + segment(0xC0, [8] + sides + components) + segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
      + [UInt8](repeating: 0, count: 100) + [0xFF, 0xD9]
  }

  /// The header of a JPEG XL without a container, and no picture. Its numbers begin with their lowest bits.
  static func jpegXLHeader(_ width: Int, _ height: Int) -> [UInt8] {
    var (bits, count): (UInt128, Int) = (0, 0)
    func put(_ value: Int, _ width: Int) {
      bits |= UInt128(value) << UInt128(count)
      count += width
    }
    // The sides are no multiples of 8, have 30 bits, and no named ratio.
    put(0, 1)
    put(3, 2)
    put(height - 1, 30)
    put(0, 3)
    put(3, 2)
    put(width - 1, 30)
    // All else has its usual value.
    put(1, 1)
    put(1, 1)
    return [0xFF, 0x0A] + (0..<12).map { UInt8(truncatingIfNeeded: bits >> UInt128(8 * $0)) }
      + [UInt8](repeating: 0, count: 200)
  }

  /// A segment of a JPEG.
  static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + two(content.count + 2).reversed() + content
  }

  /// An uncompressed DNG of a sensor with 16 bits, whose colours are those of linear sRGB: red and green, green and blue.
  ///
  /// - hasDamagedPreview: whether there is an uncompressed preview, whose pixels are missing.
  /// - color: the colour of a pixel in sRGB, before the rotation. A pixel of the sensor has one of its values.
  static func dng(
    _ width: Int, _ height: Int, orientation: Int = 1, hasDamagedPreview: Bool = false, color: (Int, Int) -> [UInt8]
  ) -> [UInt8] {
    var pixels: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let value = Double(color(x, y)[x % 2 + y % 2]) / 255
        pixels += two(Int(65535 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))))
      }
    }
    // The standard's matrix from XYZ to linear sRGB.
    let matrix = [3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.2040, 1.0570]
    let ratios = matrix.flatMap { four(Int($0 * 10000)) + four(10000) } + [1, 1, 1].flatMap { four($0) + four(1) }
    let camera = Array("Made\0\0\0\0".utf8)
    let entries = 22
    let cameraAt = 8 + 2 + 12 * entries + 4
    let ratiosAt = cameraAt + camera.count
    let pixelsAt = ratiosAt + ratios.count
    var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + two(entries)
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) {
      file += two(tag) + two(type) + four(count) + four(value)
    }
    entry(254, 4, 1, 0)
    entry(256, 4, 1, width)
    entry(257, 4, 1, height)
    entry(258, 3, 1, 16)
    entry(259, 3, 1, 1)
    // A colour filter array
    entry(262, 3, 1, 32803)
    entry(271, 2, 5, cameraAt)
    entry(272, 2, 5, cameraAt)
    entry(273, 4, 1, pixelsAt)
    entry(274, 3, 1, orientation)
    entry(277, 3, 1, 1)
    entry(278, 4, 1, height)
    entry(279, 4, 1, pixels.count)
    entry(284, 3, 1, 1)
    entry(33421, 3, 2, 2 | 2 << 16)
    entry(33422, 1, 4, 1 << 8 | 1 << 16 | 2 << 24)
    // The version of DNG is 1.4.
    entry(50706, 1, 4, 1 | 4 << 8)
    entry(50708, 2, 5, cameraAt)
    entry(50717, 4, 1, 65535)
    entry(50721, 10, 9, ratiosAt)
    entry(50728, 5, 3, ratiosAt + 9 * 8)
    // D65
    entry(50778, 3, 1, 21)
    guard hasDamagedPreview else { return file + four(0) + camera + ratios + pixels }
    let previewAt = pixelsAt + pixels.count
    file += four(previewAt) + camera + ratios + pixels + two(9)
    entry(254, 4, 1, 1)
    entry(256, 4, 1, 160)
    entry(257, 4, 1, 120)
    entry(258, 3, 1, 8)
    entry(259, 3, 1, 1)
    entry(262, 3, 1, 2)
    entry(273, 4, 1, previewAt + 5000)
    entry(277, 3, 1, 3)
    entry(279, 4, 1, 160 * 120 * 3)
    return file + four(0)
  }

  /// An ICC profile whose red is the green of sRGB, and the other way round.
  static let swappedProfile: [UInt8] = {
    func fixed(_ value: Double) -> [UInt8] { Array(four(Int(value * 65536)).reversed()) }
    func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap(fixed) }
    let gamma: [UInt8] = Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 2, 0x33, 0, 0]
    let text: [UInt8] = Array("text".utf8) + [0, 0, 0, 0] + Array("none".utf8) + [0, 0, 0, 0]
    let tags: [(String, [UInt8])] = [
      ("cprt", text), ("wtpt", xyz([0.9642, 1, 0.8249])), ("rXYZ", xyz([0.3851, 0.7169, 0.0971])),
      ("gXYZ", xyz([0.4361, 0.2225, 0.0139])), ("bXYZ", xyz([0.1431, 0.0606, 0.7141])), ("rTRC", gamma),
      ("gTRC", gamma), ("bTRC", gamma),
    ]
    var (table, data): ([UInt8], [UInt8]) = ([0, 0, 0, UInt8(tags.count)], [])
    let start = 128 + 4 + 12 * tags.count
    for (name, content) in tags {
      table += Array(name.utf8) + four(start + data.count).reversed() + four(content.count).reversed()
      data += content
    }
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(0..<4, with: four(start + data.count).reversed())
    header[8] = 2
    header[9] = 0x10
    header.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    header.replaceSubrange(36..<40, with: Array("acsp".utf8))
    header.replaceSubrange(68..<80, with: [0.9642, 1, 0.8249].flatMap(fixed))
    return header + table + data
  }()

  /// A PNG whose header promises many pixels, and which has few bytes.
  static func png(_ width: Int, _ height: Int) -> [UInt8] {
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      let body = Array(name.utf8) + content
      return four(content.count).reversed() + body + four(Int(crc32(0, body, UInt32(body.count)))).reversed()
    }
    var packed = [UInt8](repeating: 0, count: 1000)
    var count = uLongf(packed.count)
    compress(&packed, &count, [UInt8](repeating: 0, count: 5000), 5000)
    return [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]
      + chunk("IHDR", four(width).reversed() + four(height).reversed() + [8, 2, 0, 0, 0])
      + chunk("IDAT", Array(packed[..<Int(count)])) + chunk("IEND", [])
  }

  /// A BMP with 24 bits.
  static func bitmap(_ width: Int, _ height: Int, color: (Int, Int) -> [UInt8]) -> [UInt8] {
    let row = (width * 3 + 3) / 4 * 4
    var file: [UInt8] = Array("BM".utf8) + four(54 + row * height) + four(0) + four(54) + four(40)
    file += four(width) + four(height) + two(1) + two(24) + [UInt8](repeating: 0, count: 24)
    for y in (0..<height).reversed() {
      var bytes: [UInt8] = []
      for x in 0..<width { bytes += color(x, y).reversed() }
      file += bytes + [UInt8](repeating: 0, count: row - bytes.count)
    }
    return file
  }

  /// A BMP with a header of 40 bytes or more.
  ///
  /// - masks: those of red, green, blue and alpha, in the header or after it.
  /// - palette: red, green and blue of each colour.
  static func bitmap(
    _ width: Int, _ height: Int, bits: Int, compression: Int = 0, headerBytes: Int = 40, masks: [Int] = [],
    palette: [[UInt8]] = [], data: [UInt8]
  ) -> [UInt8] {
    var header: [UInt8] = four(headerBytes) + four(width) + four(height) + two(1) + two(bits)
    header += four(compression) + [UInt8](repeating: 0, count: 12) + four(palette.count) + four(0)
    for mask in masks { header += four(mask) }
    header += [UInt8](repeating: 0, count: max(0, headerBytes - header.count))
    for color in palette { header += color.reversed() + [0] }
    let start = 14 + header.count
    let file: [UInt8] = Array("BM".utf8) + four(start + data.count) + four(0) + four(start)
    return file + header + data
  }

  /// A Photoshop file with 8 bits, packed or not.
  ///
  /// - thumbnail: a JPEG.
  static func photoshop(
    _ width: Int, _ height: Int, isPacked: Bool, thumbnail: [UInt8] = [], color: (Int, Int) -> [UInt8]
  ) -> [UInt8] {
    var file: [UInt8] = Array("8BPS".utf8) + [0, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    file += four(height).reversed() + four(width).reversed() + [0, 8, 0, 3]
    // A thumbnail begins with its format, and with sizes that no reader needs.
    let head = four(1).reversed() + [UInt8](repeating: 0, count: 24)
    let resource =
      thumbnail.isEmpty
      ? [] : Array("8BIM".utf8) + [4, 12, 0, 0] + four(28 + thumbnail.count).reversed() + head + thumbnail
    let resources = resource + [UInt8](repeating: 0, count: resource.count % 2)
    file += four(0) + four(resources.count).reversed() + resources + four(0) + [0, isPacked ? 1 : 0]
    var (counts, rows): ([UInt8], [UInt8]) = ([], [])
    for band in 0..<3 {
      for y in 0..<height {
        let row = (0..<width).map { color($0, y)[band] }
        // Each byte is a run of one.
        let stored = isPacked ? row.flatMap { [0, $0] } : row
        counts += two(stored.count).reversed()
        rows += stored
      }
    }
    return file + (isPacked ? counts : []) + rows
  }

  static func two(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF)] }
  static func four(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) } }
}
