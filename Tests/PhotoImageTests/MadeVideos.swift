import Foundation
import TestTools
import Testing

/// Videos that the program ffmpeg makes for a test.
enum MadeVideos {
  static let hasFFmpeg = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

  /// Runs ffmpeg. The last argument is the file that it writes.
  static func make(_ arguments: String...) throws {
    try require(run(arguments), "ffmpeg \(arguments)")
  }

  /// - Returns: whether it succeeded.
  static func run(_ arguments: [String]) throws -> Bool {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
    process.arguments = ["-v", "error", "-nostdin", "-y"] + arguments
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// A video of one colour that changes with each frame, with 25 frames a second: two seconds from almost black to almost
  /// white. ``level(_:)`` is the value of a frame.
  static func steps(_ path: String, _ encoder: String...) throws {
    let source = "color=gray:s=64x64:r=25:d=2,format=yuv420p,geq=lum='20+4*N':cb=128:cr=128"
    try require(run(["-f", "lavfi", "-i", source] + encoder + ["-g", "30", path]), "ffmpeg writes no \(path)")
  }

  /// The value of red, green and blue in this frame of ``steps(_:_:)``.
  static func level(_ frame: Int) -> Int { Int((Double(20 + 4 * frame - 16) * 255 / 219).rounded()) }

  /// Puts a description of Dolby Vision into the entry of an MP4's only video (hvc1), whose index is behind the frames.
  ///
  /// - Parameters:
  ///   - box: `dvcC`, or `dvvC` for profiles above 7.
  ///   - compatibility: 0 means that only a player with Dolby Vision can show the frames.
  static func addDolbyVision(to path: String, box: String, profile: Int, compatibility: Int) throws {
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    let flags = profile << 9 | 6 << 3 | 0b101
    let content =
      [1, 0, UInt8(flags >> 8), UInt8(flags & 0xFF), UInt8(compatibility << 4)] + [UInt8](repeating: 0, count: 19)
    let inserted: [UInt8] = [0, 0, 0, UInt8(8 + content.count)] + Array(box.utf8) + content
    // The boxes that contain the new one, from the outermost on.
    for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "hvc1"] {
      let found = try #require(file.range(of: Data(name.utf8), options: .backwards), "\(name)")
      let size = file[found.lowerBound - 4..<found.lowerBound].reduce(0) { $0 << 8 | Int($1) } + inserted.count
      let bytes = (0..<4).map { UInt8(size >> (24 - 8 * $0) & 0xFF) }
      file.replaceSubrange(found.lowerBound - 4..<found.lowerBound, with: bytes)
    }
    let place = try #require(file.range(of: Data("hvcC".utf8), options: .backwards)).lowerBound - 4
    file.insert(contentsOf: inserted, at: place)
    try file.write(to: URL(fileURLWithPath: path))
  }

  /// A film of one colour, encoded without a loss.
  ///
  /// - luma, blue, red: the values in 8 or 10 bits.
  static func color(
    _ path: String, luma: Int, blue: Int, red: Int, bits: Int = 8, size: String = "320x240", _ encoder: String...
  ) throws {
    let format = bits == 8 ? "yuv420p" : "yuv420p10le"
    let source = "color=gray:s=\(size):r=25:d=0.4,format=\(format),geq=lum=\(luma):cb=\(blue):cr=\(red)"
    try require(run(["-f", "lavfi", "-i", source] + encoder + [path]), "ffmpeg writes no \(path)")
  }
}

/// Files of the package.
enum Fixtures {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/made")

  /// A video of 320 × 240 pixels that is shown upright, at 240 × 320.
  static let rotatedVideo = folder.appending(path: "VID_rotated.mp4").path
  /// The video of a Live Photo.
  static let pairedVideo = folder.appending(path: "IMG_0001.mov").path
  /// A photo.
  static let photo = folder.appending(path: "IMG_0001.jpg").path
}
