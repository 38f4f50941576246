import Foundation
import ImageRecords
import TestTools
import Testing

/// Frames of files that no test makes: those of the package, and real videos beside it.
@Suite struct VideoFileTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("video")
    process = try ImageProcess("photod-video")
  }

  @Test func fixturesHavePictures() throws {
    for (path, expected) in [(Fixtures.rotatedVideo, [240, 320]), (Fixtures.pairedVideo, [320, 240])] {
      // The rotation of the catalog is that of the file, which is applied already.
      let outcome = try process.picture(path, .test(size: nil, contentType: "video/mp4", orientation: 6))
      guard case .picture("image/jpeg", let width, let height, false, let bytes) = outcome else {
        Issue.record("\(path): \(outcome)")
        continue
      }
      #expect([width, height] == expected && bytes.suffix(2) == [0xFF, 0xD9])
    }
  }

  @Test func onlyFramesOfVideosAreMade() throws {
    #expect(try process.picture(Fixtures.photo, .test()).failure == .unsupported)
    #expect(try process.picture(Fixtures.rotatedVideo, .test(.embedded)).failure == .noEmbeddedPicture)
    let path = folder.path + "/file"
    for (content, failure) in [("", PictureFailure.unreadable), ("hello", .unsupported)] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      #expect(try process.picture(path, .test()).failure == failure)
    }
    // A playlist names other files.
    try Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(Fixtures.rotatedVideo)\n".utf8)
      .write(to: URL(fileURLWithPath: path))
    #expect(try process.picture(path, .test()).failure == .unsupported)
  }

  /// A process that ends is started again by photod, but each end costs time, and the file is blamed.
  @Test func damagedFilesGiveFailuresAndTheProcessGoesOn() throws {
    let samples = try [Fixtures.rotatedVideo, Fixtures.pairedVideo].map {
      Array(try Data(contentsOf: URL(fileURLWithPath: $0)))
    }
    let path = folder.path + "/file"
    var random = SeededGenerator(seed: 20)
    for number in 0..<effort("PHOTOD_DAMAGED_PICTURES", 150) {
      var file = samples[number % samples.count]
      switch number / 2 % 3 {
      case 0: file = Array(file.prefix(Int.random(in: 1..<file.count, using: &random)))
      case 1:
        for _ in 0..<8 { file[Int.random(in: 0..<file.count, using: &random)] = .random(in: 0...255, using: &random) }
      default:
        let start = Int.random(in: 8..<file.count, using: &random)
        for place in start..<min(file.count, start + 200) { file[place] = .random(in: 0...255, using: &random) }
      }
      try Data(file).write(to: URL(fileURLWithPath: path))
      for time: UInt64? in [nil, 700] {
        let outcome = try process.picture(path, .test(atMilliseconds: time))
        #expect(!outcome.hasEnded, "file \(number): \(outcome)")
      }
    }
    #expect(try process.picture(Fixtures.rotatedVideo, .test()).bytes != nil)
  }

  /// The first frame of each real video that ffmpeg reads, compared by the mean difference of the values.
  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(if: RealPhotos.folder != nil, "there are no real videos"),
    .enabled(if: MadeVideos.hasFFmpeg, "ffmpeg is not installed"))
  func framesOfRealVideosAreThoseOfFFmpeg() throws {
    let files = RealPhotos.files("mp4", "mov", "m4v", "mkv", "webm", "avi", "3gp", "mts", "mpg", "wmv", "flv", "ogv")
    let reference = folder.path + "/reference.png"
    var compared = 0
    for file in files {
      let outcome = try process.picture(file.path, .test(format: .png, atMilliseconds: 0))
      #expect(!outcome.hasEnded, "\(file.lastPathComponent)")
      guard case .picture(_, let width, let height, _, let bytes) = outcome else { continue }
      // If a video of high definition does not name its matrix, ffmpeg assumes that of standard definition.
      let filter = "scale=\(width):\(height):flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"
      guard try MadeVideos.run(["-i", file.path, "-frames:v", "1", "-vf", filter, "-pix_fmt", "rgb24", reference])
      else {
        continue
      }
      let expected = try Raster(png: Array(Data(contentsOf: URL(fileURLWithPath: reference))))
      let difference = try Raster(png: bytes).meanDifference(expected)
      #expect(difference <= 6, "\(file.lastPathComponent)")
      compared += 1
    }
    #expect(compared >= 8, "\(compared) of \(files.count) files were compared")
  }
}
