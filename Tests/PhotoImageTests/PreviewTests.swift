import Foundation
import Glibc
import ImageRecords
import TestTools
import Testing

/// The embedded pictures of photod-preview, beside those of photod-image.
@Suite struct PreviewTests {
  private let folder: TemporaryFolder
  private let preview: ImageProcess
  private let image: ImageProcess

  init() throws {
    folder = try TemporaryFolder("preview")
    preview = try ImageProcess("photod-preview")
    image = try ImageProcess()
  }

  private func write(_ file: [UInt8]) throws -> String {
    let path = folder.path + "/file"
    try Data(file).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The JPEG of a picture with a slope in each colour, and bars above and below.
  private func jpeg(_ width: Int, _ height: Int, bars: Int = 0) throws -> [UInt8] {
    let file = MadeFiles.tiff(width, height) { x, y in
      guard y >= bars, y < height - bars else { return [0, 0, 0] }
      return [UInt8(255 * x / width), UInt8(255 * y / height), UInt8(255 * (width - x) / width)]
    }
    let outcome = try image.picture(write(file), .test(size: nil, format: .jpeg, contentType: "image/tiff"))
    return try #require(outcome.bytes, "\(outcome)")
  }

  /// The pixels of an encoded picture.
  private func raster(_ bytes: [UInt8]) throws -> Raster {
    let path = folder.path + "/made"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let outcome = try image.picture(path, .test(size: nil, format: .png))
    return try Raster(png: try #require(outcome.bytes, "\(outcome)"))
  }

  /// Compares the pictures that both programs make of a file.
  private func compare(_ path: String, _ request: PictureRequest, difference limit: Double) throws {
    let (ours, theirs) = (try preview.picture(path, request), try image.picture(path, request))
    guard case .picture("image/jpeg", let width, let height, let isDegraded, let bytes) = ours,
      case .picture(_, let otherWidth, let otherHeight, let isOtherDegraded, let otherBytes) = theirs
    else {
      Issue.record("\(path): \(ours), and photod-image: \(theirs)")
      return
    }
    #expect([width, height] == [otherWidth, otherHeight] && isDegraded == isOtherDegraded, "\(path)")
    let difference = try raster(bytes).meanDifference(try raster(otherBytes))
    #expect(difference <= limit, "\(path)")
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: 1...8) func pictureIsThatOfPhotodImage(
    orientation: Int
  ) throws {
    // The photo is 3:2, and its thumbnail 4:3 with bars, as in many cameras.
    let file = MadeFiles.jpeg(
      try jpeg(600, 400), thumbnail: try jpeg(160, 120, bars: 7), orientation: orientation)
    for size: UInt32 in [256, 160, 100, 33] {
      try compare(write(file), .test(.embedded, size: size), difference: 3)
    }
  }

  @Test func barsAreCutOffAndAnotherShapeIsNoPicture() throws {
    let photo = try jpeg(600, 400)
    let file = try write(MadeFiles.jpeg(photo, thumbnail: try jpeg(160, 120, bars: 7)))
    guard case .picture("image/jpeg", 160, 107, true, let bytes) = try preview.picture(file, .test(.embedded)) else {
      Issue.record("the bars were not cut off")
      return
    }
    #expect(try raster(bytes).color(80, 1)[0] > 60)
    let square = try write(MadeFiles.jpeg(photo, thumbnail: try jpeg(120, 120)))
    #expect(try preview.picture(square, .test(.embedded)).failure == .noEmbeddedPicture)
  }

  /// photod asks photod-image for all that photod-preview calls unsupported.
  @Test func otherColorsAndFormatsAreLeftToPhotodImage() throws {
    let photo = try jpeg(600, 400)
    var thumbnail = try jpeg(160, 107)
    let profile = Array("ICC_PROFILE\0".utf8) + [1, 1] + MadeFiles.swappedProfile
    thumbnail.insert(contentsOf: MadeFiles.segment(0xE2, profile), at: 2)
    let colored = try write(MadeFiles.jpeg(photo, thumbnail: thumbnail))
    #expect(try preview.picture(colored, .test(.embedded)).failure == .unsupported)
    let made = try #require(try image.picture(colored, .test(.embedded)).bytes)
    let plain = try #require(
      try image.picture(write(MadeFiles.jpeg(photo, thumbnail: try jpeg(160, 107))), .test(.embedded)).bytes)
    #expect(try raster(made).meanDifference(try raster(plain)) > 20, "the profile was applied")

    let file = try write(MadeFiles.jpeg(photo, thumbnail: try jpeg(160, 107)))
    #expect(try preview.picture(file, .test(.rendered)).failure == .unsupported)
    #expect(try preview.picture(file, .test(.embedded, format: .png)).failure == .unsupported)
    let tiff = try write(MadeFiles.tiff(16, 16) { _, _ in [1, 2, 3] })
    #expect(try preview.picture(tiff, .test(.embedded)).failure == .unsupported)
  }

  @Test func thumbnailThatIsCutOffOrAbsentIsNoPicture() throws {
    let (photo, thumbnail) = (try jpeg(600, 400), try jpeg(160, 107))
    let cut = try write(MadeFiles.jpeg(photo, thumbnail: Array(thumbnail.prefix(thumbnail.count * 2 / 3))))
    #expect(try preview.picture(cut, .test(.embedded)).failure == .noEmbeddedPicture)
    #expect(try preview.picture(write(photo), .test(.embedded)).failure == .noEmbeddedPicture)
    #expect(try preview.picture(write([]), .test(.embedded)).failure == .unreadable)
    let file = try write(MadeFiles.jpeg(photo, thumbnail: thumbnail))
    #expect(try preview.picture(file, .test(.embedded, maximumBytes: 20)).failure == .resultTooLarge)
    #expect(try preview.picture(file, .test(.embedded, maximumPixels: 160 * 107 - 1)).failure == .tooLarge)
  }

  /// A file that is open for writing only has a size, and reading it fails, as on a failing disk.
  @Test(arguments: ["photod-image", "photod-preview", "photod-video"]) func fileThatCannotBeReadIsNotDamaged(
    _ program: String
  ) throws {
    let process = try ImageProcess(program)
    let request = PictureRequest.test(program == "photod-preview" ? .embedded : .rendered)
    let file = try write(jpeg(60, 40))
    #expect(try process.picture(file, request, access: O_WRONLY).failure == .readFailed)
    #expect(try process.picture(folder.path, request).failure == .readFailed, "a folder has no size")
  }

  @Test func noPictureHasMetadata() throws {
    let photo = try jpeg(600, 400)
    var thumbnail = try jpeg(160, 107)
    thumbnail.insert(contentsOf: MadeFiles.segment(0xE1, Array("Exif\0\0GPS of the thumbnail".utf8)), at: 2)
    thumbnail.insert(contentsOf: MadeFiles.segment(0xFE, Array("a comment".utf8)), at: 2)
    let file = try write(MadeFiles.jpeg(photo, thumbnail: thumbnail))
    let bytes = try #require(try preview.picture(file, .test(.embedded)).bytes)
    for mark in ["Exif", "GPS", "comment"] { #expect(Data(bytes).range(of: Data(mark.utf8)) == nil, "\(mark)") }
  }

  /// A process that ends is started again by photod, but each end costs time, and the file is blamed.
  @Test func damagedFilesGiveFailuresAndTheProcessGoesOn() throws {
    let good = MadeFiles.jpeg(try jpeg(600, 400), thumbnail: try jpeg(160, 107))
    var random = SeededGenerator(seed: 23)
    for number in 0..<effort("PHOTOD_DAMAGED_PICTURES", 150) {
      var file = good
      switch number % 3 {
      case 0: file = Array(file.prefix(Int.random(in: 1..<file.count, using: &random)))
      case 1:
        for _ in 0..<8 { file[Int.random(in: 0..<4_000, using: &random)] = .random(in: 0...255, using: &random) }
      default: file[Int.random(in: 2..<800, using: &random)] = .random(in: 0...255, using: &random)
      }
      let outcome = try preview.picture(write(file), .test(.embedded, size: 100))
      #expect(!outcome.hasEnded, "file \(number): \(outcome)")
    }
    #expect(try preview.picture(write(good), .test(.embedded)).bytes != nil)
  }

  @Test(.enabled(if: RealPhotos.folder != nil, "there are no real photos"))
  func picturesOfRealPhotosAreThoseOfPhotodImage() throws {
    var compared = 0
    for file in RealPhotos.files("jpg", "mpo") {
      for size: UInt32 in [128, 1024] {
        guard try preview.picture(file.path, .test(.embedded, size: size)).bytes != nil else { continue }
        try compare(file.path, .test(.embedded, size: size), difference: 4)
        compared += 1
      }
    }
    #expect(compared >= 10, "\(compared) pictures were compared")
  }
}
