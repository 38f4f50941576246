import CZlib
import ExtractRecords
import Foundation
import PhotoMetadata
import Testing

@testable import MetadataSamples

/// An unnamed file on disk whose content tests can replace.
final class ScratchFile {
  private let file: FileHandle
  private var reader = MediaReader()

  init() throws {
    let path = NSTemporaryDirectory() + "photod-metadata-\(UUID().uuidString)"
    try Data().write(to: URL(fileURLWithPath: path))
    file = try #require(FileHandle(forUpdatingAtPath: path))
    try FileManager.default.removeItem(atPath: path)
  }

  /// The facts of a file with this content and name.
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

/// The facts of a file on disk.
func facts(of url: URL, with reader: inout MediaReader) throws -> MediaFacts {
  let file = try FileHandle(forReadingFrom: url)
  defer { try? file.close() }
  let size = try file.seekToEnd()
  return reader.facts(
    descriptor: file.fileDescriptor, byteCount: Int64(size), name: url.lastPathComponent.utf8)
}

/// The places of test material.
enum Fixtures {
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let made = package.appendingPathComponent("Tests/Fixtures/made")

  /// Real photos from many cameras, which are not part of the package.
  static let photos: URL? = {
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let url = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/photos")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  /// ExifTool's findings about them: one array of objects, written with `-n -G1 -j`.
  static let truth: URL? = photos.flatMap {
    let url = $0.deletingLastPathComponent().appendingPathComponent($0.lastPathComponent + "-exiftool.json")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }
}

extension Samples {
  /// A zlib stream with the best compression.
  static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var size = compressBound(UInt(bytes.count))
    var output = [UInt8](repeating: 0, count: Int(size))
    _ = compress2(&output, &size, bytes, UInt(bytes.count), 9)
    return Array(output.prefix(Int(size)))
  }
}
