// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// The picture of a HEIC or AVIF file, for a request. The file describes its rotation itself, so the orientations of EXIF
/// and of the request do not turn it.
struct HEIFPicture {
  let request: PictureRequest
  let file: LoadedFile

  /// The thumbnail (`thmb`).
  func embedded() throws(PictureError) -> MadePicture {
    try open { (heif, full) throws(PictureError) in
      var (width, height): (Int32, Int32) = (0, 0)
      let wanted = full.scaled(to: request.frame).longerSide
      try PictureError.check(
        imagedecoders_heif_thumbnail(heif, Int32(clamping: wanted), &width, &height))
      let size = PixelSize(Int(width), Int(height))
      try size.check(request)
      guard size.longerSide >= EmbeddedThumbnail<Pixels>.leastSide, size.hasShape(of: full, within: 0.1) else {
        throw PictureError(.noEmbeddedPicture, "the thumbnail has another shape than the picture")
      }
      let (pixels, colors) = try decode(heif, isThumbnail: true)
      let target = pixels.size.scaled(to: request.frame)
      let isDegraded = target.longerSide + 1 < wanted
      return try MadePicture(try pixels.converted(colors, to: target), isDegraded: isDegraded, for: request)
    }
  }

  func rendered() throws(PictureError) -> MadePicture {
    try open { (heif, full) throws(PictureError) in
      try full.check(request)
      let (pixels, colors) = try decode(heif, isThumbnail: false)
      return try MadePicture(
        try pixels.converted(colors, to: pixels.size.scaled(to: request.frame)), for: request)
    }
  }

  private func decode(_ heif: OpaquePointer, isThumbnail: Bool) throws(PictureError) -> (Pixels, ColorMeaning) {
    var (content, colors) = (imagedecoders_pixels(), imagedecoders_colors())
    let isTurned = request.orientation > 1
    try PictureError.check(
      imagedecoders_heif_decode(heif, isThumbnail ? 1 : 0, isTurned ? 1 : 0, &content, &colors))
    return (Pixels(content), ColorMeaning(colors))
  }

  /// Opens the file, and passes it and the picture's size to `body`.
  ///
  /// libheif up to 1.16 refuses files of recent iPhones because of references that a decoder does not need. If it fails,
  /// the references from metadata (`cdsc`) are hidden, and then those from auxiliary pictures (`auxl`).
  private func open(
    _ body: (OpaquePointer, PixelSize) throws(PictureError) -> MadePicture
  ) throws(PictureError) -> MadePicture {
    var first: PictureError?
    for hidden: StaticString? in [nil, "cdsc", "auxl"] {
      if let hidden {
        guard hide(hidden) else { continue }
      }
      var heif: OpaquePointer?
      var (width, height): (Int32, Int32) = (0, 0)
      let view = file.view
      do throws(PictureError) {
        try PictureError.check(
          imagedecoders_heif_open(view.bytes.baseAddress, view.count, &heif, &width, &height))
        guard let heif else { throw PictureError(.outOfMemory, "the file can't be opened") }
        defer { imagedecoders_heif_close(heif) }
        return try body(heif, PixelSize(Int(width), Int(height)))
      } catch {
        guard error.failure == .unreadable || error.failure == .unsupported else { throw error }
        first = first ?? error
      }
    }
    throw first ?? PictureError(.unreadable, "the file can't be opened")
  }

  /// Gives references of this type another one, which libheif ignores.
  ///
  /// - Returns: whether there were any.
  private func hide(_ type: StaticString) -> Bool {
    let view = file.view
    guard let meta = box("meta", in: 0..<view.count), meta.count > 4,
      let references = box("iref", in: meta.lowerBound + 4..<meta.upperBound), references.count > 4
    else { return false }
    var wasFound = false
    forEachBox(in: references.lowerBound + 4..<references.upperBound) { start, _ in
      if view.holds(type, at: start + 4) {
        file.set(UInt8(ascii: "x"), at: start + 4)
        wasFound = true
      }
      return true
    }
    return wasFound
  }

  /// The content of the first box of this type.
  private func box(_ type: StaticString, in range: Range<Int>) -> Range<Int>? {
    var found: Range<Int>?
    forEachBox(in: range) { start, content in
      guard file.view.holds(type, at: start + 4) else { return true }
      found = content
      return false
    }
    return found
  }

  /// - Parameter body: gets the offset of a box and the range of its content, and returns whether to go on.
  private func forEachBox(in range: Range<Int>, _ body: (Int, Range<Int>) -> Bool) {
    let view = file.view
    var start = range.lowerBound
    while start + 8 <= range.upperBound, let size = view.uint32(at: start) {
      var (header, length) = (8, size)
      if size == 1 {
        guard let long = view.number(at: start + 8, bytes: 8) else { return }
        (header, length) = (16, long)
      } else if size == 0 {
        length = range.upperBound - start
      }
      guard length >= header, length <= range.upperBound - start else { return }
      guard body(start, start + header..<start + length) else { return }
      start += length
    }
  }
}
