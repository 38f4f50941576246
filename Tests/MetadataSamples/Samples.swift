/// Files that have only headers.
enum Samples {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  static func big(_ value: Int) -> [UInt8] {
    [UInt8(value >> 24 & 255), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  static func little(_ value: Int) -> [UInt8] { big(value).reversed() }

  static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    big(data.count) + Array(name.utf8) + data + [0, 0, 0, 0]
  }

  static func png(width: Int, height: Int, chunks: [[UInt8]] = []) -> [UInt8] {
    signature + chunk("IHDR", big(width) + big(height) + [8, 6, 0, 0, 0]) + chunks.flatMap { $0 }
      + chunk("IDAT", [1, 2, 3]) + chunk("IEND", [])
  }

  static func gif(width: Int, height: Int, images: Int, loops: Bool = false) -> [UInt8] {
    let size = [UInt8(width & 255), UInt8(width >> 8), UInt8(height & 255), UInt8(height >> 8)]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0] + size + [0, 2, 2, 0x44, 0x01, 0]
    let loop: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    return Array("GIF89a".utf8) + size + [0x80, 0, 0] + [0, 0, 0, 255, 255, 255] + (loops ? loop : [])
      + [[UInt8]](repeating: image, count: images).flatMap { $0 } + [0x3B]
  }

  static func webp(_ chunks: [(String, [UInt8])]) -> [UInt8] {
    var body = Array("WEBP".utf8)
    for (name, data) in chunks {
      body += Array(name.utf8) + little(data.count) + data
      if data.count % 2 == 1 { body.append(0) }
    }
    return Array("RIFF".utf8) + little(body.count) + body
  }

  static func baseMedia(_ brands: String...) -> [UInt8] {
    let body = Array(brands[0].utf8) + [0, 0, 0, 0] + brands.dropFirst().flatMap { Array($0.utf8) }
    return big(body.count + 8) + Array("ftyp".utf8) + body + Samples.big(8) + Array("mdat".utf8)
  }
}
