// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// Makes the picture for a request from a Photoshop file. Photoshop writes the flattened picture after the layers, so
/// that other programs need not combine them.
struct PhotoshopPicture {
  let request: PictureRequest
  let file: LoadedFile

  private struct Header {
    var size: PixelSize
    var channels: Int
    var depth: Int
    var mode: Int
    /// A file of the large variant (PSB) has 32 bits where others have 16.
    var isLarge: Bool
    var palette: ByteView
    var profile: ByteView?
    var thumbnail: ByteView?
    /// Whether the channel after the colours is the transparency.
    var hasTransparency = false
    /// Whether the flattened picture was written.
    var hasPicture = true
    /// The offset of the flattened picture.
    var start: Int
  }

  private static let damaged = PictureError(.unreadable, "the Photoshop file is cut off")

  func embedded() throws(PictureError) -> MadePicture {
    let header = try read()
    guard let thumbnail = header.thumbnail else {
      throw PictureError(.noEmbeddedPicture, "the Photoshop file has no thumbnail")
    }
    return try EmbeddedThumbnail<Pixels>.picture(thumbnail, full: header.size, orientation: orientation, request)
  }

  func rendered() throws(PictureError) -> MadePicture {
    let header = try read()
    try header.size.check(request)
    do throws(PictureError) {
      guard header.hasPicture else {
        throw PictureError(.unsupported, "the Photoshop file was saved without its flattened picture")
      }
      let pixels = try decode(header)
      let colors = header.profile.map { ColorMeaning.profile($0) } ?? .standard
      let target = pixels.size.rotated(orientation).scaled(to: request.frame).rotated(orientation)
      return try MadePicture(try pixels.converted(colors, to: target), orientation: orientation, for: request)
    } catch {
      guard error.failure == .unsupported, header.thumbnail != nil, let made = try? embedded() else { throw error }
      return made
    }
  }

  private var orientation: Int { max(1, Int(request.orientation)) }

  private func read() throws(PictureError) -> Header {
    let view = file.view
    guard view.holds("8BPS"), let version = view.uint16(at: 4), let channels = view.uint16(at: 12),
      let height = view.uint32(at: 14), let width = view.uint32(at: 18), let depth = view.uint16(at: 22),
      let mode = view.uint16(at: 24), let paletteBytes = view.uint32(at: 26),
      let palette = view.part(at: 30, count: paletteBytes),
      let resourceBytes = view.uint32(at: 30 + paletteBytes), width > 0, height > 0
    else { throw Self.damaged }
    let resources = 34 + paletteBytes
    let layers = resources + resourceBytes
    let isLarge = version == 2
    let lengthBytes = isLarge ? 8 : 4
    guard let layerBytes = view.number(at: layers, bytes: lengthBytes), layerBytes < view.count else {
      throw Self.damaged
    }
    var header = Header(
      size: PixelSize(width, height), channels: channels, depth: depth, mode: mode, isLarge: isLarge, palette: palette,
      start: layers + lengthBytes + layerBytes)
    readResources(resources..<layers, &header)
    // A negative number of layers means that the first channel after the colours is the transparency.
    if layerBytes > 0, let count = view.uint16(at: layers + 2 * lengthBytes) { header.hasTransparency = count > 0x7FFF }
    return header
  }

  private func readResources(_ range: Range<Int>, _ header: inout Header) {
    let view = file.view
    var position = range.lowerBound
    while position + 12 <= range.upperBound, view.holds("8BIM", at: position), let id = view.uint16(at: position + 4),
      let nameBytes = view.byte(at: position + 6)
    {
      let sizeAt = position + 6 + (nameBytes + 2) / 2 * 2
      guard let count = view.uint32(at: sizeAt), let part = view.part(at: sizeAt + 4, count: count) else { return }
      switch id {
      case 1039: header.profile = part
      case 1036: header.thumbnail = part.uint32(at: 0) == 1 ? part.part(at: 28, count: max(0, count - 28)) : nil
      case 1057: header.hasPicture = part.byte(at: 4) != 0
      default: break
      }
      position = sizeAt + 4 + (count + 1) / 2 * 2
    }
  }

  private func decode(_ header: Header) throws(PictureError) -> Pixels {
    let (model, colors): (imagedecoders_model, Int)
    switch header.mode {
    case 0, 1, 8: (model, colors) = (IMAGEDECODERS_GREY, 1)
    case 2: (model, colors) = (IMAGEDECODERS_RGB, 1)
    case 3: (model, colors) = (IMAGEDECODERS_RGB, 3)
    case 4: (model, colors) = (IMAGEDECODERS_CMYK, 4)
    default: throw PictureError(.unsupported, "the colours of this Photoshop file are not supported")
    }
    guard [1, 8, 16].contains(header.depth), (header.depth == 1) == (header.mode == 0) else {
      throw PictureError(.unsupported, "a Photoshop file with \(header.depth) bits is not supported")
    }
    guard header.channels >= colors, header.channels <= 56 else { throw Self.damaged }
    guard header.mode != 2 || header.palette.count >= 768 else { throw Self.damaged }
    let hasAlpha = header.hasTransparency && header.channels > colors && (header.mode == 3 || header.mode == 1)
    let used = hasAlpha ? colors + 1 : colors
    let whole = hasAlpha ? (header.mode == 3 ? IMAGEDECODERS_RGBA : IMAGEDECODERS_GREY_ALPHA) : model
    let pixels = try Pixels.allocate(header.size, whole)
    var rows = try PhotoshopRows(
      file.view, at: header.start, size: header.size, channels: header.channels, depth: header.depth,
      isLarge: header.isLarge)
    let (target, width) = (pixels.bytes, header.size.width)
    let bands = target.count / (width * header.size.height)
    for channel in 0..<used {
      for y in 0..<header.size.height {
        let row = try rows.next()
        var place = y * width * bands + channel
        for x in 0..<width {
          switch header.mode {
          case 0: target[place] = row[x / 8] & (0x80 >> UInt8(x % 8)) == 0 ? 255 : 0
          case 2:
            let index = Int(row[x])
            for band in 0..<3 { target[place + band] = header.palette.bytes[256 * band + index] }
          // Photoshop stores CMYK inverted: 255 is no ink.
          case 4: target[place] = 255 - row[header.depth == 16 ? 2 * x : x]
          default: target[place] = row[header.depth == 16 ? 2 * x : x]
          }
          place += bands
        }
      }
    }
    return pixels
  }
}

/// Reads the rows of the flattened picture one after another: all rows of the first channel, then those of the next.
struct PhotoshopRows {
  private let view: ByteView
  private let isPacked: Bool
  private let countBytes: Int
  /// The offset of the packed size of the next row.
  private var countAt: Int
  private var position: Int
  private var row: [UInt8]

  init(
    _ view: ByteView, at start: Int, size: PixelSize, channels: Int, depth: Int, isLarge: Bool
  ) throws(PictureError) {
    guard let compression = view.uint16(at: start) else { throw Self.damaged }
    guard compression <= 1 else {
      throw PictureError(.unsupported, "compression \(compression) of Photoshop is not supported")
    }
    self.view = view
    isPacked = compression == 1
    countBytes = isLarge ? 4 : 2
    countAt = start + 2
    position = start + 2 + (isPacked ? countBytes * size.height * channels : 0)
    row = [UInt8](repeating: 0, count: (size.width * depth + 7) / 8)
  }

  private static let damaged = PictureError(.unreadable, "the pixels of the Photoshop file are cut off")

  mutating func next() throws(PictureError) -> [UInt8] {
    guard isPacked else {
      guard let part = view.part(at: position, count: row.count) else { throw Self.damaged }
      row.withUnsafeMutableBytes { $0.copyMemory(from: part.bytes) }
      position += row.count
      return row
    }
    guard let count = view.number(at: countAt, bytes: countBytes), let part = view.part(at: position, count: count)
    else { throw Self.damaged }
    countAt += countBytes
    position += count
    unpack(part.bytes)
    return row
  }

  /// Unpacks a row, which is packed as by PackBits of TIFF. If the packed bytes are too few, the end of the row keeps
  /// the bytes of the row before.
  private mutating func unpack(_ packed: UnsafeRawBufferPointer) {
    var (source, target) = (0, 0)
    while source < packed.count, target < row.count {
      let code = Int(Int8(bitPattern: packed[source]))
      source += 1
      if code >= 0 {
        let count = min(code + 1, packed.count - source, row.count - target)
        for index in 0..<max(0, count) { row[target + index] = packed[source + index] }
        (source, target) = (source + code + 1, target + code + 1)
      } else if code != -128 {
        guard source < packed.count else { return }
        for index in target..<min(row.count, target + 1 - code) { row[index] = packed[source] }
        (source, target) = (source + 1, target + 1 - code)
      }
    }
  }
}
