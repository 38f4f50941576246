import Foundation
import PhotoModel
import Testing

@testable import FileContent

/// Catalogs store samples and hashes for years, so they must never change.
@Suite struct ContentReaderTests {
  private func digest(_ bytes: [UInt8], pieces: Int = .max) -> ContentDigest {
    var hasher = MurmurHash3()
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      piece.withUnsafeBytes { hasher.update($0) }
      rest = rest.dropFirst(piece.count)
    }
    return hasher.finish()
  }

  private func text(_ digest: ContentDigest?) -> String {
    digest?.text ?? ""
  }

  /// The first two digests are published. The last one was computed by another program.
  @Test func hashIsMurmurHash3() {
    #expect(
      text(digest(Array("The quick brown fox jumps over the lazy dog".utf8))) == "e34bbc7bbc071b6c7a433ca9c49a9347")
    #expect(text(digest(Array("hello".utf8))) == "cbd8a7b341bd9b025b1e906a48ae1d19")
    let all = (0..<1024).map { UInt8(truncatingIfNeeded: $0) }
    for pieces in [16, 48, 1024] { #expect(text(digest(all, pieces: pieces)) == "69d9dcce316c4c29ed876c1605cc45c6") }
    #expect(digest([]) == ContentDigest(high: 0, low: 0))
  }

  @Test func digestIsItsBytes() throws {
    let digest = ContentDigest(high: 0x0102_0304_0506_0708, low: .max)
    digest.withBytes { bytes in
      #expect(Array(bytes) == [1, 2, 3, 4, 5, 6, 7, 8] + Array(repeating: 255, count: 8))
      #expect(ContentDigest(bytes: bytes) == digest)
      #expect(ContentDigest(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropLast())) == nil)
    }
  }

  private func marks(_ bytes: [UInt8]) throws -> (sample: ContentDigest, hash: ContentDigest?, whole: ContentDigest) {
    let path = NSTemporaryDirectory() + "photod-sample-" + UUID().uuidString
    #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
    defer { do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) } }
    let file = try #require(FileHandle(forReadingAtPath: path))
    let size = Int64(bytes.count)
    let sample = try #require(ContentReader.sample(.descriptor(file.fileDescriptor), byteCount: size))
    let whole = try #require(ContentReader.hash(.descriptor(file.fileDescriptor), byteCount: size))
    #expect(ContentReader.hash(.descriptor(file.fileDescriptor), byteCount: size + 1) == nil)
    return (sample.sample, sample.hash, whole)
  }

  @Test(arguments: [1, 16_384, 65_536, 98_304]) func sampleOfASmallFileIsItsHash(count: Int) throws {
    var bytes = [UInt8](repeating: 255, count: count)
    let before = try marks(bytes)
    #expect(before.sample == before.whole && before.hash == before.whole && before.whole == digest(bytes))
    bytes[count - 1] = 0
    #expect(try marks(bytes).sample != before.sample)
  }

  @Test func sampleOfALargeFileCoversSixBlocks() throws {
    let size = 1_000_003
    let offsets = ContentReader.blockOffsets(byteCount: Int64(size))
    #expect(offsets.first == 0 && offsets.last == Int64(size - 16_384))
    let distances = zip(offsets, offsets.dropFirst()).map { $1 - $0 }
    #expect(distances.allSatisfy { abs($0 - Int64(size - 16_384) / 5) <= 1 })
    var bytes = [UInt8](repeating: 255, count: size)
    let before = try marks(bytes)
    #expect(before.hash == nil)
    for offset in offsets {
      bytes[Int(offset) + 100] = 7
      let other = try marks(bytes)
      #expect(other.sample != before.sample && other.whole != before.whole)
      bytes[Int(offset) + 100] = 255
    }
    bytes[20_000] = 7
    let unsampled = try marks(bytes)
    #expect(unsampled.sample == before.sample && unsampled.whole != before.whole)
  }

  @Test func blocksOfTheLargestFileLieWithinIt() {
    let offsets = ContentReader.blockOffsets(byteCount: .max)
    #expect(offsets == offsets.sorted() && offsets.last == .max - 16_384)
  }
}
