import ExtractRecords
import Glibc
import PhotoMetadata
import TestTools
import Testing

@testable import MetadataSamples

/// Sparse files with sizes up to 2^63 - 1 and only a few pages, as tmpfs, XFS and Btrfs allow them.
@Suite struct SparseFileTests {
  /// An unnamed file on tmpfs.
  private final class SparseFile {
    let descriptor: Int32
    private var reader = MediaReader()

    init() throws {
      let path = "/dev/shm/photod-sparse-\(UInt64.random(in: .min ... .max))"
      descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      try #require(descriptor >= 0)
      try #require(unlink(path) == 0)
    }

    deinit { close(descriptor) }

    /// The facts of a file with this size, with these bytes at these positions and holes between them.
    func facts(size: Int, _ pieces: [(at: Int, bytes: [UInt8])], name: String = "a.tif") throws -> MediaFacts {
      try #require(ftruncate(descriptor, 0) == 0 && ftruncate(descriptor, size) == 0)
      for (position, bytes) in pieces {
        // Bytes beyond the end are not written, so that the file keeps its size.
        let count = min(bytes.count, size - position)
        guard position >= 0, count > 0 else { continue }
        try #require(pwrite(descriptor, bytes, count, position) == count)
      }
      return reader.facts(descriptor: descriptor, byteCount: Int64(size), name: name.utf8)
    }
  }

  private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }

  private static func bigHeader(directory: Int) -> [UInt8] {
    [0x49, 0x49, 43, 0, 8, 0, 0, 0] + little(UInt64(directory))
  }

  private typealias Entry = (tag: UInt16, type: UInt16, count: UInt64, value: UInt64)

  private static func bigDirectory(_ entries: [Entry], claiming count: UInt64? = nil) -> [UInt8] {
    little(count ?? UInt64(entries.count))
      + entries.flatMap { little($0.tag) + little($0.type) + little($0.count) + little($0.value) }
  }

  private static let size: [Entry] = [(0x0100, 4, 1, 640), (0x0101, 4, 1, 480)]

  @Test(arguments: [Int.max, .max - 1, .max - 7, .max - 8, .max - 20, .max - 90_000, 1 << 62, 1 << 40, 70_000])
  func aPointerBeyondTheEndIsDamageOfTheFile(directory: Int) throws {
    let facts = try SparseFile().facts(size: 70_000, [(0, Self.bigHeader(directory: directory))])
    #expect(facts.readError == nil)
    #expect(facts.failure == "the TIFF is damaged or cut off: its first directory is missing")
  }

  @Test(arguments: [1 << 33, 1 << 48, (1 << 62) - 48])
  func aDirectoryFarAwayIsRead(directory: Int) throws {
    let facts = try SparseFile().facts(
      size: (1 << 62), [(0, Self.bigHeader(directory: directory)), (directory, Self.bigDirectory(Self.size))])
    #expect(facts.failure == nil)
    #expect(facts.pixelWidth == 640 && facts.pixelHeight == 480)
  }

  /// The first entries of the directory lie within the file. Their claimed number ends beyond 2^63.
  @Test(arguments: [8, 9, 28, 48, 50, 1000, 81_927]) func aDirectoryAtTheEndOfTheLargestFileIsAnswered(before: Int)
    throws
  {
    for size in [Int.max, .max - 1, 1 << 62, (1 << 62) + 1] {
      for count: UInt64 in [1, 2, 4096, .max] {
        let directory = size - before
        let facts = try SparseFile().facts(
          size: size,
          [(0, Self.bigHeader(directory: directory)), (directory, Self.bigDirectory(Self.size, claiming: count))])
        #expect(facts.readError == nil)
      }
    }
  }

  @Test(arguments: [UInt16(0x83BB), 0x02BC, 0x010E, 0x8769, 0x8825, 0x4746])
  func aValueAtTheEndOfTheLargestFileIsAnswered(tag: UInt16) throws {
    let file = try SparseFile()
    for size in [Int.max, 1 << 62, 70_000] {
      for before in 0...40 {
        for count: UInt64 in [1, UInt64(before), 9, 4096, 20_000, UInt64(UInt32.max), .max] {
          let entries = Self.size + [(tag, tag == 0x8769 || tag == 0x8825 ? 16 : 7, count, UInt64(size - before))]
          let facts = try file.facts(
            size: size,
            [
              (0, Self.bigHeader(directory: 16)), (16, Self.bigDirectory(entries)),
              (size - before, [UInt8](repeating: 0x1C, count: before)),
            ])
          #expect(facts.readError == nil)
          #expect(facts.pixelWidth == 640)
        }
      }
    }
  }

  private static let builder = ExifBuilder(
    main: [
      0x0100: .long([640]), 0x0101: .long([480]), 0x010F: .ascii("Apple"), 0x83BB: .bytes(DescriptionSamples.fullIPTC),
    ],
    exif: [0x9003: .ascii("2024:07:21 10:00:00")], gps: [1: .ascii("N"), 2: .rational([(47, 1), (22, 1), (30, 1)])])

  private static let bigTIFF =
    bigHeader(directory: 16)
    + bigDirectory(
      size + [
        (0x010F, 2, 40, 300), (0x02BC, 7, 400, 600), (0x83BB, 7, 200, 700), (0x8769, 16, 1, 1100), (0x8825, 18, 2, 300),
      ])
    + [UInt8](repeating: 0x20, count: 1000) + bigDirectory([(0x9003, 2, 20, 400), (0x829A, 5, 1, 500)])

  private static let samples: [(name: String, content: [UInt8])] =
    [
      ("a.tif", bigTIFF), ("a.tif", builder.tiff()), ("a.jpg", builder.jpeg()),
      (
        "a.jpg", DescriptionSamples.jpeg([DescriptionSamples.photoshopSegment(DescriptionSamples.fullIPTC, before: [])])
      ),
      ("a.png", Samples.png(width: 9, height: 9, chunks: [Samples.chunk("eXIf", builder.tiff())])),
      ("a.gif", Samples.gif(width: 9, height: 9, images: 3, loops: true)),
      (
        "a.webp",
        Samples.webp([("VP8X", [0x0E, 0, 0, 0, 8, 0, 0, 8, 0, 0]), ("EXIF", Array("Exif\0\0".utf8) + builder.tiff())])
      ),
      ("a.heic", BoxSamples.heif(properties: [BoxSamples.ispe(9, 8)], items: [BoxSamples.exifItem(builder.tiff())])),
      ("a.mp4", MovieSamples.film), ("a.mp4", MovieSamples.fragmented()), ("a.mp4", MovieSamples.long),
      ("a.cr3", HEIFTests.canonRAW), ("a.jxl", JPEGXLTests.container), ("a.jp2", JPEGXLTests.jp2),
    ] + FormatSamples.all

  /// Numbers of 2, 4 and 8 bytes in either order are set to sizes, powers of two and their neighbours, in files of any
  /// size. The same content is repeated at far positions, so that a number often points at something.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func hugeNumbersInSparseFilesAreDamageOrAreFollowed() throws {
    let file = try SparseFile()
    var random = SeededGenerator(seed: UInt64(effort("PHOTOD_SPARSE_SEED", 11)))
    var worst = Duration.zero
    for _ in 0..<effort("PHOTOD_SPARSE_FILES", 20_000) {
      let (name, original) = Self.samples.randomElement(using: &random)!
      let size =
        [Int.max, .max - Int.random(in: 0...100, using: &random), 1 << Int.random(in: 17...62, using: &random), 70_000]
        .randomElement(using: &random)!
      var positions: [Int] = []
      for _ in 0..<3 {
        let base = [size, size, 1 << Int.random(in: 16...62, using: &random)].randomElement(using: &random)!
        positions.append(max(0, base - Int.random(in: 0...100, using: &random)))
      }
      var content = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        var number =
          (positions + [size, size - 1, .max, -1, 1 << Int.random(in: 0...63, using: &random)])
          .randomElement(using: &random)!
        if Bool.random(using: &random) { number &+= Int.random(in: -20...20, using: &random) }
        let width = [2, 4, 8, 8].randomElement(using: &random)!
        let bytes = Array(Self.little(UInt64(bitPattern: Int64(number))).prefix(width))
        let place = Int.random(in: 0..<content.count - width, using: &random)
        content.replaceSubrange(place..<place + width, with: Bool.random(using: &random) ? bytes : bytes.reversed())
      }
      let pieces = [(0, content)] + positions.map { ($0, Array(original.dropFirst(16))) }
      let (facts, time) = try measuringProcessorTime { try file.facts(size: size, pieces, name: name) }
      worst = max(worst, time)
      #expect(facts.readError == nil)
      #expect(try file.facts(size: size, pieces, name: name) == facts)
    }
    #expect(worst < .milliseconds(500))
  }
}
