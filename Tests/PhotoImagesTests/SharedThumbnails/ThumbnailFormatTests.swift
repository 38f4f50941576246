import CZlib
import Foundation
import Glibc
import PhotoModel
import TestTools
import Testing
import WatchRecords

@testable import PhotoImages

/// The names of shared thumbnails, and the texts in them.
@Suite struct ThumbnailFormatTests {
  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    (
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "57edf4a22be3c955ac49da2e2107b67a"
    ),
  ]) func digestsAreThoseOfTheStandard(text: String, digest: String) {
    #expect(MD5.hexadecimal(Array(text.utf8)) == digest)
  }

  @Test func theNameIsTheDigestOfTheURI() {
    let uri = ThumbnailURI(path: Array("/home/jens/photos/me.png".utf8))
    #expect(uri.text == "file:///home/jens/photos/me.png")
    #expect(uri.fileName == "c6ee772d9e49320e97ec29a7eb5b1697.png")
  }

  /// GLib's g_filename_to_uri prints this URI for this path.
  @Test func uriIsEscapedAsGLibDoes() {
    let path = Array("/a ;\"#%<>?[\\]^`{|}~!$&'()*+,-./:=@_Zz09ä".utf8) + [0xFF, 0x01, 0x7F]
    #expect(
      ThumbnailURI(path: path).text
        == "file:///a%20%3B%22%23%25%3C%3E%3F%5B%5C%5D%5E%60%7B%7C%7D~!$&'()*+,-./:=@_Zz09%C3%A4%FF%01%7F")
  }

  @Test func textsOfAnotherProgramAreRead() throws {
    let size = ImageFrame(width: 128, height: 85)
    let texts = [("Thumb::MTime", "1547660783.25"), ("Thumb::Size", "x"), ("Software", "Q")]
    let png = FakePNG.bytes(size, texts: texts + [("Thumb::URI", "file:///a")])
    let facts = try #require(ThumbnailFacts(png))
    #expect(facts.uri == "file:///a" && facts.modified == 1_547_660_783 && facts.byteCount == nil)
    #expect(facts.software == "Q" && facts.assetID == nil)
  }

  /// Qt compresses long texts. photod does not decompress them, so the name alone tells the file.
  @Test func compressedURIIsThatOfTheName() throws {
    let size = ImageFrame(width: 128, height: 85)
    let png = FakePNG.bytes(size, texts: [("Thumb::MTime", "5")])
    let compressed = PNGChunks.chunk("zTXt", Array("Thumb::URI".utf8) + [0, 0, 0x78, 0x9C, 1, 2, 3])
    let bytes = Array(png[..<33]) + compressed + png[33...]
    let facts = try #require(ThumbnailFacts(bytes))
    #expect(facts.uri == nil && facts.modified == 5)

    let root = try TemporaryFolder("thumbnails")
    let folder = ThumbnailFolder(path: root.path)
    let path = Array("/photos/a.jpg".utf8)
    mkdir("\(root.path)/normal", 0o700)
    let name = "\(root.path)/normal/\(ThumbnailURI(path: path).fileName)"
    try Data(bytes).write(to: URL(fileURLWithPath: name))
    #expect(folder.facts(.size(.normal), of: path) == facts)
    #expect(folder.facts(.size(.normal), of: Array("/photos/b.jpg".utf8)) == nil)
    // photod rewrites the URI when the photo moves.
    let moved = Array("/photos/c.jpg".utf8)
    #expect(try folder.move(.size(.normal), from: path, to: moved))
    #expect(folder.facts(.size(.normal), of: moved)?.uri == "file:///photos/c.jpg")
  }

  /// The time is short, so no program compresses it.
  @Test func compressedTimeIsNone() {
    let png = FakePNG.bytes(ImageFrame(width: 1, height: 1), texts: [("Thumb::URI", "file:///a")])
    let time = PNGChunks.chunk("zTXt", Array("Thumb::MTime".utf8) + [0, 0, 0x78, 0x9C, 1, 2, 3])
    #expect(ThumbnailFacts(Array(png[..<33]) + time + png[33...]) == nil)
  }

  @Test func damagedTextsAreNone() {
    let size = ImageFrame(width: 1, height: 1)
    let png = FakePNG.bytes(size, texts: [("Thumb::URI", "file:///a"), ("Thumb::MTime", "5")])
    #expect(ThumbnailFacts(png) != nil)
    for end in 0..<(png.count - 27) { #expect(ThumbnailFacts(Array(png[..<end])) == nil, "cut off at \(end)") }
    #expect(ThumbnailFacts(FakePNG.bytes(size, texts: [("Thumb::URI", "file:///a"), ("Thumb::MTime", "x")])) == nil)
  }

  @Test func replacedTextsKeepThePictureAndHaveRightChecksums() throws {
    let size = ImageFrame(width: 300, height: 200)
    let old = FakePNG.bytes(size, texts: [("Thumb::URI", "file:///old"), ("Comment", "c")])
    let texts = [("Thumb::URI", "file:///new"), ("Thumb::MTime", "7")]
    let new = try #require(PNGChunks.replacing(old, with: texts))
    #expect(new == FakePNG.bytes(size, texts: texts))
    #expect(PNGChunks.replacing(Array("GIF89a".utf8), with: texts) == nil)
    var position = 8
    while position < new.count {
      let length = new[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let body = Array(new[position + 4..<position + 8 + length])
      let sum = new[position + 8 + length..<position + 12 + length].reduce(0) { $0 << 8 | UInt($1) }
      #expect(crc32(0, body, uInt(body.count)) == sum)
      position += 12 + length
    }
    #expect(position == new.count)
  }

  @Test func factsSurviveTheirTexts() throws {
    let file = ImageFile(
      index: 0, path: [0x2F, 0xFF], contentType: "image/jpeg", byteCount: 12,
      modified: FileTime(nanoseconds: -1_500_000_000), kind: .photo)
    let asset = ImageAsset(
      id: 7, revision: "r", isAvailable: true, files: [file], pixelSize: ImageFrame(width: 30, height: 20))
    let facts = try #require(ThumbnailFacts(of: file, asset, software: "photod 1"))
    #expect(facts.modified == -2, "stat rounds down")
    let png = try #require(PNGChunks.replacing(FakePNG.bytes(.init(width: 1, height: 1)), with: facts.texts))
    #expect(ThumbnailFacts(png) == facts)
    #expect(facts.matches(file))
    var changed = file
    changed.byteCount = 13
    #expect(!facts.matches(changed))
    changed = file
    changed.modified = FileTime(nanoseconds: 5_000_000_000)
    #expect(!facts.matches(changed))
    changed.modified = nil
    #expect(ThumbnailFacts(of: changed, asset, software: "p") == nil)
  }

  @Test(
    arguments: [
      (3000, false, ["normal", "large", "x-large", "xx-large"]),
      (1024, false, ["normal", "large", "x-large", "xx-large"]),
      (512, false, ["normal", "large", "x-large"]), (128, false, ["normal"]), (100, false, []), (100, true, ["normal"]),
      (300, true, ["normal", "large", "x-large"]), (256, true, ["normal", "large"]),
      (2000, true, ["normal", "large", "x-large", "xx-large"]),
    ] as [(Int, Bool, [String])]) func nothingIsEnlarged(side: Int, isWhole: Bool, folders: [String])
  {
    let sizes = ThumbnailSize.sizes(of: ImageFrame(width: side / 2, height: side), isWholePhoto: isWhole)
    #expect(sizes.map(\.folder) == folders)
  }

  @Test func theQueueIsBounded() {
    var queue = ThumbnailQueue()
    for id in 0..<4 * ThumbnailQueue.mostPictures {
      queue.write(PictureKey(library: 7, assetID: AssetID(id), revision: 1, variant: 1))
      queue.write(.init(assetID: AssetID(id), revision: 1, file: 0))
    }
    #expect(queue.isFull && queue.take(mayDecode: false) != nil)
    queue.settle(0..<AssetID(ThumbnailQueue.mostAssets))
    queue.settle([-1])
    // All records are read instead of more assets than the queue holds.
    #expect((0..<256).allSatisfy { queue.take(mayDecode: true) == .readRecords(folder: $0) })
    var rest = 0
    while queue.take(mayDecode: true) != nil { rest += 1 }
    let mostPictures = ThumbnailQueue.mostPictures + ThumbnailQueue.mostPicturesUnderWay
    #expect(rest == mostPictures + ThumbnailQueue.mostFailures - 1)
    #expect(queue.isEmpty)
  }

  /// Caching looks whether the queue is full before it makes a picture, and other threads fill it meanwhile.
  @Test func picturesThatWereUnderWayWhenTheQueueBecameFullAreKept() {
    let threads = 8
    var queue = ThumbnailQueue()
    func key(_ id: Int) -> PictureKey { PictureKey(library: 7, assetID: AssetID(id), revision: 1, variant: 1) }
    for id in 1..<ThumbnailQueue.mostPictures { queue.write(key(id)) }
    #expect(!queue.isFull, "so each of the threads begins a picture")
    for id in 0..<threads { queue.write(key(ThumbnailQueue.mostPictures + id)) }
    #expect(queue.isFull)
    var taken: Set<ThumbnailQueue.Work> = []
    while let work = queue.take(mayDecode: true) { taken.insert(work) }
    #expect(taken == Set((1..<ThumbnailQueue.mostPictures + threads).map { .write(key($0)) }))
  }
}
