@testable import PhotoImages

// The shared thumbnails, which other programs write. photod itself reads their size and their texts.

extension FuzzTarget {
  static let thumbnail = FuzzTarget(
    name: "thumbnail", endings: ["png", "jpg"],
    seeds: [
      PNGChunks.signature + PNGChunks.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0])
        + PNGChunks.chunk("tEXt", Array("Thumb::URI\0file:///a".utf8))
        + PNGChunks.chunk("tEXt", Array("Thumb::MTime\u{0}5".utf8))
        + PNGChunks.chunk("zTXt", Array("Software".utf8) + [0, 0, 0x78, 0x9C]) + PNGChunks.chunk("IDAT", [1])
        + PNGChunks.chunk("IEND", [])
    ],
    run: { input in
      let bytes = Array(input)
      if let header = PictureHeader(bytes[...]) {
        require((1...65_535).contains(header.size.width) && (1...65_535).contains(header.size.height), "a size")
      }
      _ = ThumbnailFacts(bytes)
      guard let replaced = PNGChunks.replacing(bytes, with: [("Thumb::URI", "file:///b"), ("Thumb::MTime", "7")]) else {
        return
      }
      require(
        PNGChunks.texts(in: replaced) == ["Thumb::URI": .plain("file:///b"), "Thumb::MTime": .plain("7")],
        "the texts were not replaced")
      require(PNGChunks.texts(in: replaced).count == 2 && ThumbnailFacts(replaced)?.uri == "file:///b", "the facts")
    })
}
