// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import PictureDecoding

/// The segments of a JPEG before its pixels.
package struct JPEGStructure {
  /// The size in pixels, before the orientation of EXIF is applied.
  package private(set) var size: PixelSize?
  package private(set) var isProgressive = false
  package private(set) var exif: TIFFDirectories?
  /// The smaller copies of the picture that follow it (CIPA DC-007), smallest first: their places in the file.
  package private(set) var previews: [(offset: Int, count: Int)] = []

  /// - Returns: nil if the bytes are no JPEG.
  package init?(_ view: ByteView) {
    guard view.byte(at: 0) == 0xFF, view.byte(at: 1) == 0xD8 else { return nil }
    var position = 2
    while let start = view.byte(at: position) {
      guard start == 0xFF, let marker = view.byte(at: position + 1) else { return }
      if marker == 0xFF {
        position += 1
        continue
      }
      if marker == 0x01 || (0xD0...0xD8).contains(marker) {
        position += 2
        continue
      }
      guard marker != 0xD9, let length = view.uint16(at: position + 2), length >= 2 else { return }
      let content = position + 4
      switch marker {
      case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
        guard let height = view.uint16(at: content + 1), let width = view.uint16(at: content + 3) else { return }
        if width > 0, height > 0 { size = PixelSize(width, height) }
        isProgressive = [0xC2, 0xC6, 0xCA, 0xCE].contains(marker)
        // Lossless JPEG is of RAW files, and no viewer shows it.
        if [0xC3, 0xC7, 0xCB, 0xCF].contains(marker) { size = nil }
        return
      case 0xDA: return
      case 0xE1 where exif == nil && view.holds("Exif\0\0", at: content):
        exif = view.part(at: content + 6, count: min(length - 8, max(0, view.count - content - 6)))
          .flatMap { TIFFDirectories($0) }
      case 0xE2 where view.holds("MPF\0", at: content):
        readPreviews(view, at: content + 4, count: length - 6)
      default: break
      }
      position += 2 + length
    }
  }

  /// Whether the bytes end before the end marker of the JPEG.
  package static func isCutOff(_ view: ByteView) -> Bool {
    guard let start = view.bytes.baseAddress, view.byte(at: 0) == 0xFF, view.byte(at: 1) == 0xD8 else { return false }
    var position = 2
    while position + 1 < view.count {
      // Between the markers of a scan is its compressed data, which has 0xFF only before 0.
      guard let next = memchr(start + position, 0xFF, view.count - position - 1) else { return true }
      position = UnsafeRawPointer(next) - start
      switch view.bytes[position + 1] {
      case 0xD9: return false
      case 0xFF: position += 1
      case 0x00, 0x01, 0xD0...0xD8: position += 2
      default:
        guard let length = view.uint16(at: position + 2), length >= 2 else { return true }
        position += 2 + length
      }
    }
    return true
  }

  private mutating func readPreviews(_ view: ByteView, at start: Int, count: Int) {
    guard let index = view.part(at: start, count: max(0, count)).flatMap({ TIFFDirectories($0) }),
      let entries = index.bytes(of: 0xB002, in: index.first)
    else { return }
    var found: [(kind: Int, offset: Int, count: Int)] = []
    for entry in 0..<min(entries.count / 16, 16) {
      guard let attributes = entries.uint32(at: 16 * entry, isLittle: index.isLittle),
        let count = entries.uint32(at: 16 * entry + 4, isLittle: index.isLittle),
        let offset = entries.uint32(at: 16 * entry + 8, isLittle: index.isLittle)
      else { return }
      let kind = attributes & 0xFF_FFFF
      // The large thumbnails: VGA and full HD.
      if kind == 0x1_0001 || kind == 0x1_0002, offset > 0 { found.append((kind, start + offset, count)) }
    }
    previews = found.sorted { $0.kind < $1.kind }.map { ($0.offset, $0.count) }
  }
}
