import ExtractRecords
import Foundation
import PhotoMetadata
import PhotoModel
import TestTools
import Testing

@testable import MetadataSamples

/// The reader must return within its bounds, and with the same facts each time, whatever a file contains.
@Suite struct MalformedTests {
  private static let builder = ExifBuilder(
    main: [
      0x0100: .long([640]), 0x0101: .long([480]), 0x0112: .short([6]), 0x010F: .ascii("Apple"),
      0x0110: .ascii("iPhone 13 Pro"), 0x010E: .ascii("Grüße"), 0x4746: .short([3]),
      0x9C9B: .bytes([0x41, 0, 0x42, 0, 0, 0], type: 1),
    ],
    exif: [
      0x829A: .rational([(1, 250)]), 0x829D: .rational([(28, 10)]), 0x8827: .short([400]), 0x9209: .short([1]),
      0x9003: .ascii("2024:07:21 10:00:00"), 0x9011: .ascii("+02:00"), 0x9291: .ascii("123"),
      0x9286: .bytes(Array("ASCII\0\0\0Screenshot".utf8)), 0x927C: .bytes([UInt8](repeating: 7, count: 40)),
      0xA434: .ascii("iPhone 13 Pro back triple camera 5.7mm f/1.5"),
    ],
    gps: [
      1: .ascii("N"), 2: .rational([(47, 1), (22, 1), (30, 1)]), 3: .ascii("E"),
      4: .rational([(8, 1), (32, 1), (0, 1)]),
      5: .bytes([0], type: 1), 6: .rational([(400, 1)]),
    ])

  private static let samples: [(name: String, content: [UInt8])] =
    [
      ("a.jpg", builder.jpeg()), ("a.tif", builder.tiff()),
      ("a.png", Samples.png(width: 9, height: 9, chunks: [Samples.chunk("eXIf", builder.tiff())])),
      ("a.gif", Samples.gif(width: 9, height: 9, images: 3, loops: true)),
      (
        "a.webp",
        Samples.webp([("VP8X", [0x0A, 0, 0, 0, 8, 0, 0, 8, 0, 0]), ("EXIF", Array("Exif\0\0".utf8) + builder.tiff())])
      ),
      (
        "a.heic",
        BoxSamples.heif(
          properties: [BoxSamples.ispe(9, 8), BoxSamples.irot(1), BoxSamples.imir(0)],
          items: [BoxSamples.exifItem(builder.tiff()), BoxSamples.xmpItem(DescriptionSamples.full)])
      ),
      (
        "a.heic",
        BoxSamples.heif(properties: [BoxSamples.ispe(9, 8)], items: [BoxSamples.exifItem(builder.tiff())], inData: true)
      ),
      ("a.mp4", MovieSamples.film), ("a.mp4", MovieSamples.fragmented()), ("a.cr3", HEIFTests.canonRAW),
      ("a.jxl", JPEGXLTests.container), ("a.jp2", JPEGXLTests.jp2),
      ("a.png", PNGTests.texts), ("a.jpg", JPEGSegmentTests.everything),
    ] + FormatSamples.all

  private func check(_ facts: MediaFacts) {
    #expect(facts.pixelWidth.map { $0 > 0 } ?? true && facts.pixelHeight.map { $0 > 0 } ?? true)
    #expect(facts.orientation.map((1...8).contains) ?? true)
    #expect(facts.rating.map((0...5).contains) ?? true)
    #expect(facts.location.map { abs($0.latitude) <= 90 && abs($0.longitude) <= 180 } ?? true)
    #expect(facts.camera?.exposureSeconds.map { $0 > 0 && $0.isFinite } ?? true)
    #expect(facts.durationSeconds.map { $0 > 0 && $0.isFinite } ?? true)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func everyTruncationIsAnswered() throws {
    let scratch = try ScratchFile()
    for (name, content) in Self.samples {
      for length in 0...content.count {
        let facts = try scratch.facts(Array(content[..<length]), name: name)
        check(facts)
        if length == 0 { #expect(facts.failure != nil) }
        #expect(facts.readError == nil)
        if length == content.count { #expect(facts.failure == nil, "\(name)") }
      }
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func everyFlippedBitIsAnswered() throws {
    let scratch = try ScratchFile()
    for (name, content) in Self.samples where content.count < 6000 {
      var changed = content
      for index in content.indices {
        for bit in 0..<8 {
          changed[index] = content[index] ^ (1 << bit)
          check(try scratch.facts(changed, name: name))
        }
        changed[index] = content[index]
      }
    }
  }

  @Test func randomDamageIsAnsweredInTimeAndTheSameTwice() throws {
    let scratch = try ScratchFile()
    var random = SeededGenerator(seed: 2024)
    var worst = Duration.zero
    for _ in 0..<4000 {
      let (name, content) = Self.samples[Int.random(in: 0..<Self.samples.count, using: &random)]
      var changed = content
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        changed[Int.random(in: 0..<changed.count, using: &random)] =
          [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)][Int.random(in: 0..<6, using: &random)]
      }
      let (facts, time) = try measuringProcessorTime { try scratch.facts(changed, name: name) }
      worst = max(worst, time)
      check(facts)
      #expect(try scratch.facts(changed, name: name) == facts)
    }
    #expect(worst < .milliseconds(500))
  }

  @Test func randomBytesBehindASignatureAreAnswered() throws {
    let scratch = try ScratchFile()
    var random = SeededGenerator(seed: 7)
    for (name, content) in Self.samples {
      for _ in 0..<100 {
        let length = Int.random(in: 1...100_000, using: &random)
        var bytes = Array(content[..<min(12, length)])
        while bytes.count < length {
          withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
        }
        check(try scratch.facts(bytes, name: name))
      }
    }
  }

  @Test func aDirectoryOf65535EntriesIsBounded() throws {
    let entry: [UInt8] = [0x0F, 0x01, 2, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0]
    let directory = [UInt8](repeating: 0xFF, count: 2) + [[UInt8]](repeating: entry, count: 65_535).flatMap { $0 }
    let file = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory
    let time = try measuringProcessorTime { try facts(of: file, name: "a.tif") }.time
    #expect(time < .seconds(2))
  }

  @Test func picturesOf65535x65535PixelsCostNoMoreThanSmallOnes() throws {
    let side = FormatSamples.big16(65_535)
    let frame: [UInt8] = [0xFF, 0xC0, 0, 17, 8] + side + side + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
    let files: [(name: String, content: [UInt8])] = [
      ("a.jpg", [0xFF, 0xD8] + frame + [0xFF, 0xD9]), ("a.png", Samples.png(width: 65_535, height: 65_535)),
      ("a.gif", Samples.gif(width: 65_535, height: 65_535, images: 1)),
      ("a.bmp", FormatSamples.bitmap(width: 65_535, height: 65_535)),
      ("a.heic", BoxSamples.heif(properties: [BoxSamples.ispe(65_535, 65_535)])),
      ("a.psd", FormatSamples.photoshop(width: 65_535, height: 65_535, resources: [], isLarge: true)),
    ]
    for (name, content) in files {
      let (read, time) = try measuringProcessorTime { try facts(of: content, name: name) }
      #expect(read.pixelWidth == 65_535 && read.pixelHeight == 65_535 && time < .milliseconds(500), "\(name): \(read)")
    }
  }

  /// A box with such a size would end where it begins, or before.
  @Test(arguments: ["moov", "meta", "trak", "iref", "uuid", "udta"]) func boxesThatDoNotAdvanceEnd(_ type: String)
    throws
  {
    let longSizes = [0, 1, 8, 15, Int.max, -16].map { Samples.big(1) + Array(type.utf8) + BoxSamples.big64($0) }
    let sizes = (0..<8).map { Samples.big($0) + Array(type.utf8) } + longSizes
    for brand in ["qt  ", "heic", "crx "] {
      let head = BoxSamples.brands([brand])
      for box in sizes {
        // Once after the brands, and once inside a box of the same type.
        let many = [[UInt8]](repeating: box, count: 10_000).flatMap { $0 }
        for file in [head + many, head + BoxSamples.box(type, many)] {
          let (read, time) = try measuringProcessorTime { try facts(of: file, name: "a.mov") }
          check(read)
          #expect(time < .seconds(1), "\(brand), \(box)")
        }
      }
    }
  }

  /// Each box contains the next one, and the last one contains none.
  @Test(arguments: ["moov", "trak", "udta", "meta", "dinf"]) func boxesInBoxesAreBounded(_ type: String) throws {
    var nested: [UInt8] = []
    for depth in (1...20_000).reversed() { nested += Samples.big(8 * depth) + Array(type.utf8) }
    for brand in ["qt  ", "heic"] {
      let file = BoxSamples.brands([brand]) + nested
      let (read, time) = try measuringProcessorTime { try facts(of: file, name: "a.mov") }
      check(read)
      #expect(time < .seconds(1))
    }
  }

  /// Items of a HEIF that describe each other, and themselves.
  @Test func itemsThatDescribeEachOtherEnd() throws {
    let items = [
      BoxSamples.xmpItem(DescriptionSamples.full, describes: [2, 3]),
      BoxSamples.xmpItem(DescriptionSamples.full, describes: [2, 3, 1]),
    ]
    let file = BoxSamples.heif(properties: [BoxSamples.ispe(9, 8)], items: items)
    let (read, time) = try measuringProcessorTime { try facts(of: file, name: "a.heic") }
    check(read)
    #expect(time < .seconds(1))
  }

  /// Mutations of the first bytes of real files, where their boxes and chunks are.
  @Test(.enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"))
  func mutationsOfRealFilesAreAnsweredInTimeAndTheSameTwice() throws {
    let endings: Set = ["heic", "hif", "heif", "avif", "avifs", "cr3", "mp4", "mov", "3gp", "jxl", "jp2", "png", "mpo"]
    let photos = try #require(Fixtures.photos)
    let files = try #require(FileManager.default.enumerator(at: photos, includingPropertiesForKeys: nil))
    let scratch = try ScratchFile()
    var random = SeededGenerator(seed: 5)
    var formats: Set<String> = []
    var worst = Duration.zero
    for case let url as URL in files where endings.contains(url.pathExtension.lowercased()) {
      let name = url.lastPathComponent
      formats.insert(url.pathExtension.lowercased())
      let content = Array(try Data(contentsOf: url).prefix(200_000))
      guard content.count > 16 else { continue }
      for _ in 0..<15 {
        var changed = content
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          let index = Int.random(in: 0..<min(content.count - 8, 8192), using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
          case 1: changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          case 2: changed.replaceSubrange(index..<index + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
          default: changed.replaceSubrange(index..<index + 8, with: [0, 0, 0, 0, 0, 0, 0, 1])
          }
        }
        let (facts, time) = try measuringProcessorTime { try scratch.facts(changed, name: name) }
        worst = max(worst, time)
        check(facts)
        #expect(try scratch.facts(changed, name: name) == facts)
      }
    }
    #expect(formats.isSuperset(of: endings.subtracting(["heif"])))
    #expect(worst < .milliseconds(500))
  }

  @Test(.enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"))
  func everyRealPhotoIsAnsweredAndSoIsItsFirstHalf() throws {
    let photos = try #require(Fixtures.photos)
    let files = try #require(
      FileManager.default.enumerator(at: photos, includingPropertiesForKeys: [.isRegularFileKey]))
    let scratch = try ScratchFile()
    var reader = MediaReader()
    var count = 0
    for case let url as URL in files where MediaFormat.promised(byName: url.lastPathComponent.utf8) != nil {
      check(try facts(of: url, with: &reader))
      let content = try Data(contentsOf: url)
      check(try scratch.facts(Array(content.prefix(content.count / 2)), name: url.lastPathComponent))
      count += 1
    }
    #expect(count > 0)
  }

  /// The endings of formats with structures of their own, whose real files have more parts than the samples.
  private static let structured: Set = [
    "dng", "cr2", "nef", "arw", "raf", "rw2", "iiq", "mrw", "crw", "x3f", "mkv", "webm", "avi", "mts", "psd", "bmp",
    "exr",
    "tif", "tiff",
  ]

  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"))
  func damageInRealFilesIsAnsweredInTimeAndTheSameTwice() throws {
    let photos = try #require(Fixtures.photos)
    let files = try #require(
      FileManager.default.enumerator(at: photos, includingPropertiesForKeys: [.isRegularFileKey]))
    let scratch = try ScratchFile()
    var random = SeededGenerator(seed: 15)
    var worst = Duration.zero
    var endings: Set<String> = []
    for case let url as URL in files where Self.structured.contains(url.pathExtension.lowercased()) {
      let content = Array(try Data(contentsOf: url))
      guard !content.isEmpty, content.count < 200_000 else { continue }
      endings.insert(url.pathExtension.lowercased())
      for _ in 0..<60 {
        var changed = content
        // The numbers of structures are near the beginning, and those of CRW and X3F at the end.
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          let reach = min(changed.count, [100, 2000, 200_000].randomElement(using: &random) ?? 100)
          let place = Int.random(in: 0..<reach, using: &random)
          let index = Int.random(in: 0..<4, using: &random) == 0 ? changed.count - 1 - place : place
          changed[index] =
            [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
        }
        if Bool.random(using: &random) { changed.removeLast(Int.random(in: 0..<changed.count, using: &random)) }
        let (facts, time) = try measuringProcessorTime { try scratch.facts(changed, name: url.lastPathComponent) }
        worst = max(worst, time)
        check(facts)
        #expect(try scratch.facts(changed, name: url.lastPathComponent) == facts)
      }
    }
    #expect(worst < .milliseconds(500))
    #expect(endings.count > 10)
  }
}
