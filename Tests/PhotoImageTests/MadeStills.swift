import Foundation
import TestTools

/// Photos that programs make for a test.
enum MadeStills {
  static func has(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
  }

  static func run(_ program: String, _ arguments: String...) throws {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
    process.arguments = arguments
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    try require(process.terminationStatus == 0, "\(program) \(arguments)")
  }

  /// A HEIC with the four quarters.
  ///
  /// - thumbnail: the longer side of its thumbnail.
  static func heic(in folder: String, _ width: Int, _ height: Int, thumbnail: Int? = nil) throws -> [UInt8] {
    let (source, path) = (folder + "/source.png", folder + "/made.heic")
    let process = try ImageProcess()
    let tiff = folder + "/source.tif"
    try Data(MadeFiles.tiff(width, height, color: MadeFiles.quarters(width, height)))
      .write(to: URL(fileURLWithPath: tiff))
    let outcome = try process.picture(tiff, .test(size: nil, format: .png, contentType: "image/tiff"))
    try Data(try require(outcome.bytes, "\(outcome)")).write(to: URL(fileURLWithPath: source))
    if let thumbnail {
      try run("heif-enc", "-q", "90", "-t", "\(thumbnail)", source, "-o", path)
    } else {
      try run("heif-enc", "-q", "90", source, "-o", path)
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
