import Foundation
import Glibc
import PhotoMetadata
import PhotoModel
import Testing

/// The cost of one file in a folder that `PHOTOD_MEASURE_PHOTOS` names: openat, fstat, facts and close, as in an
/// indexer. Run it optimised: `swift test -c release --filter SpeedTests`.
@Suite struct SpeedTests {
  private static let folder = ProcessInfo.processInfo.environment["PHOTOD_MEASURE_PHOTOS"]

  @Test(.enabled(if: SpeedTests.folder != nil, "a measurement: PHOTOD_MEASURE_PHOTOS names no folder"))
  func aWarmFileCostsMicroseconds() throws {
    let folder = URL(fileURLWithPath: try #require(Self.folder))
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var paths: [(path: String, name: [UInt8])] = []
    for case let url as URL in files where MediaFormat.promised(byName: url.lastPathComponent.utf8) != nil {
      paths.append((url.path, Array(url.lastPathComponent.utf8)))
    }
    var reader = MediaReader()
    var best = Duration.seconds(1000)
    var bestReading = Duration.seconds(1000)
    for _ in 0..<7 {
      let start = ContinuousClock().now
      var reading = Duration.zero
      for (path, name) in paths {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        var status = stat()
        fstat(descriptor, &status)
        let before = ContinuousClock().now
        let facts = reader.facts(descriptor: descriptor, byteCount: Int64(status.st_size), name: name)
        reading += ContinuousClock().now - before
        close(descriptor)
        #expect(facts.mediaType != .unknown)
      }
      best = min(best, ContinuousClock().now - start)
      bestReading = min(bestReading, reading)
    }
    try #require(!paths.isEmpty)
    let (whole, alone) = (best / paths.count, bestReading / paths.count)
    print("\(paths.count) files: \(whole) a file, of which facts(descriptor:byteCount:name:) \(alone)")
  }
}
