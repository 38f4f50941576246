import ExtractRecords
import Foundation
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// The subtypes of pictures: on real photos, and by each of their marks alone.
@Suite struct SubtypeTests {
  @Test(
    .enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"),
    arguments: [
      ("_made/IMG_0001.jpg", .livePhoto), ("immich-app__test-assets/formats/heic/IMG_2682.heic", .hdr),
      ("ianare__exif-samples/heic/mobile/iphone_13_pro_max.HEIC", .hdr),
      ("bep__imagemeta/testdata/images/iphone.heic", [.livePhoto, .hdr]),
      ("google__libultrahdr/tests/data/apple_gainmap_new.jpg", .hdr),
      ("google__libultrahdr/tests/data/apple_gainmap_old.jpg", .hdr),
      ("immich-app__test-assets/formats/motionphoto/samsung-one-ui-6.heic", .motionPhoto),
      ("mindeng__nom-exif/testdata/motion_photo_pixel_synth.jpg", .motionPhoto),
      ("_made/MVIMG_20190216_125541.jpg", .motionPhoto), ("_made/PXL_20220216_125541000.MP.jpg", .motionPhoto),
      ("_made/gen/2019/04/DSC00000037.jpg", .panorama), ("_made/gen/2018/06/IMG_0000070.jpg", [.burst, .livePhoto]),
      ("exiftool__exiftool/t/images/Google.jpg", .hdr),
      ("link-u__avif-sample-images/star-8bpc.avifs", .animated), ("exiftool__exiftool/t/images/CanonRaw.cr3", .raw),
      ("link-u__avif-sample-images/kimono.avif", []), ("strukturag__libheif/examples/example.heic", []),
      ("_made/IMG_0001.mov", []),
    ] as [(String, MediaSubtypes)])
  func subtypesOfRealPhotos(path: String, subtypes: MediaSubtypes) throws {
    var reader = MediaReader()
    let facts = try facts(of: try #require(Fixtures.photos).appendingPathComponent(path), with: &reader)
    #expect(facts.mediaSubtypes == subtypes)
  }

  @Test(.enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"))
  func theStillAndTheFilmOfALivePhotoShareAnIdentifier() throws {
    let photos = try #require(Fixtures.photos)
    var reader = MediaReader()
    let still = try facts(of: photos.appendingPathComponent("_made/IMG_0001.jpg"), with: &reader)
    let film = try facts(of: photos.appendingPathComponent("_made/IMG_0001.mov"), with: &reader)
    #expect(still.contentIdentifier == "1B2C3D4E-5F60-4718-92A3-B4C5D6E7F809")
    #expect(film.contentIdentifier == still.contentIdentifier)
    let burst = try facts(of: photos.appendingPathComponent("_made/gen/2018/06/IMG_0000070.jpg"), with: &reader)
    #expect(burst.burstIdentifier == "2EE132C9-8BCC-457F-9D79-6C24F3E517BA")
  }

  // MARK: - Marks in XMP

  private static let names = """
    xmlns:GPano='http://ns.google.com/photos/1.0/panorama/' xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' \
    xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' xmlns:GDepth='http://ns.google.com/photos/1.0/depthmap/' \
    xmlns:Container='http://ns.google.com/photos/1.0/container/' xmlns:exif='http://ns.adobe.com/exif/1.0/' \
    xmlns:Item='http://ns.google.com/photos/1.0/container/item/'
    """

  private static func directory(_ item: String) -> String {
    """
    <Container:Directory><rdf:Seq>
    <rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic='Primary' Item:Mime='image/jpeg'/></rdf:li>
    <rdf:li rdf:parseType='Resource'>\(item)</rdf:li></rdf:Seq></Container:Directory>
    """
  }

  @Test(
    arguments: [
      ("GPano:ProjectionType='equirectangular'", "", .panorama), ("GPano:UsePanoramaViewer='True'", "", .panorama),
      ("GPano:ProjectionType='cylindrical' GPano:UsePanoramaViewer='False'", "", []),
      ("", "<GPano:ProjectionType>cylindrical</GPano:ProjectionType>", .panorama),
      ("GCamera:MotionPhoto='1'", "", .motionPhoto), ("GCamera:MicroVideo='1'", "", .motionPhoto),
      ("GCamera:MotionPhoto='0'", "", []), ("GCamera:BurstID='abc'", "", .burst),
      ("GCamera:SpecialTypeID='com.google.android.apps.camera.gallery.specialtype.SpecialType-PORTRAIT'", "", .depth),
      ("hdrgm:Version='1.0'", "", .hdr), ("GDepth:Format='RangeInverse'", "", .depth),
      ("", directory("<Container:Item Item:Semantic='MotionPhoto' Item:Length='5'/>"), .motionPhoto),
      ("", directory("<Container:Item Item:Semantic='GainMap' Item:Length='5'/>"), .hdr),
      (
        "",
        directory(
          "<Container:Item rdf:parseType='Resource'><Item:Semantic>MotionPhoto</Item:Semantic></Container:Item>"),
        .motionPhoto
      ),
      (
        "", "<exif:UserComment><rdf:Alt><rdf:li xml:lang='x-default'>Screenshot</rdf:li></rdf:Alt></exif:UserComment>",
        .screenshot
      ),
      ("xmp:Rating='3'", directory("<Container:Item Item:Semantic='Original'/>"), []),
    ] as [(String, String, MediaSubtypes)])
  func xmpPropertiesDetermineTheSubtype(attributes: String, properties: String, subtypes: MediaSubtypes) throws {
    let packet = Written.packet(properties, attributes: Self.names + " " + attributes)
    let facts = try facts(of: Written.jpeg(xmp: packet))
    #expect(facts.mediaSubtypes == subtypes)
    #expect(facts.burstIdentifier == (subtypes == .burst ? "abc" : nil))
  }

  // MARK: - Marks in other blocks

  /// A maker note of Apple's, with entries of the tags 0x0A, 0x0B and 0x11.
  static func appleNote(hdr: Int, burst: String, identifier: String) -> [UInt8] {
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
      BoxSamples.big16(tag) + BoxSamples.big16(type) + Samples.big(count) + Samples.big(value)
    }
    let start = 16 + 36 + 4
    return Array("Apple iOS\0\0\u{1}MM".utf8) + BoxSamples.big16(3) + entry(0x0A, 9, 1, hdr)
      + entry(0x0B, 2, burst.utf8.count + 1, start)
      + entry(0x11, 2, identifier.utf8.count + 1, start + burst.utf8.count + 1)
      + Samples.big(0) + Array(burst.utf8) + [0] + Array(identifier.utf8) + [0]
  }

  @Test func applesMakerNoteIsRead() throws {
    let note = Self.appleNote(hdr: 3, burst: "E4BB7CCB-4A5F", identifier: "1B2C3D4E-5F60")
    let builder = ExifBuilder(main: [0x010F: .ascii("Apple")], exif: [0x927C: .bytes(note)])
    let facts = try facts(of: builder.jpeg())
    #expect(facts.contentIdentifier == "1B2C3D4E-5F60" && facts.burstIdentifier == "E4BB7CCB-4A5F")
    #expect(facts.mediaSubtypes == [.livePhoto, .burst, .hdr])
    // The note may be cut off, or claim anything.
    let scratch = try ScratchFile()
    for length in 0..<note.count {
      let cut = ExifBuilder(main: [0x010F: .ascii("Apple")], exif: [0x927C: .bytes(Array(note.prefix(length)))])
      #expect(try scratch.facts(cut.jpeg()).camera?.make == "Apple")
    }
    for index in note.indices {
      for byte: UInt8 in [0, 0x7F, 0xFF] {
        var changed = note
        changed[index] = byte
        let other = ExifBuilder(main: [0x010F: .ascii("Apple")], exif: [0x927C: .bytes(changed)])
        #expect(try scratch.facts(other.jpeg()).camera?.make == "Apple")
      }
    }
  }

  /// Data, a directory with one entry, its length, and the signature.
  static func samsungTrailer(kind: Int) -> [UInt8] {
    let data = Array("0\u{0}0MotionPhoto_Data".utf8)
    let directory =
      Array("SEFH".utf8) + Samples.little(106) + Samples.little(1) + [0, 0, UInt8(kind & 255), UInt8(kind >> 8)]
      + Samples.little(data.count) + Samples.little(data.count)
    return data + directory + Samples.little(directory.count) + Array("SEFT".utf8)
  }

  @Test func samsungsTrailerHasTheFilm() throws {
    for (make, kind, subtypes): (String, Int, MediaSubtypes) in [
      ("samsung", 0x0A30, .motionPhoto), ("SAMSUNG", 0x0A30, .motionPhoto), ("samsung", 0x0A01, []),
      ("Apple", 0x0A30, []),
    ] {
      let picture = ExifBuilder(main: [0x010F: .ascii(make)]).jpeg() + [UInt8](repeating: 1, count: 100_000)
      #expect(try facts(of: picture + Self.samsungTrailer(kind: kind)).mediaSubtypes == subtypes)
    }
    let scratch = try ScratchFile()
    let trailer = Self.samsungTrailer(kind: 0x0A30)
    for index in trailer.indices {
      var changed = trailer
      changed[index] = 0xFF
      let facts = try scratch.facts(ExifBuilder(main: [0x010F: .ascii("samsung")]).jpeg() + changed)
      #expect(facts.failure == nil)
    }
  }

  @Test func aGainMapSegmentIsHDR() throws {
    let segment = ExifBuilder.segment(
      0xE2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [UInt8](repeating: 0, count: 4))
    #expect(try facts(of: Written.jpeg([segment])).mediaSubtypes == [.hdr])
  }
}
