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

  /// The photos with these extensions, at most about 40.
  static func files(_ extensions: String...) -> [URL] {
    guard let folder, let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
      return []
    }
    let found = all.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension.lowercased()) }
      .sorted { $0.path < $1.path }
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
  private func run(_ program: String, _ arguments: [String]) throws -> Bool {
    let process = Process()
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
        #expect(outcome.failure == .unreadable, "\(file.lastPathComponent): \(outcome)")
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
    #expect(compared >= min(least, files.count / 2), "\(compared) of \(files.count) files were compared")
  }

  private func contentType(_ file: URL) -> String {
    ["tif", "tiff"].contains(file.pathExtension.lowercased()) ? "image/tiff" : ""
  }

  @Test(.enabled(if: RealPhotos.has("vipsthumbnail", "vipsheader"), "vipsthumbnail is not installed"))
  func plainPicturesAreThoseOfVipsthumbnail() throws {
    // Small differences are of the size: vipsthumbnail rounds it later, and then decodes some JPEGs at half the size.
    try compare(RealPhotos.files("jpg", "png", "webp", "gif"), least: 20, difference: 5) { file, _ in file.path }
    try compare(RealPhotos.files("tif", "tiff"), least: 3, difference: 3) { file, _ in file.path }
  }

  @Test(.enabled(if: RealPhotos.has("vipsthumbnail", "heif-convert"), "vipsthumbnail or heif-convert is not installed"))
  func heifPicturesAreThoseOfHeifConvert() throws {
    // Their depth is not that of the reference: heif-convert writes 16 bits for more than 8.
    // It shows PQ and HLG without mapping them.
    let files = RealPhotos.files("heic", "heif", "avif").filter { !$0.path.contains("HDR") }
    try compare(files, least: 5, difference: 6, isUpright: true) { file, folder in
      let path = folder + "/heif.png"
      try? FileManager.default.removeItem(atPath: path)
      guard try run("heif-convert", [file.path, path]), FileManager.default.fileExists(atPath: path) else { return nil }
      return path
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
