import ExtractRecords
import FileContent
import PhotoMetadata
import WatchRecords

@testable import MetadataSamples

// The containers of photos and films, as photod-extract reads them.

extension FuzzTarget {
  /// One target for each container, so that each gets its share of the time.
  static let containers: [FuzzTarget] = [
    container("jpeg", "jpg", ["jpg", "jpeg", "mpo"], [.init(0, [0xFF, 0xD8, 0xFF])]),
    container("tiff", "tif", ["tif", "tiff"], [.init(0, "II*\0")], or: [[.init(0, "MM\0*")], [.init(0, "II+\0")]]),
    container(
      "raw", "nef", ["nef", "dng", "cr2", "arw", "rw2", "iiq", "orf", "pef", "srw"], [.init(0, "II*\0")],
      or: [[.init(0, "MM\0*")], [.init(0, "IIU\0")], [.init(0, "IIRO")], [.init(0, "IIRS")]]),
    container("png", "png", ["png"], [.init(0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])]),
    container("gif", "gif", ["gif"], [.init(0, "GIF89a")], or: [[.init(0, "GIF87a")]]),
    container("webp", "webp", ["webp"], [.init(0, "RIFF"), .init(8, "WEBP")]),
    container("photoshop", "psd", ["psd"], [.init(0, "8BPS\0\u{1}")], or: [[.init(0, "8BPS\0\u{2}")]]),
    container("bitmap", "bmp", ["bmp"], [.init(0, "BM"), .init(6, "\0\0\0\0")]),
    container("openexr", "exr", ["exr"], [.init(0, [0x76, 0x2F, 0x31, 0x01])]),
    container(
      "heif", "heic", ["heic", "heif", "hif", "avif", "avifs"], [.init(4, "ftypheic")],
      or: [[.init(4, "ftypavif")], [.init(4, "ftypmif1")], [.init(4, "ftypmsf1")], [.init(4, "ftypavis")]]),
    container(
      "jpegxl", "jxl", ["jxl"], [.init(0, [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A])],
      or: [[.init(0, [0xFF, 0x0A])]]),
    container(
      "jpeg2000", "jp2", ["jp2"], [.init(0, [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A])],
      or: [[.init(0, [0xFF, 0x4F, 0xFF, 0x51])]]),
    container("fuji-raw", "raf", ["raf"], [.init(0, "FUJIFILMCCD-RAW")]),
    container("minolta-raw", "mrw", ["mrw"], [.init(0, "\0MRM")]),
    container("canon-heap", "crw", ["crw"], [.init(0, "II"), .init(6, "HEAPCCDR")]),
    container("sigma-raw", "x3f", ["x3f"], [.init(0, "FOVb")]),
    container("canon-raw", "cr3", ["cr3"], [.init(4, "ftypcrx ")]),
    container(
      "movie", "mov", ["mov", "mp4", "m4v", "3gp"], [.init(4, "ftypqt  ")],
      or: [
        [.init(4, "ftypmp42")], [.init(4, "ftypisom")], [.init(4, "ftypM4V ")], [.init(4, "ftyp3gp4")],
        [.init(4, "moov")],
      ]),
    container("matroska", "mkv", ["mkv", "webm"], [.init(0, [0x1A, 0x45, 0xDF, 0xA3])]),
    container("avi", "avi", ["avi"], [.init(0, "RIFF"), .init(8, "AVI ")]),
    // Its signature is a byte that comes back every 188 or 192 bytes, which the corpus keeps.
    container("transport-stream", "mts", ["mts", "m2ts", "m2t"], []),
    container(
      "program-stream", "mpg", ["mpg", "mpeg"], [.init(0, [0, 0, 1, 0xBA])], or: [[.init(0, [0, 0, 1, 0xB3])]]),
  ]

  /// Bytes at an offset by which a container is recognized.
  struct Mark: Sendable {
    let offset: Int
    let bytes: [UInt8]

    init(_ offset: Int, _ bytes: [UInt8]) { (self.offset, self.bytes) = (offset, bytes) }

    init(_ offset: Int, _ text: String) { self.init(offset, Array(text.utf8)) }

    func isIn(_ file: [UInt8]) -> Bool {
      file.count >= offset + bytes.count && file[offset..<offset + bytes.count].elementsEqual(bytes)
    }
  }

  /// - Parameters:
  ///   - signature: the marks that an input gets if it has neither these nor those of another signature. Without them,
  ///     most inputs would not reach the parser.
  private static func container(
    _ name: String, _ ending: String, _ endings: [String], _ signature: [Mark], or others: [[Mark]] = []
  ) -> FuzzTarget {
    let reader = FactsReader(name: Array("a.\(ending)".utf8))
    let seeds = samples.filter { sample in ([ending] + endings).contains { sample.name.hasSuffix(".\($0)") } }
    return FuzzTarget(name: name, endings: endings, seeds: seeds.map(\.content)) { input in
      var file = Array(input)
      if !([signature] + others).contains(where: { $0.allSatisfy { $0.isIn(file) } }) {
        for mark in signature where file.count >= mark.offset + mark.bytes.count {
          file.replaceSubrange(mark.offset..<mark.offset + mark.bytes.count, with: mark.bytes)
        }
      }
      reader.read(file)
    }
  }

  /// The small files of the tests. Formats of which there is no real file at hand begin with these.
  private static let samples: [(name: String, content: [UInt8])] =
    [
      ("a.jpg", FormatSamples.exif.jpeg()), ("a.tif", FormatSamples.exif.tiff()),
      ("a.jpg", DescriptionSamples.jpeg([DescriptionSamples.photoshopSegment(DescriptionSamples.fullIPTC)])),
      ("a.png", Samples.png(width: 9, height: 9, chunks: [Samples.chunk("eXIf", FormatSamples.exif.tiff())])),
      ("a.gif", Samples.gif(width: 9, height: 9, images: 3, loops: true)),
      ("a.webp", Samples.webp([("VP8X", [0x0A, 0, 0, 0, 8, 0, 0, 8, 0, 0]), ("EXIF", FormatSamples.exif.tiff())])),
      (
        "a.heic",
        BoxSamples.heif(
          properties: [BoxSamples.ispe(9, 8), BoxSamples.irot(1), BoxSamples.imir(0)],
          items: [BoxSamples.exifItem(FormatSamples.exif.tiff()), BoxSamples.xmpItem(DescriptionSamples.full)])
      ),
      ("a.mov", MovieSamples.film), ("a.mov", MovieSamples.fragmented()), ("a.mov", MovieSamples.long),
    ] + FormatSamples.all

  /// An XMP packet, in a JPEG around it.
  static let xmp: FuzzTarget = {
    let reader = FactsReader(name: Array("a.jpg".utf8))
    return FuzzTarget(name: "xmp", endings: ["xmp"], seeds: [Array(DescriptionSamples.full.utf8)]) { input in
      let packet = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + input.prefix(65_000)
      let length = packet.count + 2
      let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 9, 0, 9, 1, 1, 0x11, 0]
      reader.read(
        [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + packet + frame + [0xFF, 0xD9])
    }
  }()
}

/// Reads files as photod-extract does: one reader for many, and the facts are sent to photod.
private final class FactsReader: @unchecked Sendable {
  // libFuzzer gives one input after another, on one thread.
  private let name: [UInt8]
  private var reader = MediaReader()

  init(name: [UInt8]) { self.name = name }

  func read(_ file: [UInt8]) {
    var (calls, byteCount) = (0, 0)
    let source = FileBytes.reader { buffer, offset in
      require(offset >= 0 && offset <= file.count, "a read begins at \(offset) of \(file.count)")
      let count = min(buffer.count, file.count - offset)
      file.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
      calls += 1
      byteCount += count
      return count
    }
    let facts = reader.facts(of: source, byteCount: Int64(file.count), name: name)
    require(calls <= 513 && byteCount <= 65_536 + 2 << 20, "\(byteCount) bytes in \(calls) calls")
    require(facts.readError == nil, "the file is to blame, not the disk")
    var payload: [UInt8] = []
    ExtractReply.facts(facts).encode(into: &payload)
    require(payload.count <= ExtractStream.maximumFrameBytes, "a reply of \(payload.count) bytes")
    do {
      guard case .facts(let received) = try ExtractReply(payload[...]) else { fatalError("facts became another reply") }
      require(received == facts, "photod receives other facts: \(received) for \(facts)")
    } catch {
      fatalError("photod refuses the facts: \(error)")
    }
  }
}
