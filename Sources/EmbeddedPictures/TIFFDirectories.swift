// SPDX-License-Identifier: GPL-2.0-or-later

/// The directories of TIFF, as EXIF, MPF and most RAW formats use them.
package struct TIFFDirectories {
  package let view: ByteView
  package let isLittle: Bool
  /// 42, or another number of a RAW format.
  package let magic: Int
  /// The offset of the first directory.
  package let first: Int

  package init?(_ view: ByteView) {
    switch (view.byte(at: 0), view.byte(at: 1)) {
    case (0x49, 0x49): isLittle = true
    case (0x4D, 0x4D): isLittle = false
    default: return nil
    }
    guard let magic = view.uint16(at: 2, isLittle: isLittle), let first = view.uint32(at: 4, isLittle: isLittle) else {
      return nil
    }
    self.view = view
    self.magic = magic
    self.first = first
  }

  /// The offset of the entry with this tag.
  private func entry(of tag: Int, in directory: Int) -> Int? {
    guard let count = view.uint16(at: directory, isLittle: isLittle) else { return nil }
    for index in 0..<min(count, 512) {
      let offset = directory + 2 + 12 * index
      guard let found = view.uint16(at: offset, isLittle: isLittle) else { return nil }
      if found == tag { return offset }
    }
    return nil
  }

  /// The value of an entry with one number, or the first bytes of another.
  package func value(of tag: Int, in directory: Int) -> Int? {
    guard let offset = entry(of: tag, in: directory), let type = view.uint16(at: offset + 2, isLittle: isLittle) else {
      return nil
    }
    return type == 3
      ? view.uint16(at: offset + 8, isLittle: isLittle) : view.uint32(at: offset + 8, isLittle: isLittle)
  }

  /// The bytes of an entry of type UNDEFINED.
  package func bytes(of tag: Int, in directory: Int) -> ByteView? {
    guard let offset = entry(of: tag, in: directory), let count = view.uint32(at: offset + 4, isLittle: isLittle) else {
      return nil
    }
    guard count > 4 else { return view.part(at: offset + 8, count: count) }
    return view.uint32(at: offset + 8, isLittle: isLittle).flatMap { view.part(at: $0, count: count) }
  }

  /// The offset of the next directory. 0 if there is none.
  package func directory(after directory: Int) -> Int? {
    guard let count = view.uint16(at: directory, isLittle: isLittle) else { return nil }
    return view.uint32(at: directory + 2 + 12 * count, isLittle: isLittle)
  }

  /// EXIF 1...8
  package var orientation: Int? { value(of: 0x112, in: first).flatMap { (1...8).contains($0) ? $0 : nil } }

  /// The JPEG that the second directory of EXIF has.
  package var thumbnail: ByteView? {
    guard let second = directory(after: first), second > 0,
      let offset = value(of: 0x201, in: second), let count = value(of: 0x202, in: second), count > 100
    else { return nil }
    // Some cameras promise more bytes than there are.
    return view.part(at: offset, count: min(count, max(0, view.count - offset)))
  }
}
