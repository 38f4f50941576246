import ExtractRecords
import PhotoMetadata
import TestTools
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// Packets and blocks that are broken or hostile. The reader must return within its bounds.
@Suite struct MalformedDescriptionTests {
  private func check(_ facts: MediaFacts) {
    #expect(facts.keywords.count <= 1000 && Set(facts.keywords).count == facts.keywords.count)
    for text in facts.keywords + [facts.title, facts.caption].compactMap({ $0 }) {
      #expect(!text.isEmpty && text.utf8.count <= 3 * 8192)
      #expect(!text.unicodeScalars.contains { $0.value < 9 })
    }
    #expect(facts.keywords.allSatisfy { !$0.utf8.contains { $0 < 0x20 || $0 == 0x7F } && $0.utf8.count <= 1000 })
    #expect(facts.rating.map((0...5).contains) ?? true)
  }

  private func facts(_ packet: String) throws -> MediaFacts {
    let builder = ExifBuilder(
      main: [0x0100: .long([9]), 0x0101: .long([9]), 0x02BC: .bytes(Array(packet.utf8), type: 1)])
    let file = builder.tiff()
    let (facts, time) = try measuringProcessorTime { try PhotoMetadataTests.facts(of: file, name: "a.tif") }
    #expect(time < .seconds(2))
    #expect(facts.failure == nil && facts.pixelWidth == 9)
    check(facts)
    return facts
  }

  @Test func everyTruncatedPacketIsAnswered() throws {
    let scratch = try ScratchFile()
    let packet = Array(Written.packet(Written.bag("dc:subject", ["sea", "boat"]), attributes: "xmp:Rating='4'").utf8)
    let whole = try scratch.facts(Written.jpeg([Written.xmpSegment(packet)]))
    for length in 0..<packet.count {
      let facts = try scratch.facts(Written.jpeg([Written.xmpSegment(Array(packet[..<length]))]))
      check(facts)
      // Facts that were read before the end count.
      #expect(whole.keywords.starts(with: facts.keywords))
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func thousandsOfMutationsAreAnsweredTheSameTwice() throws {
    let scratch = try ScratchFile()
    var random = SeededGenerator(seed: 31)
    let samples = [
      Written.jpeg([Written.xmpSegment(Array(Written.full.utf8)), Written.photoshopSegment(Written.fullIPTC)]),
      Written.jpeg([Written.photoshopSegment(Written.fullIPTC, before: [("ab", [1, 2, 3])])]),
      ExifBuilder(
        main: [
          0x0100: .long([9]), 0x0101: .long([9]), 0x02BC: .bytes(Array(Written.full.utf8), type: 1),
          0x83BB: .bytes(Written.fullIPTC, type: 7),
        ]
      ).tiff(),
    ]
    var worst = Duration.zero
    for round in 0..<6000 {
      var changed = samples[round % samples.count]
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let index = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
        case 1: changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: changed[index] = Array("<>&;/\"' =:!?[]\0".utf8).randomElement(using: &random) ?? 0
        default:
          // A piece is copied over another one, so tags nest and end at wrong places.
          let from = Int.random(in: 0..<changed.count, using: &random)
          let count = min(Int.random(in: 1...40, using: &random), changed.count - max(from, index))
          changed.replaceSubrange(index..<index + count, with: Array(changed[from..<from + count]))
        }
      }
      let name = round % samples.count == 2 ? "a.tif" : "a.jpg"
      let (facts, time) = try measuringProcessorTime { try scratch.facts(changed, name: name) }
      worst = max(worst, time)
      check(facts)
      #expect(try scratch.facts(changed, name: name) == facts)
    }
    #expect(worst < .milliseconds(500))
  }

  @Test func aDocumentTypeIsRefused() throws {
    var laughs = "<!DOCTYPE x [<!ENTITY l0 'ha'>"
    for level in 1...20 {
      laughs += "<!ENTITY l\(level) '" + String(repeating: "&l\(level - 1);", count: 10) + "'>"
    }
    let body = Written.packet("<dc:title>&l20;</dc:title>", attributes: "xmp:Rating='3'")
    #expect(try facts(laughs + "]>" + body).rating == nil)
    let attributes = "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]>" + Written.full
    #expect(try facts(attributes).keywords == [])
    let external = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'>" + Written.full
    #expect(try facts(external).keywords == [])
    #expect(try facts("<?xml version='1.0' standalone='yes'?>" + Written.full).keywords.count == 4)
  }

  @Test func unknownEntitiesAndEncodingsEndThePacket() throws {
    #expect(try facts(Written.packet("<dc:title>&nbsp;</dc:title>", attributes: "xmp:Rating='3'")).rating == 3)
    #expect(try facts("<?xml version='1.0' encoding='x-unknown'?>" + Written.full).keywords == [])
  }

  @Test func namesAndTextsThatAreNotUTF8AreAnswered() throws {
    let scratch = try ScratchFile()
    let packet = Array(Written.full.utf8)
    for index in packet.indices {
      for byte: UInt8 in [0xFF, 0xC0, 0x80, 0xED] {
        var changed = packet
        changed[index] = byte
        check(try scratch.facts(Written.jpeg([Written.xmpSegment(changed)])))
      }
    }
  }

  @Test func depthIsBounded() throws {
    for depth in [10, 55, 100, 100_000] {
      let deep = String(repeating: "<xmpMM:a>", count: depth) + String(repeating: "</xmpMM:a>", count: depth)
      let facts = try facts(Written.packet(deep + "<dc:title>Sea</dc:title>", attributes: "xmp:Rating='3'"))
      if depth < 60 { #expect(facts.title == "Sea") }
      #expect(depth > 10_000 || facts.rating == 3)
    }
  }

  @Test func theNumberOfElementsIsBounded() throws {
    for (count, isRead) in [(40_000, true), (60_000, false)] {
      let many = String(repeating: "<dc:a/>", count: count)
      #expect(try facts(Written.packet(many + "<dc:title>Sea</dc:title>")).title == (isRead ? "Sea" : nil))
    }
  }

  @Test func aPacketBeyondItsBoundIsLeftUnread() throws {
    let packet = Written.packet("<dc:title>Sea</dc:title>", padding: 1 << 20)
    #expect(try facts(packet).title == nil)
  }

  @Test func oneTokenAsLongAsThePacketIsReadInTime() throws {
    let long = String(repeating: "x", count: 1_000_000)
    #expect(try facts(Written.packet("<dc:title a='\(long)'>Sea</dc:title>")).title == "Sea")
    #expect(try facts(Written.packet("<dc:title>\(long)</dc:title>")).title?.utf8.count == 8192)
    _ = try facts(Written.packet("<!--\(long)"))
    let many = (0..<60_000).map { "a\($0)='1'" }.joined(separator: " ")
    _ = try facts(Written.packet("<dc:title \(many)>Sea</dc:title>"))
  }

  @Test func lengthsThatLeadBeyondTheBlockEndIt() throws {
    let scratch = try ScratchFile()
    for claimed in [0x0005, 0x7FFF, 0x8004, 0xFFFF] {
      let broken: [UInt8] = [0x1C, 2, 25, UInt8(claimed >> 8), UInt8(claimed & 255)] + Array("sea".utf8)
      let block = Written.dataset(25, Array("boat".utf8)) + broken
      let facts = try scratch.facts(Written.jpeg([Written.photoshopSegment(block)]))
      check(facts)
      #expect(facts.keywords == ["boat"], "\(claimed)")
    }
    for size: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 1, 0, 0]] {
      let resource = Array("8BIM".utf8) + [4, 4, 0, 0] + size + Written.fullIPTC
      let segment = ExifBuilder.segment(0xED, Array("Photoshop 3.0\0".utf8) + resource)
      #expect(try scratch.facts(Written.jpeg([segment])).keywords == [])
    }
    for (tag, count): (UInt16, UInt32) in [(0x02BC, .max), (0x83BB, .max), (0x02BC, 1 << 30)] {
      let builder = ExifBuilder(
        main: [0x0100: .long([9]), 0x0101: .long([9]), tag: .raw(type: 4, count: count, field: 8)])
      check(try scratch.facts(builder.tiff(), name: "a.tif"))
    }
  }
}
