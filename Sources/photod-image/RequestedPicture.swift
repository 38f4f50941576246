// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// Makes the picture of a request.
struct RequestedPicture {
  /// A progressive JPEG is kept in memory as a whole while it is decoded.
  private static let mostProgressivePixels = 100_000_000

  let request: PictureRequest
  let descriptor: Int32

  func make() throws(PictureError) -> MadePicture {
    let head = try LoadedFile(
      descriptor: descriptor, most: request.kind == .embedded ? EmbeddedThumbnail<Pixels>.headBytes : nil)
    let content = try PictureContent(head.view, contentType: request.contentType)
    switch request.kind {
    case .embedded: return try embedded(content, head)
    case .rendered: return try rendered(content, head)
    }
  }

  private func embedded(_ content: PictureContent, _ head: LoadedFile) throws(PictureError) -> MadePicture {
    switch content {
    case .jpeg: return try EmbeddedThumbnail<Pixels>(request: request, descriptor: descriptor).make(head)
    case .heif: return try HEIFPicture(request: request, file: try whole(head)).embedded()
    case .raw: return try RAWPicture(request: request, file: try whole(head)).embedded()
    case .photoshop: return try PhotoshopPicture(request: request, file: try whole(head)).embedded()
    case .plain, .tiff, .jpeg2000, .jpegXL, .bitmap:
      throw PictureError(.noEmbeddedPicture, "files of this format have no embedded picture")
    }
  }

  private func rendered(_ content: PictureContent, _ file: LoadedFile) throws(PictureError) -> MadePicture {
    switch content {
    case .jpeg, .plain, .tiff: return try plain(file.view)
    case .jpeg2000:
      guard JPEG2000Structure(file.view)?.isFullySampled != false else {
        throw PictureError(.unsupported, "a JPEG 2000 whose first component is subsampled is not supported")
      }
      return try plain(file.view)
    case .heif: return try HEIFPicture(request: request, file: file).rendered()
    case .photoshop: return try PhotoshopPicture(request: request, file: file).rendered()
    case .bitmap: return try BitmapPicture(request: request, view: file.view).rendered()
    case .jpegXL: return try jpegXL(file.view)
    case .raw:
      do throws(PictureError) {
        return try RAWPicture(request: request, file: file).rendered()
      } catch {
        // The file may be a TIFF with the extension of a RAW format.
        guard error.failure == .unsupported, let tiff = TIFFDirectories(file.view), tiff.magic == 42 else {
          throw error
        }
        return try plain(file.view)
      }
    }
  }

  /// The whole file for its embedded picture, which is a small part of it.
  private func whole(_ head: LoadedFile) throws(PictureError) -> LoadedFile {
    head.isWhole ? head : try LoadedFile(descriptor: descriptor, usesPart: true)
  }

  /// A picture that libvips reads.
  private func plain(_ view: ByteView) throws(PictureError) -> MadePicture {
    // A JPEG whose header promises too much is refused before any library sees it.
    let jpeg = JPEGStructure(view)
    if let size = jpeg?.size { try size.check(request) }
    var header = imagedecoders_header()
    try PictureError.check(imagedecoders_read_header(view.bytes.baseAddress, view.count, &header))
    let stored = PixelSize(Int(header.width), Int(header.height))
    try stored.check(request)
    if header.has_several_scans != 0 || jpeg?.isProgressive == true,
      stored.width * stored.height > Self.mostProgressivePixels
    {
      throw PictureError(
        .tooLarge, "a progressive JPEG of \(stored.width) × \(stored.height) pixels needs too much memory")
    }
    let orientation = request.orientation != 0 ? Int(request.orientation) : min(8, max(1, Int(header.orientation)))
    let target = stored.rotated(orientation).scaled(to: request.frame)
    let pixels = try Pixels.decode(view, at: target.rotated(orientation))
    return try MadePicture(pixels, orientation: orientation, for: request)
  }

  private func jpegXL(_ view: ByteView) throws(PictureError) -> MadePicture {
    var (width, height): (Int32, Int32) = (0, 0)
    try PictureError.check(imagedecoders_jxl_size(view.bytes.baseAddress, view.count, &width, &height))
    let size = PixelSize(Int(width), Int(height))
    try size.check(request)
    var (content, colors) = (imagedecoders_pixels(), imagedecoders_colors())
    try PictureError.check(imagedecoders_jxl_decode(view.bytes.baseAddress, view.count, &content, &colors))
    let (pixels, meaning) = (Pixels(content), ColorMeaning(colors))
    return try MadePicture(try pixels.converted(meaning, to: pixels.size.scaled(to: request.frame)), for: request)
  }
}
