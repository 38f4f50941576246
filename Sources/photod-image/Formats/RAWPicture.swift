// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import Glibc
import ImageRecords
import PictureDecoding

/// The picture of a RAW file, for a request.
struct RAWPicture {
  /// The least pixels on the longer side of a preview. Some cameras embed one of 8 × 8.
  private static let leastSide = 160
  /// How many embedded JPEGs are looked at.
  private static let mostCandidates = 64

  let request: PictureRequest
  let file: LoadedFile

  /// A preview that the file has.
  private enum Preview {
    case jpeg(ByteView, PixelSize)
    case pixels(Pixels)

    var size: PixelSize {
      switch self {
      case .jpeg(_, let size): size
      case .pixels(let pixels): pixels.size
      }
    }
  }

  func embedded() throws(PictureError) -> MadePicture {
    let raw: OpenRAW
    do throws(PictureError) {
      raw = try OpenRAW(file.view)
    } catch {
      return try unknown(error)
    }
    try raw.size.check(request)
    let wanted = raw.size.rotated(orientation(raw)).scaled(to: request.frame)
    guard let preview = preview(raw, atLeast: wanted.longerSide) else {
      throw PictureError(.noEmbeddedPicture, "the RAW file has no preview")
    }
    return try picture(preview, raw)
  }

  func rendered() throws(PictureError) -> MadePicture {
    let raw: OpenRAW
    do throws(PictureError) {
      raw = try OpenRAW(file.view)
    } catch {
      // A camera that LibRaw does not know yet.
      guard error.failure != .outOfMemory, let made = try? unknown(error) else { throw error }
      return made
    }
    try raw.size.check(request)
    let orientation = orientation(raw)
    let wanted = raw.size.rotated(orientation).scaled(to: request.frame)
    // The previews of many cameras are a little smaller than the picture.
    let least = min(wanted.longerSide, raw.size.longerSide * 9 / 10)
    let preview = preview(raw, atLeast: least)
    if let preview, preview.size.longerSide >= least, let made = try? picture(preview, raw) { return made }
    do throws(PictureError) {
      let isHalfSize = raw.size.longerSide >= 2 * wanted.longerSide
      let whole = raw.isClosed ? try OpenRAW(file.view) : raw
      let pixels = try whole.develop(isHalfSize: isHalfSize)
      let target = pixels.size.rotated(orientation).scaled(to: request.frame).rotated(orientation)
      return try MadePicture(
        try pixels.converted(.standard, to: target), orientation: orientation, for: request)
    } catch {
      guard let preview, let made = try? picture(preview, raw) else { throw error }
      return made
    }
  }

  private func orientation(_ raw: OpenRAW) -> Int {
    request.orientation != 0 ? Int(request.orientation) : raw.orientation
  }

  /// The smallest preview with this many pixels on the longer side, else the largest.
  private func preview(_ raw: OpenRAW, atLeast least: Int) -> Preview? {
    var found: [Preview] = []
    if let chosen = raw.preview() { found.append(chosen) }
    if (found.first?.size.longerSide ?? 0) < least {
      found += Self.jpegs(in: file.view).filter { $0.size.longerSide <= raw.size.longerSide * 21 / 20 }
        // The tiles of a compressed DNG are JPEGs, too.
        .filter { Self.hasShape($0.size, of: raw.size) }
    }
    let useful = found.filter { $0.size.longerSide >= Self.leastSide }
      .sorted { $0.size.longerSide < $1.size.longerSide }
    return useful.first { $0.size.longerSide >= least } ?? useful.last
  }

  /// Whether a preview shows the picture, upright or not. The small ones of many cameras have bars.
  private static func hasShape(_ size: PixelSize, of full: PixelSize) -> Bool {
    let tolerance = size.longerSide <= 320 ? 0.2 : 0.1
    return size.hasShape(of: full, within: tolerance)
      || PixelSize(size.height, size.width).hasShape(of: full, within: tolerance)
  }

  private func picture(_ preview: Preview, _ raw: OpenRAW) throws(PictureError) -> MadePicture {
    let size = preview.size
    var (orientation, full) = (orientation(raw), raw.size)
    // Some cameras embed a preview that is upright already.
    if (size.width < size.height) != (full.width < full.height), size.width != size.height {
      full = PixelSize(full.height, full.width)
      orientation = 1
    }
    if case .jpeg(let view, _) = preview, size.longerSide <= 320, size.longerSide < full.longerSide,
      let made = try? EmbeddedThumbnail<Pixels>.picture(view, full: full, orientation: orientation, request)
    {
      return made
    }
    return try whole(preview, orientation: orientation, full: full)
  }

  /// - full: the size of the picture itself, before its rotation.
  private func whole(_ preview: Preview, orientation: Int, full: PixelSize) throws(PictureError) -> MadePicture {
    let target = preview.size.rotated(orientation).scaled(to: request.frame)
    let wanted = full.rotated(orientation).scaled(to: request.frame)
    let isDegraded = target.longerSide * 20 < wanted.longerSide * 19
    let pixels: Pixels
    switch preview {
    case .jpeg(let view, let size):
      try size.check(request)
      // A client waits for an immediate picture. libjpeg alone needs less than half of the time of libvips.
      if request.kind == .embedded, request.format != .png {
        do throws(PictureError) {
          let pixels = try RGBPixels.decode(view, at: target.rotated(orientation))
          let all = pixels.size.center(pixels.size)
          return try pixels.picture(of: all, orientation: orientation, isDegraded: isDegraded, for: request)
        } catch {
          // libvips shows colours that libjpeg alone can't show.
          guard error.failure == .unsupported else { throw error }
        }
      }
      pixels = try Pixels.decode(view, at: target.rotated(orientation))
    case .pixels(let stored): pixels = try stored.converted(.standard, to: target.rotated(orientation))
    }
    return try MadePicture(pixels, orientation: orientation, isDegraded: isDegraded, for: request)
  }

  /// The largest embedded JPEG of a file that LibRaw can't open.
  private func unknown(_ error: PictureError) throws(PictureError) -> MadePicture {
    guard error.failure != .outOfMemory else { throw error }
    let found = Self.jpegs(in: file.view).max { $0.size.longerSide < $1.size.longerSide }
    guard let found, found.size.longerSide >= Self.leastSide else {
      throw PictureError(request.kind == .embedded ? .noEmbeddedPicture : error.failure, error.message)
    }
    let orientation =
      request.orientation != 0 ? Int(request.orientation) : TIFFDirectories(file.view)?.orientation ?? 1
    return try whole(found, orientation: orientation, full: found.size)
  }

  /// The JPEGs within the file.
  private static func jpegs(in view: ByteView) -> [Preview] {
    guard let start = view.bytes.baseAddress else { return [] }
    var found: [Preview] = []
    var position = 0
    while position + 4 < view.count, found.count < mostCandidates {
      guard let next = memchr(start + position, 0xFF, view.count - position - 3) else { break }
      position = UnsafeRawPointer(next) - start
      if view.bytes[position + 1] == 0xD8, view.bytes[position + 2] == 0xFF,
        let part = view.part(at: position, count: view.count - position),
        let size = JPEGStructure(part)?.size, size.longerSide >= leastSide
      {
        found.append(.jpeg(part, size))
      }
      position += 1
    }
    return found
  }

  /// A file that LibRaw has opened.
  private final class OpenRAW {
    private let raw: OpaquePointer
    /// LibRaw refers to the bytes.
    private let view: ByteView
    /// Before its rotation.
    let size: PixelSize
    let orientation: Int
    /// Whether LibRaw has closed the file, which it does after damage in the preview.
    private(set) var isClosed = false

    init(_ view: ByteView) throws(PictureError) {
      var opened: OpaquePointer?
      var (width, height, orientation): (Int32, Int32, Int32) = (0, 0, 1)
      try PictureError.check(
        imagedecoders_raw_open(view.bytes.baseAddress, view.count, &opened, &width, &height, &orientation))
      guard let opened else { throw PictureError(.outOfMemory, "the file can't be opened") }
      raw = opened
      self.view = view
      size = PixelSize(Int(width), Int(height))
      self.orientation = Int(orientation)
    }

    deinit { imagedecoders_raw_close(raw) }

    /// The preview that LibRaw chooses.
    func preview() -> Preview? {
      var (jpeg, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
      var content = imagedecoders_pixels()
      let result = imagedecoders_raw_preview(raw, &jpeg, &count, &content)
      guard result == IMAGEDECODERS_DONE else {
        isClosed = result != IMAGEDECODERS_ABSENT
        return nil
      }
      guard let jpeg else { return .pixels(Pixels(content)) }
      let owner = DecoderMemory(jpeg)
      let view = ByteView(UnsafeRawBufferPointer(start: jpeg, count: count), owner: owner)
      guard let size = JPEGStructure(view)?.size else { return nil }
      return .jpeg(view, size)
    }

    func develop(isHalfSize: Bool) throws(PictureError) -> Pixels {
      var content = imagedecoders_pixels()
      try PictureError.check(imagedecoders_raw_develop(raw, isHalfSize ? 1 : 0, &content))
      return Pixels(content)
    }
  }

  private final class DecoderMemory {
    private let start: UnsafeMutablePointer<UInt8>

    init(_ start: UnsafeMutablePointer<UInt8>) { self.start = start }

    deinit { imagedecoders_free(start) }
  }
}
