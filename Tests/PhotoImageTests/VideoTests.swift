import Foundation
import ImageRecords
import TestTools
import Testing

/// Frames of videos whose colours are known, by photod-video.
@Suite(.enabled(if: MadeVideos.hasFFmpeg, "ffmpeg is not installed")) struct VideoTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("video")
    process = try ImageProcess("photod-video")
  }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  private func raster(_ name: String, at milliseconds: UInt64? = nil, size: UInt32? = 256) throws -> Raster {
    let outcome = try process.picture(path(name), .test(size: size, format: .png, atMilliseconds: milliseconds))
    return try Raster(png: try #require(outcome.bytes, "\(name): \(outcome)"))
  }

  /// The colour in the middle.
  private func color(_ name: String, at milliseconds: UInt64? = nil) throws -> [Int] {
    let raster = try raster(name, at: milliseconds)
    return raster.color(raster.width / 2, raster.height / 2)
  }

  private func expect(
    _ color: [Int], _ expected: [Int], within tolerance: Int = 2, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let isNear = zip(color, expected).allSatisfy { abs($0 - $1) <= tolerance }
    #expect(isNear, "\(color), not \(expected) \(comment ?? "")", sourceLocation: sourceLocation)
  }

  // MARK: - Times

  @Test(arguments: [
    ("a.mp4", "libx264"), ("a.mov", "mpeg4"), ("a.mkv", "libx264"), ("a.avi", "mpeg4"), ("a.ts", "libx264"),
    ("a.mpg", "mpeg2video"), ("a.webm", "libvpx"), ("a.flv", "flv"), ("a.wmv", "wmv2"), ("plain.avi", "mjpeg"),
  ])
  func frameIsTheOneThatIsDisplayedAtThatTime(_ name: String, _ encoder: String) throws {
    try MadeVideos.steps(
      path(name), "-c:v", encoder, "-b:v", "2M", "-bf",
      ["mpeg4", "libx264", "mpeg2video"].contains(encoder) ? "2" : "0", "-pix_fmt",
      encoder == "mjpeg" ? "yuvj420p" : "yuv420p")
    for frame in [0, 1, 13, 24, 29, 30, 31, 47, 49] {
      // A frame is displayed from its time to that of the next one.
      for milliseconds in [40 * frame, 40 * frame + 39] {
        let level = MadeVideos.level(frame)
        expect(
          try color(name, at: UInt64(milliseconds)), [level, level, level], "at \(milliseconds) ms of \(name)")
      }
    }
    let last = MadeVideos.level(49)
    for milliseconds: UInt64 in [2_000, 60_000, PictureRequest.latestMilliseconds] {
      expect(try color(name, at: milliseconds), [last, last, last], "after the end of \(name)")
    }
  }

  @Test func blackBeginningIsSkippedUnlessItsTimeIsRequested() throws {
    let colors = "color=black:s=160x120:r=25:d=3[a];color=0xC83214:s=160x120:r=25:d=1[b];[a][b]concat"
    try MadeVideos.make("-f", "lavfi", "-i", colors, "-pix_fmt", "yuv420p", "-c:v", "libx264", path("late.mp4"))
    expect(try color("late.mp4"), [200, 50, 20], within: 4)
    expect(try color("late.mp4", at: 0), [0, 0, 0])
    expect(try color("late.mp4", at: 2_999), [0, 0, 0])
    expect(try color("late.mp4", at: 3_000), [200, 50, 20], within: 4)
  }

  /// The frame with the most bright pixels is shown, because there is no better one.
  @Test func blackVideoHasAPicture() throws {
    let source =
      "color=black:s=160x120:r=25:d=11,drawbox=x=70:y=50:w=8:h=8:color=white:t=fill:enable='between(n,50,60)'"
    try MadeVideos.make("-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264", path("black.mp4"))
    let raster = try raster("black.mp4")
    #expect(raster.color(74, 54).allSatisfy { $0 > 200 } && raster.color(20, 20).allSatisfy { $0 < 20 })
  }

  // MARK: - Geometry

  @Test(arguments: [(0, "rw"), (90, "wy"), (180, "yg"), (270, "gr")])
  func pictureIsUpright(_ degrees: Int, _ upperCorners: String) throws {
    // Red and white above, green and yellow below.
    let boxes = [(0, 0, "red"), (80, 0, "white"), (0, 60, "lime"), (80, 60, "yellow")].map {
      "drawbox=x=\($0.0):y=\($0.1):w=80:h=60:color=\($0.2):t=fill"
    }
    let source = "color=black:s=160x120:r=25:d=0.2," + boxes.joined(separator: ",")
    try MadeVideos.make("-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264", path("plain.mp4"))
    try MadeVideos.make(
      "-i", path("plain.mp4"), "-c", "copy", "-metadata:s:v", "rotate=\(degrees)", path("turned.mp4"))
    let raster = try raster("turned.mp4")
    let isTurned = degrees % 180 != 0
    #expect(raster.width == (isTurned ? 120 : 160) && raster.height == (isTurned ? 160 : 120))
    let names = [(20, 20), (raster.width - 20, 20)].map { x, y in
      let color = raster.color(x, y).map { $0 > 128 }
      return color == [true, false, false]
        ? "r" : color == [false, true, false] ? "g" : color == [true, true, false] ? "y" : "w"
    }
    // ffmpeg counts the degrees in the other direction than clockwise.
    #expect(names.joined() == upperCorners)
  }

  @Test func samplesAreMadeSquareAndNothingElseIsEnlarged() throws {
    func size(_ ratio: String, _ side: UInt32?) throws -> [Int] {
      let source = "color=red:s=180x144:r=25:d=0.2,setsar=\(ratio)"
      try MadeVideos.make("-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264", path("wide.mp4"))
      let raster = try raster("wide.mp4", size: side)
      return [raster.width, raster.height]
    }
    #expect(try size("64/45", nil) == [256, 144])
    #expect(try size("64/45", 128) == [128, 72])
    #expect(try size("8/9", nil) == [180, 162])
    #expect(try size("1/1", 1_000) == [180, 144])
    #expect(try size("1/200", nil) == [180, 144], "no camera has such samples")
    let large = try process.picture(path("wide.mp4"), .test(size: 4, format: .jpeg))
    guard case .picture("image/jpeg", 4, 3, false, _) = large else {
      Issue.record("a very small picture was not made: \(large)")
      return
    }
  }

  /// The rows of the second field are white, and were taken later.
  @Test func fieldsAreNotMixed() throws {
    let source =
      "color=gray:s=160x120:r=25:d=0.4,format=yuv420p,geq=lum='if(mod(Y,2),235,60)':cb=128:cr=128,setfield=tff"
    try MadeVideos.make(
      "-f", "lavfi", "-i", source, "-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-top", "1", "-q:v", "1",
      path("fields.mpg"))
    let level = Int((Double(60 - 16) * 255 / 219).rounded())
    expect(try color("fields.mpg"), [level, level, level], within: 4)
  }

  // MARK: - Colours

  /// The same luma and chroma are other colours in each matrix and range.
  @Test(arguments: [
    ("bt709", "tv", "bt709", [200, 50, 20]), ("smpte170m", "tv", "bt601", [200, 50, 20]),
    ("bt2020nc", "tv", "bt2020", [200, 50, 20]), ("bt709", "pc", "bt709", [200, 50, 20]),
  ])
  func matrixAndRangeAreUndone(_ name: String, _ range: String, _ filter: String, _ expected: [Int]) throws {
    let source =
      "color=0xC83214:s=160x120:r=25:d=0.2,scale=out_color_matrix=\(filter):out_range=\(range),format=yuv420p"
    try MadeVideos.make(
      "-f", "lavfi", "-i", source, "-c:v", "libx264", "-crf", "1", "-colorspace", name, "-color_range", range,
      "-color_primaries", "bt709", "-color_trc", "bt709", path("color.mp4"))
    expect(try color("color.mp4"), expected, within: 3)
  }

  /// The same values are other colours in each set of primaries. The expected ones come from the chromaticities of
  /// H.273.
  @Test(arguments: [
    ("bt709", [120, 180, 150]), ("smpte170m", [124, 179, 150]), ("bt470bg", [116, 180, 150]),
    ("smpte432", [99, 182, 148]), ("bt2020", [0, 186, 147]),
  ])
  func primariesAreConverted(_ name: String, _ expected: [Int]) throws {
    for (source, expected) in [("0x78B496", expected), ("white", [255, 255, 255]), ("0x404040", [64, 64, 64])] {
      let pixels = "color=\(source):s=160x120:r=25:d=0.2,scale=out_color_matrix=bt709:out_range=tv,format=yuv444p"
      try MadeVideos.make(
        "-f", "lavfi", "-i", pixels, "-c:v", "libx264", "-crf", "1", "-colorspace", "bt709", "-color_range", "tv",
        "-color_primaries", name, "-color_trc", "bt709", path("primaries.mp4"))
      // A color at the edge of sRGB changes much with one step of the video.
      expect(try color("primaries.mp4"), expected, within: expected.contains(0) ? 12 : 3, "of \(source)")
    }
  }

  /// Half of the range of PQ is 92 cd/m², and half of that of HLG is 51 cd/m².
  @Test(arguments: [("smpte2084", 180), ("arib-std-b67", 137)])
  func highDynamicRangeIsMapped(_ transfer: String, _ expected: Int) throws {
    try MadeVideos.color(
      path("high.mp4"), luma: 502, blue: 512, red: 512, bits: 10, "-c:v", "libx265", "-x265-params",
      "log-level=none:lossless=1:colorprim=bt2020:colormatrix=bt2020nc:transfer=\(transfer)", "-tag:v", "hvc1")
    expect(try color("high.mp4"), [expected, expected, expected], within: 3)
    // White of 10,000 cd/m² becomes white, and keeps its hue.
    try MadeVideos.color(
      path("bright.mp4"), luma: 940, blue: 512, red: 512, bits: 10, "-c:v", "libx265", "-x265-params",
      "log-level=none:lossless=1:colorprim=bt2020:colormatrix=bt2020nc:transfer=\(transfer)", "-tag:v", "hvc1")
    let bright = try color("bright.mp4")
    #expect(bright.allSatisfy { $0 > 245 && abs($0 - bright[0]) <= 1 }, "\(bright)")
  }

  /// The frames of profile 5 would be green and violet. A frame of profile 8 is HLG, and is shown as such.
  @Test(arguments: [("dvcC", 5, 0), ("dvvC", 5, 0), ("dvvC", 10, 0), ("dvvC", 8, 4)])
  func colorsOfDolbyVisionAloneAreUnsupported(_ box: String, _ profile: Int, _ compatibility: Int) throws {
    try MadeVideos.color(
      path("dolby.mp4"), luma: 502, blue: 512, red: 512, bits: 10, "-c:v", "libx265", "-x265-params",
      "log-level=none:lossless=1:colorprim=bt2020:colormatrix=bt2020nc:transfer=arib-std-b67", "-tag:v", "hvc1")
    let plain = try color("dolby.mp4")
    try MadeVideos.addDolbyVision(to: path("dolby.mp4"), box: box, profile: profile, compatibility: compatibility)
    guard profile != 8 else { return expect(try color("dolby.mp4"), plain, within: 0) }
    guard case .failed(.unsupported, let reason) = try process.picture(path("dolby.mp4"), .test()) else {
      Issue.record("a picture with wrong colours was made")
      return
    }
    #expect(reason == "the colours of Dolby Vision profile \(profile) are not supported")
  }

  // MARK: - Files that are not whole, or no videos

  @Test(arguments: ["a.mp4", "a.mkv", "a.ts"]) func framesOfACutVideoAreShown(_ name: String) throws {
    let source = "testsrc2=s=320x240:r=25:d=2"
    try MadeVideos.make(
      "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "12", "-movflags", "+faststart",
      path(name))
    let (early, last) = (try raster(name, at: 120), try raster(name, at: 60_000))
    let whole = try Data(contentsOf: URL(fileURLWithPath: path(name)))
    try whole.prefix(whole.count * 2 / 3).write(to: URL(fileURLWithPath: path(name)))
    #expect(try raster(name, at: 120).meanDifference(early) == 0)
    // The last frame that is there.
    let difference = try raster(name, at: 60_000).meanDifference(last)
    #expect(difference > 0 && difference < 60)
  }

  @Test func videoWithoutItsIndexIsUnreadable() throws {
    try MadeVideos.steps(path("a.mp4"), "-c:v", "libx264")
    let whole = try Data(contentsOf: URL(fileURLWithPath: path("a.mp4")))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path("a.mp4")))
    guard case .failed(.unreadable, let reason) = try process.picture(path("a.mp4"), .test()) else {
      Issue.record("a picture was made")
      return
    }
    #expect(reason.contains("damaged or cut off"))
  }

  @Test func soundHasNoPictureAndACoverIsNoFrame() throws {
    try MadeVideos.make("-f", "lavfi", "-i", "sine=d=0.2", "-c:a", "aac", path("sound.m4a"))
    try MadeVideos.make("-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1", path("cover.jpg"))
    try MadeVideos.make(
      "-i", path("sound.m4a"), "-i", path("cover.jpg"), "-map", "0", "-map", "1", "-c:a", "copy", "-c:v", "mjpeg",
      "-disposition:v", "attached_pic", path("album.m4a"))
    for (name, expected) in [("sound.m4a", "only sound"), ("album.m4a", "only sound and a cover picture")] {
      guard case .failed(.unreadable, let reason) = try process.picture(path(name), .test()) else {
        Issue.record("\(name) has a picture")
        continue
      }
      #expect(reason.contains(expected), "\(reason)")
    }
    try MadeVideos.steps(path("a.mp4"), "-c:v", "libx264")
    try MadeVideos.make(
      "-i", path("a.mp4"), "-i", path("cover.jpg"), "-map", "1", "-map", "0", "-c:v", "copy", "-disposition:v:0",
      "attached_pic", path("film.mp4"))
    let level = MadeVideos.level(40)
    expect(try color("film.mp4", at: 1_600), [level, level, level])
  }

  @Test func hugeVideoIsRefusedBeforeItIsDecoded() throws {
    try MadeVideos.make(
      "-f", "lavfi", "-i", "color=red:s=640x480:r=25:d=0.2", "-pix_fmt", "yuv420p", "-c:v", "libx264", path("a.mp4"))
    #expect(try process.picture(path("a.mp4"), .test(maximumPixels: 640 * 480 - 1)).failure == .tooLarge)
    #expect(try process.picture(path("a.mp4"), .test(maximumPixels: 640 * 480)).bytes != nil)
    #expect(try process.picture(path("a.mp4"), .test(maximumBytes: 20)).failure == .resultTooLarge)
    var file = Array(try Data(contentsOf: URL(fileURLWithPath: path("a.mp4"))))
    let entry = try #require(Data(file).range(of: Data("avc1".utf8), in: file.count / 2..<file.count))
    file.replaceSubrange(entry.upperBound + 24..<entry.upperBound + 28, with: [0xFF, 0xFF, 0xFF, 0xFF])
    try Data(file).write(to: URL(fileURLWithPath: path("huge.mp4")))
    guard case .failed(.tooLarge, let reason) = try process.picture(path("huge.mp4"), .test()) else {
      Issue.record("a video of 4 billion pixels was accepted")
      return
    }
    #expect(reason.contains("65535 × 65535"))
    // The container promises less than the video has.
    file.replaceSubrange(entry.upperBound + 24..<entry.upperBound + 28, with: [0, 16, 0, 16])
    try Data(file).write(to: URL(fileURLWithPath: path("lie.mp4")))
    #expect(try process.picture(path("lie.mp4"), .test(maximumPixels: 1_000)).failure == .tooLarge)
  }

  /// The container does not describe the pixels of a PNG, so FFmpeg decodes a frame while the file is opened. Such a frame of
  /// 8000 × 8000 pixels would take 512 MB.
  @Test func hugeFrameIsRefusedWhileTheFileIsOpened() throws {
    try MadeVideos.make(
      "-f", "lavfi", "-i", "color=red:s=64x64:r=25:d=0.2", "-c:v", "png", "-pix_fmt", "rgba64be", path("a.avi"))
    var file = try Data(contentsOf: URL(fileURLWithPath: path("a.avi")))
    var start = file.startIndex
    while let header = file.range(of: Data("IHDR".utf8), in: start..<file.endIndex) {
      start = header.upperBound + 8
      file.replaceSubrange(header.upperBound..<start, with: [0, 0, 0x1F, 0x40, 0, 0, 0x1F, 0x40])
    }
    try file.write(to: URL(fileURLWithPath: path("huge.avi")))
    #expect(try process.picture(path("a.avi"), .test(maximumPixels: 4_096)).bytes != nil)
    guard case .failed(.tooLarge, let reason) = try process.picture(path("huge.avi"), .test(maximumPixels: 4_096))
    else {
      Issue.record("a frame of 64 million pixels was accepted")
      return
    }
    #expect(reason.contains("8000 × 8000"))
    let peak = try #require(process.peakMemory)
    #expect(peak < 256 << 20, "\(peak) bytes")
  }

  @Test func noPictureHasMetadata() throws {
    try MadeVideos.make(
      "-f", "lavfi", "-i", "color=red:s=64x64:r=25:d=0.2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-metadata",
      "location=+48.1+011.5/", "-metadata", "title=Geheimnis", "-movflags", "use_metadata_tags", path("a.mp4"))
    for format in [PictureFormat.jpeg, .png] {
      let outcome = try process.picture(path("a.mp4"), .test(format: format))
      let bytes = try #require(outcome.bytes)
      for mark in ["Geheimnis", "48.1", "Exif", "ICC_PROFILE", "eXIf", "iCCP", "tEXt", "iTXt", "Lavc"] {
        #expect(Data(bytes).range(of: Data(mark.utf8)) == nil, "\(format): \(mark)")
      }
    }
  }
}
