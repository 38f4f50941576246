import Foundation
import Testing

@testable import PhotoMetadata

@Suite struct ZZSeeds {
  @Test func write() throws {
    let map = [
      "jpg": "jpeg", "tif": "tiff", "png": "png", "gif": "gif", "webp": "webp", "heic": "heif", "avif": "heif",
      "mp4": "movie", "mov": "movie", "cr3": "canon-raw", "jxl": "jpegxl", "jp2": "jpeg2000", "psd": "photoshop",
      "bmp": "bitmap", "exr": "openexr", "raf": "fuji-raw", "mrw": "minolta-raw", "crw": "canon-heap",
      "x3f": "sigma-raw", "mkv": "matroska", "webm": "matroska", "avi": "avi", "mts": "transport-stream",
      "m2ts": "transport-stream", "mpg": "program-stream", "nef": "raw", "rw2": "raw", "orf": "raw", "dng": "raw",
      "cr2": "raw",
    ]
    for (n, s) in MalformedTests.seedSamples.enumerated() {
      let ext = String(s.name.split(separator: ".").last!).lowercased()
      let t = map[ext] ?? ("unknown-" + ext)
      print(t, s.name, s.content.count)
      let d = "/tmp/w3/seeds/" + t
      try FileManager.default.createDirectory(atPath: d, withIntermediateDirectories: true)
      try Data(s.content).write(to: URL(fileURLWithPath: d + "/\(n).\(ext)"))
    }
  }
}
