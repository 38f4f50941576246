import ImageRecords
import TestTools
import Testing

/// The codings of BMP files.
@Suite struct BitmapTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("bitmap")
    process = try ImageProcess()
  }

  private static let (width, height) = (64, 32)
  private static let palette: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]

  /// The index of a pixel of the picture that ``PictureRaster/corners`` calls "rgbw", with rows from the bottom.
  private static func index(_ x: Int, _ row: Int) -> Int { (x < width / 2 ? 0 : 1) + (row < height / 2 ? 2 : 0) }

  /// The rows from the bottom, made of the pixels of each.
  private static func rows(_ pixel: (Int) -> [UInt8]) -> [UInt8] {
    (0..<height).flatMap { row in (0..<width).flatMap { pixel(index($0, row)) } }
  }

  private static func little(_ value: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) }
  }

  /// A file of each coding, by its name.
  private static let files: [String: [UInt8]] = {
    let packed = (0..<height).flatMap { row in
      (0..<width / 4).map { byte in
        (0..<4).reduce(UInt8(0)) { $0 << 2 | UInt8(index(4 * byte + $1, row)) }
      }
    }
    let half = width / 2
    let eight = (0..<height).flatMap { row -> [UInt8] in
      let (left, right) = (UInt8(index(0, row)), UInt8(index(half, row)))
      // The right half of each row is indexes that are not repeated.
      return [UInt8(half), left, 0, UInt8(half)] + [UInt8](repeating: right, count: half) + [0, 0]
    }
    let four = (0..<height).flatMap { row -> [UInt8] in
      let (left, right) = (UInt8(index(0, row)) * 0x11, UInt8(index(half, row)) * 0x11)
      return [0, UInt8(half)] + [UInt8](repeating: left, count: half / 2) + [UInt8(half), right, 0, 0]
    }
    func channels(_ values: [Int], bytes: Int) -> [UInt8] { rows { little(values[$0], bytes: bytes) } }
    let alpha = [0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF, 0xFFFF_FFFF]
    let masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
    return [
      "2 bits": MadeFiles.bitmap(width, height, bits: 2, palette: palette, data: packed),
      "runs of 8 bits": MadeFiles.bitmap(
        width, height, bits: 8, compression: 1, palette: palette, data: eight + [0, 1]),
      "runs without an end": MadeFiles.bitmap(width, height, bits: 8, compression: 1, palette: palette, data: eight),
      "runs of 4 bits": MadeFiles.bitmap(
        width, height, bits: 4, compression: 2, palette: palette, data: four + [0, 1]),
      "16 bits": MadeFiles.bitmap(
        width, height, bits: 16, data: channels([0x7C00, 0x03E0, 0x001F, 0x7FFF], bytes: 2)),
      "16 bits with masks": MadeFiles.bitmap(
        width, height, bits: 16, compression: 3, masks: [0xF800, 0x07E0, 0x001F],
        data: channels([0xF800, 0x07E0, 0x001F, 0xFFFF], bytes: 2)),
      "32 bits with masks in the header": MadeFiles.bitmap(
        width, height, bits: 32, compression: 3, headerBytes: 124, masks: masks, data: channels(alpha, bytes: 4)),
      "32 bits, all transparent": MadeFiles.bitmap(
        width, height, bits: 32, compression: 3, headerBytes: 108, masks: masks,
        data: channels(alpha.map { $0 & 0xFF_FFFF }, bytes: 4)),
      "32 bits with a mask of alpha after the header": MadeFiles.bitmap(
        width, height, bits: 32, compression: 6, masks: masks, data: channels(alpha, bytes: 4)),
    ]
  }()

  @Test(arguments: files.keys.sorted()) func codingIsRead(name: String) throws {
    let file = try #require(Self.files[name])
    let raster = try process.raster(of: file, in: folder, .test(format: .png, contentType: "image/bmp"))
    #expect(raster.corners == "rgbw" && raster.width == Self.width && raster.height == Self.height)
  }

  @Test func maskOfAlphaMakesPixelsTransparent() throws {
    let data = Self.rows { Self.little([0xFFFF_0000, 0x8000_FF00, 0xFF, 0xFFFF_FFFF][$0], bytes: 4) }
    let masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
    func isPNG(_ headerBytes: Int) throws -> Bool? {
      let file = MadeFiles.bitmap(
        Self.width, Self.height, bits: 32, compression: 3, headerBytes: headerBytes, masks: masks, data: data)
      return try process.picture(of: file, in: folder, .test(format: .automatic, contentType: "image/bmp"))
        .bytes?.starts(with: [0x89, 0x50, 0x4E, 0x47])
    }
    // A picture with transparency is a PNG.
    #expect(try isPNG(56) == true)
    // This header ends before the mask of alpha.
    #expect(try isPNG(52) == false)
  }

  @Test func indexesThatRunsLeaveOutAreTheFirst() throws {
    // Half of the picture is skipped, and the rest of the lower half is left out.
    let data: [UInt8] = [0, 2, 0, UInt8(Self.height / 2), UInt8(Self.width), 3, 0, 1]
    let file = MadeFiles.bitmap(
      Self.width, Self.height, bits: 8, compression: 1, palette: Self.palette, data: data)
    #expect(try process.raster(of: file, in: folder, .test(format: .png, contentType: "image/bmp")).corners == "rrrr")
  }

  @Test(
    arguments: [
      [64], [0, 32], [0, 2, 1], [0, 200, 1, 2], [255, 3, 255, 3, 0, 0], [0, 2, 255, 255, 255, 255],
    ] as [[UInt8]]) func runsBeyondThePictureOrTheFileAreHarmless(data: [UInt8]) throws
  {
    for (bits, compression) in [(8, 1), (4, 2)] {
      let file = MadeFiles.bitmap(
        Self.width, Self.height, bits: bits, compression: compression, palette: Self.palette, data: data)
      let result = try process.picture(of: file, in: folder, .test(format: .png, contentType: "image/bmp"))
      #expect(result.bytes != nil || result.failure == .unreadable)
    }
  }

  @Test(arguments: [(32, 3, 64), (24, 4, 40), (8, 2, 40), (16, 1, 40)])
  func otherCodingIsUnsupported(bits: Int, compression: Int, headerBytes: Int) throws {
    let file = MadeFiles.bitmap(
      Self.width, Self.height, bits: bits, compression: compression, headerBytes: headerBytes,
      data: [UInt8](repeating: 0, count: 64 * 32 * 4))
    #expect(try process.picture(of: file, in: folder, .test(contentType: "image/bmp")).failure == .unsupported)
  }
}
