// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import ImageRecords
import PictureDecoding

/// The thumbnail of a JPEG, or its larger preview (MPF), for a request.
struct EmbeddedThumbnail {
  /// EXIF thumbnails are 160 pixels wide. For a larger frame than this, a preview is better, and still fast.
  private static let largestFrameOfThumbnail = 320
  /// The least pixels on the longer side of a useful picture.
  static let leastSide = 64

  let request: PictureRequest
  let descriptor: Int32

  func make(_ head: LoadedFile) throws(PictureError) -> MadePicture {
    var head = head
    var structure = JPEGStructure(head.view)
    if structure?.size == nil, !head.isWhole {
      head = try LoadedFile(descriptor: descriptor, usesPart: true)
      structure = JPEGStructure(head.view)
    }
    guard let structure, let full = structure.size else { throw PictureError(.unreadable, "the JPEG has no size") }
    let orientation = request.orientation != 0 ? Int(request.orientation) : structure.exif?.orientation ?? 1
    let target = full.rotated(orientation).scaled(to: request.frame)
    let thumbnail = structure.exif?.thumbnail
    if target.longerSide > Self.largestFrameOfThumbnail || thumbnail == nil, !structure.previews.isEmpty {
      let whole = head.isWhole ? head : try LoadedFile(descriptor: descriptor, usesPart: true)
      let views = structure.previews.compactMap { whole.view.part(at: $0.offset, count: $0.count) }
      let sufficient = views.first { (JPEGStructure($0)?.size?.longerSide ?? 0) >= target.longerSide }
      if let view = sufficient ?? views.last,
        let made = try? Self.picture(view, full: full, orientation: orientation, request)
      {
        return made
      }
    }
    guard let thumbnail else { throw PictureError(.noEmbeddedPicture, "the JPEG has no thumbnail") }
    return try Self.picture(thumbnail, full: full, orientation: orientation, request)
  }

  /// Decodes an embedded JPEG, and cuts off the bars that a camera adds if the picture has another shape.
  ///
  /// - full: the size of the picture itself, before its rotation.
  static func picture(
    _ view: ByteView, full: PixelSize, orientation: Int, _ request: PictureRequest
  ) throws(PictureError) -> MadePicture {
    guard let size = JPEGStructure(view)?.size, size.longerSide >= leastSide, size.longerSide <= full.longerSide else {
      throw PictureError(.noEmbeddedPicture, "the embedded picture is too small")
    }
    try size.check(request)
    // The frame is for the picture without its bars.
    let shape = visible(size, full)
    let shown = PixelSize(Int(shape.width), Int(shape.height))
    let target = shown.rotated(orientation).scaled(to: request.frame).rotated(orientation)
    let scale = Double(target.longerSide) / Double(shown.longerSide)
    let decoded = PixelSize(
      max(target.width, Int((Double(size.width) * scale).rounded())),
      max(target.height, Int((Double(size.height) * scale).rounded())))
    let pixels: Pixels
    do throws(PictureError) {
      pixels = try Pixels.decode(view, at: PixelSize(min(decoded.width, size.width), min(decoded.height, size.height)))
    } catch {
      throw PictureError(.noEmbeddedPicture, "the embedded picture is damaged: \(error.message)")
    }
    let area = imagedecoders_area(
      left: Int32((pixels.size.width - target.width) / 2), top: Int32((pixels.size.height - target.height) / 2),
      width: Int32(target.width), height: Int32(target.height))
    guard isOnlyBars(pixels, outside: area) else {
      throw PictureError(.noEmbeddedPicture, "the embedded picture has another shape than the picture")
    }
    let wanted = full.rotated(orientation).scaled(to: request.frame)
    return try MadePicture(
      pixels, area: area, orientation: orientation, isDegraded: target.longerSide + 1 < wanted.longerSide, for: request)
  }

  /// The centered part of an embedded picture that has the shape of the picture itself.
  private static func visible(_ size: PixelSize, _ full: PixelSize) -> imagedecoders_area {
    var (width, height) = (size.width, size.height)
    if size.aspect > full.aspect {
      width = min(width, max(1, Int((Double(height) * full.aspect).rounded())))
    } else {
      height = min(height, max(1, Int((Double(width) / full.aspect).rounded())))
    }
    return imagedecoders_area(
      left: Int32((size.width - width) / 2), top: Int32((size.height - height) / 2), width: Int32(width),
      height: Int32(height))
  }

  /// A thumbnail that differs by more than a rounding is of another picture, unless what is cut off is black.
  private static func isOnlyBars(_ pixels: Pixels, outside area: imagedecoders_area) -> Bool {
    let size = pixels.size
    let (left, top) = (Int(area.left), Int(area.top))
    guard left * 20 > size.width || top * 20 > size.height else { return true }
    let (bytes, bands) = (pixels.bytes, Int(pixels.content.model.rawValue))
    var (sum, count) = (0, 0)
    // The border of a bar is blurred.
    let rows = top - 2..<size.height - top + 2
    let columns = left - 2..<size.width - left + 2
    for y in 0..<size.height {
      for x in 0..<size.width where !rows.contains(y) || !columns.contains(x) {
        sum += Int(bytes[(y * size.width + x) * bands + 1])
        count += 1
      }
    }
    if count == 0 || sum < 32 * count { return true }
    // A crop of the shape that cameras use: 4:3 thumbnails of 3:2 pictures.
    return left * 16 <= size.width && top * 16 <= size.height
  }
}
