// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords
import PictureDecoding

/// The thumbnail of a JPEG, or its larger preview (MPF), for a request.
package struct EmbeddedThumbnail<Pixels: EmbeddedPixels> {
  /// The beginning of a JPEG has its thumbnail, and nearly always its size.
  package static var headBytes: Int { 256 << 10 }
  /// EXIF thumbnails are 160 pixels wide. For a larger frame than this, a preview is better, and still fast.
  private static var largestFrameOfThumbnail: Int { 320 }
  /// The least pixels on the longer side of a useful picture.
  package static var leastSide: Int { 64 }

  let request: PictureRequest
  let descriptor: Int32

  package init(request: PictureRequest, descriptor: Int32) {
    self.request = request
    self.descriptor = descriptor
  }

  /// - Parameter head: the first ``headBytes`` of the file.
  package func make(_ head: LoadedFile) throws(PictureError) -> MadePicture {
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
      if let view = sufficient ?? views.last {
        do throws(PictureError) {
          return try Self.picture(view, full: full, orientation: orientation, request)
        } catch {
          // Another program can show these colours. A damaged preview is none.
          guard error.failure != .unsupported else { throw error }
        }
      }
    }
    guard let thumbnail else { throw PictureError(.noEmbeddedPicture, "the JPEG has no thumbnail") }
    return try Self.picture(thumbnail, full: full, orientation: orientation, request)
  }

  /// Decodes an embedded JPEG, and cuts off the bars that a camera adds if the picture has another shape.
  ///
  /// - full: the size of the picture itself, before its rotation.
  package static func picture(
    _ view: ByteView, full: PixelSize, orientation: Int, _ request: PictureRequest
  ) throws(PictureError) -> MadePicture {
    guard let size = JPEGStructure(view)?.size, size.longerSide >= leastSide, size.longerSide <= full.longerSide else {
      throw PictureError(.noEmbeddedPicture, "the embedded picture is too small")
    }
    try size.check(request)
    // The frame is for the picture without its bars.
    let shown = visible(size, full)
    let target = shown.rotated(orientation).scaled(to: request.frame).rotated(orientation)
    let scale = Double(target.longerSide) / Double(shown.longerSide)
    let decoded = PixelSize(
      max(target.width, Int((Double(size.width) * scale).rounded())),
      max(target.height, Int((Double(size.height) * scale).rounded())))
    let pixels: Pixels
    do throws(PictureError) {
      pixels = try Pixels.decode(view, at: PixelSize(min(decoded.width, size.width), min(decoded.height, size.height)))
    } catch {
      guard error.failure != .unsupported else { throw error }
      throw PictureError(.noEmbeddedPicture, "the embedded picture is damaged: \(error.message)")
    }
    let area = pixels.size.center(target)
    guard isOnlyBars(pixels, outside: area) else {
      throw PictureError(.noEmbeddedPicture, "the embedded picture has another shape than the picture")
    }
    let wanted = full.rotated(orientation).scaled(to: request.frame)
    return try pixels.picture(
      of: area, orientation: orientation, isDegraded: target.longerSide + 1 < wanted.longerSide, for: request)
  }

  /// The size of the centered part of an embedded picture that has the shape of the picture itself.
  private static func visible(_ size: PixelSize, _ full: PixelSize) -> PixelSize {
    var (width, height) = (size.width, size.height)
    if size.aspect > full.aspect {
      width = min(width, max(1, Int((Double(height) * full.aspect).rounded())))
    } else {
      height = min(height, max(1, Int((Double(width) / full.aspect).rounded())))
    }
    return PixelSize(width, height)
  }

  /// A thumbnail that differs by more than a rounding is of another picture, unless what is cut off is black.
  private static func isOnlyBars(_ pixels: Pixels, outside area: PixelArea) -> Bool {
    let size = pixels.size
    let (left, top) = (area.left, area.top)
    guard left * 20 > size.width || top * 20 > size.height else { return true }
    let (bytes, bands) = (pixels.bytes, pixels.bandCount)
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
