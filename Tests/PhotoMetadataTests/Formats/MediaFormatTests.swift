import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

@Suite struct MediaFormatTests {
  @Test func extensionsAreRecognisedInAnyCase() {
    for ending in MediaFormat.extensions {
      #expect(MediaFormat.promised(byName: "IMG 1.\(ending)".utf8) != nil)
      #expect(MediaFormat.promised(byName: "IMG.1.\(ending.uppercased())".utf8) != nil)
      #expect(ending == ending.lowercased())
    }
    #expect(Set(MediaFormat.extensions).count == MediaFormat.extensions.count)
    #expect(MediaFormat.promised(byName: "a.JPG".utf8)?.contentType == "image/jpeg")
    #expect(MediaFormat.promised(byName: "a.m2ts".utf8)?.mediaType == .video)
    #expect(MediaFormat.promised(byName: "a.CR3".utf8)?.isRAW == true)
    #expect(MediaFormat.promised(byName: Array("\u{FF}.jpeg".utf8))?.isRAW == false)
  }

  @Test(arguments: ["a.xmp", "a.aae", "a.txt", "jpg", ".jpg", "a.jpg.xmp", "a.", "", "a.jpg~", "a.jpeggjpegg", "a jpg"])
  func otherNamesAreNoAssets(name: String) {
    #expect(MediaFormat.promised(byName: name.utf8) == nil)
  }

  @Test(arguments: [
    ("Screenshot_20240101-101010.png", true), ("Screenshot from 2024-01-01 10-10-10.png", true),
    ("Screen Shot 2020-01-01 at 10.10.10.png", true), ("screenshot.png", true), ("Bildschirmfoto vom 2024.png", true),
    ("Capture d’écran 2024.png", true), ("Screenshots of the game.png", false), ("IMG_0001.png", false),
    ("My Screenshot.png", false),
  ])
  func screenshotsAreRecognisedByTheirNames(name: String, isOne: Bool) throws {
    let facts = try facts(of: Samples.png(width: 3, height: 2), name: name)
    #expect(facts.mediaSubtypes == (isOne ? [.screenshot] : []))
  }
}
