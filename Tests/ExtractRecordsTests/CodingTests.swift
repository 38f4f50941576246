import ExtractRecords
import PhotoModel
import TestTools
import Testing
import WatchRecords

/// The messages between photod and photod-extract. photod takes those of photod-extract for hostile.
@Suite struct CodingTests {
  private static let full: MediaFacts = {
    var facts = MediaFacts(mediaType: .image, contentType: "image/heic")
    facts.mediaSubtypes = [.hdr, .depth]
    facts.creationDate = PhotoDate(microseconds: 1_700_000_000_123_456, offsetMinutes: -90)
    (facts.pixelWidth, facts.pixelHeight, facts.orientation) = (4032, 3024, 6)
    facts.durationSeconds = 12.25
    facts.location = Location(latitude: -12.5, longitude: 179.75, altitude: -3)
    facts.camera = Camera(
      make: "Made", model: "Model Ü", lens: "Lens", exposureSeconds: 0.004, fNumber: 1.8, iso: 320,
      focalLengthMillimeters: 26, flashFired: false)
    (facts.title, facts.caption, facts.keywords) = ("Title", "", ["one", "zwö", "三"])
    (facts.rating, facts.burstIdentifier, facts.failure, facts.readError) = (5, "B-1", "why", 5)
    facts.contentIdentifier = "7B9C0E5D-1"
    facts.marks = ContentMarks(
      fingerprint: .max, sample: ContentDigest(high: 1, low: 2), hash: ContentDigest(high: 3, low: .max))
    return facts
  }()

  private func bytes(_ reply: ExtractReply) -> [UInt8] {
    var bytes: [UInt8] = []
    reply.encode(into: &bytes)
    return bytes
  }

  @Test func factsSurviveTheirCoding() throws {
    let empty = MediaFacts(mediaType: .unknown, contentType: "application/octet-stream")
    var flashed = empty
    flashed.camera = Camera(flashFired: true)
    for facts in [Self.full, empty, flashed] {
      #expect(try ExtractReply(bytes(.facts(facts))[...]) == .facts(facts))
    }
    #expect(try ExtractReply(bytes(.needs(offset: .max, count: 7))[...]) == .needs(offset: .max, count: 7))
  }

  @Test func requestsSurviveTheirCoding() throws {
    let requests: [ExtractRequest] = [
      .file(name: Array("a.jpg".utf8), byteCount: .max, isFetched: true),
      .file(name: [], byteCount: 0, isFetched: false), .bytes([1, 2, 3], errorNumber: 0), .bytes([], errorNumber: 5),
    ]
    for request in requests {
      var bytes: [UInt8] = []
      request.encode(into: &bytes)
      #expect(try ExtractRequest(bytes[...]) == request)
    }
  }

  @Test func numbersOutsideOfTheirRangeAreUnknown() throws {
    var facts = Self.full
    (facts.orientation, facts.rating, facts.durationSeconds) = (9, 6, -.infinity)
    facts.location = Location(latitude: .nan, longitude: 0, altitude: 3)
    facts.pixelWidth = -1
    facts.camera?.fNumber = .nan
    guard case .facts(let read) = try ExtractReply(bytes(.facts(facts))[...]) else { throw Wrong() }
    #expect(read.orientation == nil && read.rating == nil && read.durationSeconds == nil && read.location == nil)
    #expect(read.pixelWidth == nil && read.pixelHeight == nil && read.camera?.fNumber == nil)
    #expect(read.title == "Title" && read.camera?.iso == 320)
  }

  private struct Wrong: Error {}

  /// nil if the bytes are refused, or are another reply.
  private static func facts(_ bytes: [UInt8]) -> MediaFacts? {
    do {
      if case .facts(let facts) = try ExtractReply(bytes[...]) { return facts }
      return nil
    } catch {
      return nil
    }
  }

  /// A process that a file has taken over may send anything. It is refused, or it gives facts whose numbers are in their
  /// ranges.
  @Test func changedBytesAreRefusedOrHarmless() throws {
    let whole = bytes(.facts(Self.full))
    var random = SeededGenerator(seed: 15)
    var (refused, taken) = (0, 0)
    for _ in 0..<50_000 {
      var changed = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed.removeLast(Int.random(in: 0..<changed.count, using: &random))
        case 1: changed.insert(UInt8.random(in: 0...255, using: &random), at: changed.count / 2)
        default:
          if let place = changed.indices.randomElement(using: &random) {
            changed[place] = [0, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
          }
        }
      }
      guard let facts = Self.facts(changed) else {
        refused += 1
        continue
      }
      taken += 1
      #expect(facts.orientation.map { (1...8).contains($0) } ?? true)
      #expect(facts.rating.map { (0...5).contains($0) } ?? true)
      #expect(facts.location.map { (-90...90).contains($0.latitude) && (-180...180).contains($0.longitude) } ?? true)
      #expect(facts.camera?.exposureSeconds.map { $0 >= 0 && $0.isFinite } ?? true)
      #expect(facts.keywords.count <= MediaFacts.mostKeywords)
    }
    #expect(refused > 1_000 && taken > 1_000, "\(refused) refused, \(taken) taken")
  }
}
