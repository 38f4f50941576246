import Foundation
import ImageRecords
import TestTools
import Testing

/// Real photos from many cameras, which are not part of the package.
enum RealPhotos {
  static let folder: URL? = {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let url = named ?? package.deletingLastPathComponent().appending(path: "shared/photos")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  /// The photos with these extensions.
  static func all(_ extensions: String...) -> [URL] { all(extensions) }

  private static func all(_ extensions: [String]) -> [URL] {
    guard let folder, let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
      return []
    }
    return all.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension.lowercased()) }
      .sorted { $0.path < $1.path }
  }

  /// The photos with these extensions, at most about 40.
  static func files(_ extensions: String...) -> [URL] {
    let found = all(extensions)
    return stride(from: 0, to: found.count, by: max(1, found.count / 40)).map { found[$0] }
  }

  static func has(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
  }
}

/// Pictures of real photos, compared with those of other programs by the mean difference of their values.
///
/// The photos are not part of the package: `PHOTOD_TEST_PHOTOS` names them.
@Suite(.enabled(if: RealPhotos.folder != nil, "there are no real photos")) struct ReferenceTests {
  /// Rare kinds that other programs read: subsampled grey in JPEG 2000, and damaged headers.
  private static let unsupported: Set = [
    "00r0_gray_l.jp2", "00r1_graya_la.jp2", "Bad_unusual_extend_buffer_usage.bmp", "issue_867_poc.psd",
  ]

  private func run(_ program: String, _ arguments: [String]) throws -> Bool {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
    process.arguments = arguments
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Compares each file that both programs read.
  ///
  /// - prepare: makes a file that vipsthumbnail reads. Nil if the other program can't read the photo.
  /// - isUpright: whether the prepared file is upright, although its metadata may have the orientation of the photo.
  /// - least: how many files must have been compared.
  private func compare(
    _ files: [URL], least: Int, difference limit: Double, isUpright: Bool = false,
    _ prepare: (URL, String) throws -> String?
  ) throws {
    let folder = try TemporaryFolder("reference")
    let process = try ImageProcess()
    var compared = 0
    for file in files {
      guard let readable = try prepare(file, folder.path) else { continue }
      let reference = folder.path + "/reference.png"
      // Without a profile to convert from, --eprofile changes saturated colours.
      let hasProfile = try run("vipsheader", ["-f", "icc-profile-data", readable])
      let colors = hasProfile ? ["--eprofile", "srgb", "--intent", "relative"] : []
      let size = [readable, "-s", "256x256>"] + colors
      guard
        try run("vipsthumbnail", size + (isUpright ? ["--no-rotate"] : []) + ["-o", reference + "[strip]"])
      else { continue }
      let outcome = try process.picture(file.path, .test(format: .png, contentType: contentType(file)))
      guard let bytes = outcome.bytes else {
        // A damaged file that the other program shows in part.
        let isKnown = outcome.failure == .unsupported && Self.unsupported.contains(file.lastPathComponent)
        #expect(outcome.failure == .unreadable || isKnown, "\(file.lastPathComponent): \(outcome)")
        continue
      }
      let expected: Raster
      do {
        expected = try Raster(png: Array(Data(contentsOf: URL(fileURLWithPath: reference))))
      } catch is RequirementNotMet {
        // A picture with 16 bits.
        continue
      }
      let difference = try Raster(png: bytes).meanDifference(expected)
      #expect(difference <= limit, "\(file.lastPathComponent)")
      compared += 1
    }
    let types = Set(files.map(\.pathExtension)).sorted().joined(separator: ", ")
    #expect(
      compared >= min(least, max(1, files.count / 2)), "\(compared) of \(files.count) files (\(types)) were compared")
  }

  private func contentType(_ file: URL) -> String {
    ["tif", "tiff"].contains(file.pathExtension.lowercased()) ? "image/tiff" : ""
  }

  // Small differences are of the size: vipsthumbnail rounds it later, and then decodes some JPEGs at half the size.
  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(if: RealPhotos.has("vipsthumbnail", "vipsheader"), "vipsthumbnail is not installed"),
    arguments: [("jpg", 20, 5.0), ("png", 10, 5), ("webp", 5, 5), ("gif", 3, 5), ("tif", 3, 3), ("tiff", 5, 3)])
  func plainPicturesAreThoseOfVipsthumbnail(_ type: String, _ least: Int, _ difference: Double) throws {
    try compare(RealPhotos.files(type), least: least, difference: difference) { file, _ in file.path }
  }

  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(if: RealPhotos.has("vipsthumbnail", "heif-convert"), "vipsthumbnail or heif-convert is not installed"),
    arguments: [("heic", 5), ("hif", 1), ("avif", 8)])
  func heifPicturesAreThoseOfHeifConvert(_ type: String, _ least: Int) throws {
    // Their depth is not that of the reference: heif-convert writes 16 bits for more than 8.
    // It shows PQ and HLG without mapping them.
    let files = RealPhotos.files(type).filter { !$0.path.contains("HDR") }
    try compare(files, least: least, difference: 6, isUpright: true) { file, folder in
      let path = folder + "/heif.png"
      try? FileManager.default.removeItem(atPath: path)
      guard try run("heif-convert", [file.path, path]), FileManager.default.fileExists(atPath: path) else { return nil }
      return path
    }
  }

  @Test(.enabled(if: RealPhotos.has("vipsthumbnail", "convert"), "vipsthumbnail or ImageMagick is not installed"))
  func pixelGraphicsAreThoseOfImageMagick() throws {
    for (type, least, limit) in [("psd", 5, 3.0), ("bmp", 3, 3), ("mpo", 2, 5)] {
      try compare(RealPhotos.files(type), least: least, difference: limit) { file, folder in
        let path = folder + "/\(type).png"
        try? FileManager.default.removeItem(atPath: path)
        guard try run("convert", [file.path + "[0]", "-auto-orient", "png24:" + path]) else { return nil }
        return path
      }
    }
  }

  @Test(
    .enabled(
      if: RealPhotos.has("vipsthumbnail", "opj_decompress", "convert"),
      "vipsthumbnail, opj_decompress or ImageMagick is not installed"))
  func jpeg2000PicturesAreThoseOfOpenJPEG() throws {
    try compare(RealPhotos.files("jp2"), least: 1, difference: 3) { file, folder in
      let path = folder + "/jp2.png"
      try? FileManager.default.removeItem(atPath: path)
      // A grey picture becomes one in RGB.
      guard try run("opj_decompress", ["-i", file.path, "-o", path]), try run("convert", [path, "png24:" + path]) else {
        return nil
      }
      return path
    }
  }

  /// libvips misplaces tiles if it decodes them at a smaller size.
  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(
      if: RealPhotos.has("vipsthumbnail", "opj_compress", "convert"),
      "vipsthumbnail, opj_compress or ImageMagick is not installed"))
  func tilesOfJPEG2000AreInTheirPlaces() throws {
    let made = try TemporaryFolder("tiles")
    let (source, tiled) = (made.path + "/source.ppm", made.path + "/tiled.jp2")
    try require(try run("convert", ["-size", "1999x1501", "gradient:red-blue", "-rotate", "30", source]), "convert")
    try require(try run("opj_compress", ["-i", source, "-o", tiled, "-t", "50,50"]), "opj_compress")
    try compare([URL(fileURLWithPath: tiled)], least: 1, difference: 3) { _, _ in source }
  }

  @Test(.enabled(if: RealPhotos.has("vipsthumbnail", "djxl"), "vipsthumbnail or djxl is not installed"))
  func jpegXLPicturesAreThoseOfDjxl() throws {
    try compare(RealPhotos.files("jxl"), least: 2, difference: 3, isUpright: true) { file, folder in
      let path = folder + "/jxl.png"
      try? FileManager.default.removeItem(atPath: path)
      guard try run("djxl", [file.path, path]) else { return nil }
      return path
    }
  }

  /// The real RAW photos are cut off, so the test makes its own.
  @Test(
    .enabled(if: RealPhotos.has("vipsthumbnail", "dcraw"), "vipsthumbnail or dcraw is not installed"),
    arguments: [1, 3, 6, 8])
  func rawPicturesAreThoseOfDcraw(_ orientation: Int) throws {
    let made = try TemporaryFolder("raw")
    let path = made.path + "/made.dng"
    let dng = MadeFiles.dng(600, 400, orientation: orientation) { x, y in
      // Four quarters with a slope, and a white edge that is the brightest place.
      if x < 16 || y < 16 { return [255, 255, 255] }
      let slope = UInt8(60 + x / 8 + y / 10)
      return [x < 300 ? slope : 30, y < 200 ? slope : 60, x < 300 && y < 200 ? 40 : slope]
    }
    try Data(dng).write(to: URL(fileURLWithPath: path))
    try compare([URL(fileURLWithPath: path)], least: 1, difference: 4, isUpright: true) { file, _ in
      guard try run("dcraw", ["-w", "-o", "1", file.path]) else { return nil }
      return made.path + "/made.ppm"
    }
  }

  /// The missing part would be grey. Progressive files are excepted, because all of the picture is there with less detail.
  @Test func jpegThatIsCutOffIsUnreadable() throws {
    let folder = try TemporaryFolder("reference")
    let process = try ImageProcess()
    var cut = 0
    for file in RealPhotos.files("jpg") {
      let content = try Data(contentsOf: file)
      let path = folder.path + "/cut.jpg"
      let isProgressive = content.range(of: Data([0xFF, 0xC2, 0])) != nil
      guard content.count > 40_000, !isProgressive else { continue }
      guard try process.picture(file.path, .test()).bytes != nil else { continue }
      try content.prefix(content.count / 2).write(to: URL(fileURLWithPath: path))
      let outcome = try process.picture(path, .test())
      #expect(outcome.failure == .unreadable, "\(file.lastPathComponent): \(outcome.failure as Any)")
      cut += 1
    }
    #expect(cut > 0)
  }

  /// Every photo gives a picture or a failure, and none ends the process.
  @Test(.timeLimit(.minutes(10))) func noPhotoEndsTheProcess() throws {
    let process = try ImageProcess()
    let raw = RealPhotos.files("cr2", "cr3", "crw", "nef", "arw", "dng", "raf", "rw2", "iiq", "x3f", "mrw")
    for file in raw + RealPhotos.files("psd", "jxl", "jp2") {
      for kind in [PictureKind.embedded, .rendered] {
        let type = "image/x-raw-" + file.pathExtension.lowercased()
        let outcome = try process.picture(file.path, .test(kind, contentType: type))
        #expect(!outcome.hasEnded, "\(file.lastPathComponent): \(outcome)")
        if case .picture(_, let width, let height, _, _) = outcome { #expect(max(width, height) <= 256) }
      }
    }
  }
}
