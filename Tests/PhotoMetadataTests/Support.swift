import Foundation
import PhotoMetadata
import PhotoModel
import Testing

/// An unnamed file on disk whose content tests replace as they like.
final class ScratchFile {
  private let file: FileHandle
  private var reader = MediaReader()

  init() throws {
    let path = NSTemporaryDirectory() + "photod-metadata-\(UUID().uuidString)"
    try Data().write(to: URL(fileURLWithPath: path))
    file = try #require(FileHandle(forUpdatingAtPath: path))
    try FileManager.default.removeItem(atPath: path)
  }

  /// What the reader says of a file with this content and name.
  func facts(_ content: [UInt8], name: String = "IMG_0001.jpg") throws -> MediaFacts {
    try file.truncate(atOffset: 0)
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data(content))
    return reader.facts(descriptor: file.fileDescriptor, byteCount: Int64(content.count), name: name.utf8)
  }
}

func facts(of content: [UInt8], name: String = "IMG_0001.jpg") throws -> MediaFacts {
  try ScratchFile().facts(content, name: name)
}

/// What the reader says of a file on disk.
func facts(of url: URL, with reader: inout MediaReader) throws -> MediaFacts {
  let file = try FileHandle(forReadingFrom: url)
  defer { try? file.close() }
  let size = try file.seekToEnd()
  return reader.facts(
    descriptor: file.fileDescriptor, byteCount: Int64(size), name: url.lastPathComponent.utf8)
}

/// Where test material lies.
enum Fixtures {
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let made = package.appendingPathComponent("Tests/Fixtures/made")

  /// Real photos of many cameras; not part of the package.
  static let photos: URL? = {
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let url = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/photos")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  /// What ExifTool says of them: one array of objects, written with `-n -G1 -j`.
  static let truth: URL? = photos.flatMap {
    let url = $0.deletingLastPathComponent().appendingPathComponent($0.lastPathComponent + "-exiftool.json")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }
}

/// SplitMix64 (https://prng.di.unimi.it/splitmix64.c): the same numbers in every run.
struct Seeded: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
