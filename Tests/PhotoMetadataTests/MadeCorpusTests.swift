import Foundation
import PhotoMetadata
import PhotoModel
import Testing

/// Generated photos, compared with the manifest that their generator wrote.
@Suite struct MadeCorpusTests {
  /// One line of `manifest.jsonl`.
  private struct Truth: Decodable {
    var path: String
    var kind: String
    var width: Int
    var height: Int
    var make: String?
    var model: String?
    var orientation: Int?
    var fnumber: Double?
    var iso: Int?
    var focal: Double?
    var date: String?
    var subsec: String?
    var offset: String?
    var lens: String?
    var lat: Double?
    var lon: Double?
    var desc: String?
    var rating: Int?
    var keywords: [String]?
    var pair: String?
    var burst: String?

    var subtypes: MediaSubtypes {
      switch kind {
      case "screenshot": .screenshot
      case "live": .livePhoto
      // Their maker notes also have the identifier of a Live Photo.
      case "burst": [.burst, .livePhoto]
      case "pano": .panorama
      default: []
      }
    }
  }

  private static func truths() throws -> [Truth] {
    let manifest = try String(contentsOf: Fixtures.made.appendingPathComponent("gen/manifest.jsonl"), encoding: .utf8)
    return try manifest.split(separator: "\n").map { try JSONDecoder().decode(Truth.self, from: Data($0.utf8)) }
  }

  @Test func everyGeneratedPhotoHasExactlyTheFactsOfItsManifest() throws {
    var reader = MediaReader()
    let truths = try Self.truths()
    #expect(truths.count == 120)
    for truth in truths {
      let url = Fixtures.made.appendingPathComponent("gen").appendingPathComponent(truth.path)
      let facts = try facts(of: url, with: &reader)
      #expect(facts.failure == nil, "\(truth.path)")
      #expect(facts.mediaType == .image && facts.contentType == "image/jpeg", "\(truth.path)")
      let turned = (truth.orientation ?? 1) >= 5
      #expect(facts.pixelWidth == (turned ? truth.height : truth.width), "\(truth.path)")
      #expect(facts.pixelHeight == (turned ? truth.width : truth.height), "\(truth.path)")
      #expect(facts.orientation == truth.orientation, "\(truth.path)")
      #expect(facts.camera?.make == truth.make && facts.camera?.model == truth.model, "\(truth.path)")
      #expect(facts.camera?.lens == truth.lens, "\(truth.path)")
      #expect(facts.camera?.fNumber == truth.fnumber, "\(truth.path)")
      #expect(facts.camera?.iso == truth.iso, "\(truth.path)")
      #expect(facts.camera?.focalLengthMillimeters == truth.focal, "\(truth.path)")
      // The facts of a sidecar are only in the sidecar. A panorama's packet has a rating of no stars.
      let (isSidecar, isPanorama) = (truth.kind == "sidecar", truth.kind == "pano")
      #expect(facts.rating == (isSidecar ? nil : truth.rating ?? (isPanorama ? 0 : nil)), "\(truth.path)")
      #expect(facts.keywords == (isSidecar ? [] : truth.keywords ?? []), "\(truth.path)")
      // Without an offset in the file, GPS may tell one.
      let expected = date(truth)
      #expect(facts.creationDate?.localMicroseconds == expected?.localMicroseconds, "\(truth.path)")
      #expect(truth.offset == nil || facts.creationDate == expected, "\(truth.path)")
      #expect((facts.location == nil) == (truth.lat == nil), "\(truth.path)")
      if let location = facts.location, let latitude = truth.lat, let longitude = truth.lon {
        #expect(abs(location.latitude - latitude) < 1e-6 && abs(location.longitude - longitude) < 1e-6, "\(truth.path)")
        #expect(location.altitude != nil, "\(truth.path)")
      }
      let caption = truth.desc.flatMap { $0.hasPrefix("OLYMPUS") ? nil : $0 }
      #expect(facts.caption == caption, "\(truth.path)")
      #expect(facts.mediaSubtypes == truth.subtypes, "\(truth.path)")
      #expect(facts.burstIdentifier == truth.burst, "\(truth.path)")
      if let pair = truth.pair {
        #expect(facts.contentIdentifier == pair, "\(truth.path)")
        let film = url.deletingPathExtension().appendingPathExtension("MOV")
        if FileManager.default.fileExists(atPath: film.path) {
          #expect(try PhotoMetadataTests.facts(of: film, with: &reader).contentIdentifier == pair, "\(truth.path)")
        }
      }
    }
  }

  private func date(_ truth: Truth) -> PhotoDate? {
    guard let date = truth.date else { return nil }
    let (day, time) = (date.prefix(10).replacingOccurrences(of: ":", with: "-"), date.dropFirst(11))
    return PhotoDate(day + "T" + time + (truth.subsec.map { "." + $0 } ?? "") + (truth.offset ?? ""))
  }

  @Test func aGeneratedRAWFileIsRecognisedByItsName() throws {
    var reader = MediaReader()
    let url = Fixtures.made.appendingPathComponent("gen/2011/01/DSC_0000103.DNG")
    let facts = try facts(of: url, with: &reader)
    #expect(facts.contentType == "image/x-adobe-dng")
    #expect(facts.mediaSubtypes == [.raw])
    #expect(facts.failure == nil)
  }

  @Test(arguments: [("IMG_0001.mov", "video/quicktime"), ("VID_rotated.mp4", "video/mp4")])
  func videosHaveTheirType(name: String, contentType: String) throws {
    var reader = MediaReader()
    let facts = try facts(of: Fixtures.made.appendingPathComponent(name), with: &reader)
    #expect(facts.mediaType == .video)
    #expect(facts.contentType == contentType)
    #expect(facts.failure == nil)
  }
}
