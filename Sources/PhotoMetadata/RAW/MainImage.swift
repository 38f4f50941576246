/// The size of the main image of a TIFF file or a camera's RAW file.
///
/// The first directory often describes a thumbnail. The main image is the first one with NewSubfileType 0 (TIFF 6.0,
/// section 8). The first directory comes first, then its SubIFDs (TIFF Technical Note 1), and then the rest of the
/// chain. Without that, it is the first one with a size. ExifTool's ImageSize has the same rules. So the size of a DNG
/// includes the margins that DefaultCropSize cuts off, as the sizes of other RAW files do.
///
/// Vendors deviate from it, as known from ExifTool's and LibRaw's sources:
/// - Canon's CR2 and Phase One's IIQ have the size in EXIF. Their directories describe only previews.
/// - Panasonic's first directory has the borders of the image on the sensor.
/// - Sony's first models (DSLR-A100 to A900) keep a block of Minolta's format, with the size, in SR2Private.
struct MainImage {
  private(set) var width: Int?
  private(set) var height: Int?
  /// Whether the file has a DNGVersion (DNG 1.7, chapter 4), whatever its name says.
  private(set) var isDNG = false
  /// Panasonic's own ISO.
  private(set) var iso: Int?
  /// Panasonic's preview, which may have more EXIF.
  private(set) var preview: FilePart?

  private static let chainLimit = 8
  private static let subdirectoryLimit = 16

  private static let subfileType: UInt16 = 0xFE
  private static let subdirectories: UInt16 = 0x014A
  private static let exifDirectory: UInt16 = 0x8769
  private static let version: UInt16 = 0xC612
  private static let privateData: UInt16 = 0xC634

  /// - Parameter prefersExif: whether EXIF has the size, as in CR2 and IIQ.
  init(_ tiff: TIFFStructure, prefersExif: Bool) {
    if tiff.isPanasonic { readPanasonic(tiff) } else { read(tiff, prefersExif: prefersExif) }
  }

  private mutating func read(_ tiff: TIFFStructure, prefersExif: Bool) {
    let wanted: Set = [
      Self.subfileType, 0x0100, 0x0101, Self.subdirectories, Self.exifDirectory, Self.version, Self.privateData, 0x010F,
    ]
    var main: (Int, Int)?
    var first: (Int, Int)?
    func note(_ directory: TIFFStructure.Directory) {
      guard main == nil, let width = tiff.integer(directory.entries[0x0100]), width > 0,
        let height = tiff.integer(directory.entries[0x0101]), height > 0
      else { return }
      if first == nil { first = (width, height) }
      if tiff.integer(directory.entries[Self.subfileType]) == 0 { main = (width, height) }
    }
    var offset = tiff.firstDirectory
    for index in 0..<Self.chainLimit where offset != 0 && main == nil {
      guard let directory = tiff.directory(at: offset, wanted: wanted) else { break }
      note(directory)
      let children = tiff.integers(directory.entries[Self.subdirectories], limit: Self.subdirectoryLimit)
      for child in children where main == nil {
        if let directory = tiff.directory(at: child, wanted: wanted) { note(directory) }
      }
      if index == 0 {
        isDNG = directory.entries[Self.version] != nil
        let maker = tiff.text(directory.entries[0x010F])?.uppercased() ?? ""
        if prefersExif, let size = exifSize(tiff, directory) { main = size }
        if !isDNG, maker.hasPrefix("SONY"), let size = sonySize(tiff, directory) { main = size }
      }
      offset = directory.next
    }
    if let size = main ?? first { (width, height) = size }
  }

  private func exifSize(_ tiff: TIFFStructure, _ directory: TIFFStructure.Directory) -> (Int, Int)? {
    guard let offset = tiff.pointer(directory.entries[Self.exifDirectory]),
      let exif = tiff.directory(at: offset, wanted: [0xA002, 0xA003]),
      let width = tiff.integer(exif.entries[0xA002]), width > 0,
      let height = tiff.integer(exif.entries[0xA003]), height > 0
    else { return nil }
    return (width, height)
  }

  private func sonySize(_ tiff: TIFFStructure, _ directory: TIFFStructure.Directory) -> (Int, Int)? {
    guard let offset = tiff.pointer(directory.entries[Self.privateData]),
      let sr2 = tiff.directory(at: offset, wanted: [0x7250]), let block = sr2.entries[0x7250]
    else { return nil }
    let minolta = MinoltaBlocks(tiff.window, part: FilePart(start: block.value.start, end: tiff.part.end))
    guard let width = minolta?.width, let height = minolta?.height else { return nil }
    return (width, height)
  }

  private mutating func readPanasonic(_ tiff: TIFFStructure) {
    guard let directory = tiff.directory(at: tiff.firstDirectory, wanted: [2, 3, 4, 5, 6, 7, 0x17, 0x2E, 0x37])
    else { return }
    func value(_ tag: UInt16) -> Int? { tiff.integer(directory.entries[tag]) }
    // The borders have 16 bits. A damaged file may claim another type.
    func border(_ tag: UInt16) -> Int? { value(tag).flatMap { (0...65_535).contains($0) ? $0 : nil } }
    if let top = border(4), let left = border(5), let bottom = border(6), let right = border(7), bottom > top,
      right > left
    {
      (width, height) = (right - left, bottom - top)
    } else if let sensorWidth = value(2), let sensorHeight = value(3), sensorWidth > 0, sensorHeight > 0 {
      (width, height) = (sensorWidth, sensorHeight)
    }
    // Tag 0x17 has 16 bits. A larger ISO is only in tag 0x37.
    iso = [value(0x17), value(0x37)].compactMap { $0 }.first { $0 > 0 && $0 < 65535 } ?? value(0x37)
    iso = iso.flatMap { $0 > 0 && $0 < UInt32.max ? $0 : nil }
    preview = directory.entries[0x2E]?.value
  }
}
