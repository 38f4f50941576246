import FileContent
import Foundation
import Glibc
import PhotoMetadata
import PhotoModel
import TestTools
import Testing

/// How much of a file is read, and in how many calls. Reading is the cost of a first scan that is not in the cache.
@Suite struct ReadCostTests {
  private struct Cost {
    var calls = 0
    var byteCount = 0
  }

  /// Reads one file through the interface through which photod-extract reads all bytes.
  private func cost(
    of file: Int32, _ byteCount: Int64, _ name: [UInt8], by reader: inout MediaReader
  ) -> Cost {
    var cost = Cost()
    let source = FileBytes.reader { buffer, offset in
      let count = pread(file, buffer.baseAddress, buffer.count, off_t(offset))
      cost.calls += 1
      cost.byteCount += max(0, count)
      return count
    }
    _ = reader.facts(of: source, byteCount: byteCount, name: name)
    return cost
  }

  /// The costs of all media files in a folder, by content type.
  private func costs(in folder: URL) throws -> [String: [Cost]] {
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var reader = MediaReader()
    var costs: [String: [Cost]] = [:]
    for case let url as URL in files {
      guard let promise = MediaFormat.promised(byName: url.lastPathComponent.utf8) else { continue }
      let file = open(url.path, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      var status = stat()
      guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
        continue
      }
      let cost = cost(of: file, Int64(status.st_size), Array(url.lastPathComponent.utf8), by: &reader)
      #expect(cost.calls <= 513 && cost.byteCount <= (64 << 10) + (2 << 20), "\(url.path): \(cost)")
      costs[promise.contentType, default: []].append(cost)
    }
    return costs
  }

  private func quantile(_ costs: [Cost], _ share: Double, _ value: (Cost) -> Int) -> Int {
    let sorted = costs.map(value).sorted()
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  @Test func nearlyEveryMadePhotoIsOneRead() throws {
    let costs = try costs(in: Fixtures.made).values.flatMap(\.self)
    #expect(costs.count > 100 && quantile(costs, 0.95, \.calls) == 1)
    #expect(quantile(costs, 0.95, \.byteCount) <= 64 << 10)
  }

  /// Real files of all formats. The bounds of a format are twice what its files took when this test was written.
  @Test(.enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"))
  func realFilesOfEachFormatTakeFewReads() throws {
    let all = try costs(in: try #require(Fixtures.photos))
    for (type, costs) in all.sorted(by: { $0.key < $1.key }) {
      let (calls, bytes) = (quantile(costs, 0.5, \.calls), quantile(costs, 0.5, \.byteCount))
      print(
        "\(type): \(costs.count) files, half of them at most \(calls) reads and \(bytes) bytes, the most "
          + "\(quantile(costs, 1, \.calls)) reads and \(quantile(costs, 1, \.byteCount)) bytes")
      #expect(calls <= 8 && bytes <= 192 << 10, "\(type)")
    }
    let photos = try #require(all["image/jpeg"])
    #expect(quantile(photos, 0.9, \.calls) <= 3 && quantile(photos, 0.9, \.byteCount) <= 128 << 10)
  }
}
