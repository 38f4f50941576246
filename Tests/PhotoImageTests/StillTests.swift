import Foundation
import ImageRecords
import TestTools
import Testing

/// Rare kinds of stills: other colours, several pictures in a file, and more than 8 bits.
@Suite struct StillTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("stills")
    process = try ImageProcess()
  }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  private func raster(_ name: String) throws -> Raster {
    let outcome = try process.picture(path(name), .test(format: .png))
    return try Raster(png: try #require(outcome.bytes, "\(name): \(outcome)"))
  }

  private func write(_ name: String, _ color: (Int, Int) -> [UInt8]) throws {
    try Data(MadeFiles.tiff(64, 32, color: color)).write(to: URL(fileURLWithPath: path(name)))
  }

  @Test(.enabled(if: MadeStills.has("vips"), "vips is not installed")) func inkBecomesLight() throws {
    try write("plain.tif", MadeFiles.quarters(64, 32))
    try MadeStills.run("vips", "colourspace", path("plain.tif"), path("ink.jpg"), "cmyk")
    let picture = try raster("ink.jpg")
    #expect(picture.width == 64 && picture.height == 32)
    // Ink has fewer colours, so each corner has its colour before all others. A grey remains what it was.
    for (band, place) in [(8, 4), (56, 4), (8, 28)].enumerated() {
      let color = picture.color(place.0, place.1)
      #expect((0..<3).allSatisfy { $0 == band || color[band] > color[$0] + 40 }, "\(color)")
    }
    for (value, expected) in zip(picture.color(56, 28), [200, 200, 200]) { #expect(abs(value - expected) <= 4) }
  }

  /// The second picture is blue.
  @Test(.enabled(if: MadeStills.has("vips"), "vips is not installed"), arguments: ["tif", "gif", "webp"])
  func firstOfSeveralPicturesIsShown(_ type: String) throws {
    try write("first.tif", MadeFiles.quarters(64, 32))
    try write("second.tif") { _, _ in [0, 0, 200] }
    try MadeStills.run(
      "vips", "arrayjoin", "\(path("first.tif")) \(path("second.tif"))", path("both.tif"), "--across", "1")
    let options = type == "webp" ? "page_height=32,lossless" : "page_height=32"
    try MadeStills.run("vips", "copy", path("both.tif"), "\(path("several.\(type)"))[\(options)]")
    let picture = try raster("several.\(type)")
    #expect(picture.corners == "rgbw" && picture.width == 64 && picture.height == 32)
  }

  /// 92 cd/m² is half of the range of PQ. 10,000 cd/m² is its end, and becomes white.
  @Test(.enabled(if: MadeVideos.hasFFmpeg, "ffmpeg is not installed"), arguments: [(502, 180), (940, 255)])
  func highDynamicRangeWithTenBitsIsMapped(_ luma: Int, _ expected: Int) throws {
    try MadeVideos.make(
      "-f", "lavfi", "-i", "color=gray:s=160x120:r=25:d=0.04,format=yuv420p10le,geq=lum=\(luma):cb=512:cr=512",
      "-frames:v", "1", "-c:v", "libaom-av1", "-still-picture", "1", "-crf", "0", "-color_primaries", "bt2020",
      "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-color_range", "tv", path("high.avif"))
    for value in try raster("high.avif").color(80, 60) { #expect(abs(value - expected) <= 3, "\(value)") }
  }
}
