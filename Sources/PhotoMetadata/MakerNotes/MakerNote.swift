import Glibc

/// The lens and the ISO in a camera's own block of EXIF (tag 0x927C).
///
/// Vendors have published nothing. The layout of each block, its tags and the origin of its offsets are those of
/// ExifTool's modules (Canon.pm, Nikon.pm, Olympus.pm, Panasonic.pm, which has Leica, and Sony.pm). Only names that the block spells out are
/// read, and the ranges of focal length and aperture that Nikon and Sony write. A number of a lens would need a table
/// of thousands of lenses. One or two directories are read, each once.
///
/// The block costs up to two further reads. So it is read only if EXIF has no lens or no ISO.
struct MakerNote {
  private(set) var lens: String?
  private(set) var iso: Int?

  /// - Parameters:
  ///   - note: the value of the tag.
  ///   - structure: that of the EXIF block. The offsets of some vendors count from its start.
  init(_ window: FileWindow, note: FilePart, structure: FilePart, order: ByteOrder, make: String?) {
    guard note.count >= 18, let head = window.bytes(at: note.start, count: 18) else { return }
    let inFile = TIFFStructure(window: window, part: structure, order: order)
    let start = note.start - structure.start
    if head.holds("Nikon\0") {
      readNikon(window, note, inFile, start, version: head[6])
    } else if head.holds("OLYMPUS\0"), let own = Self.order(head, at: 8) {
      readOlympus(TIFFStructure(window: window, part: Self.rest(note, structure), order: own), at: 12)
    } else if head.holds("OM SYSTEM\0"), let own = Self.order(head, at: 12) {
      readOlympus(TIFFStructure(window: window, part: Self.rest(note, structure), order: own), at: 16)
    } else if head.holds("OLYMP\0") {
      readOlympus(inFile, at: start + 8)
    } else if head.holds("Panasonic\0\0\0") {
      readPanasonic(inFile, at: start + 12)
    } else if head.holds("LEICA\0"), head[7] == 0 {
      readLeica(TIFFStructure(window: window, part: Self.rest(note, structure), order: order), at: 8)
    } else if head.holds("SONY DSC \0\0\0") || head.holds("SONY CAM \0\0\0") {
      readSony(inFile, at: start + 12)
    } else {
      let make = make?.uppercased() ?? ""
      if make.hasPrefix("CANON") {
        readCanon(inFile, at: start, note)
      } else if make.hasPrefix("NIKON") {
        readNikon(inFile, at: start)
      } else if make.hasPrefix("SONY") {
        readSony(inFile, at: start)
      }
    }
  }

  /// The block and all that follows it. A block may name values behind its own end.
  private static func rest(_ note: FilePart, _ structure: FilePart) -> FilePart {
    FilePart(start: note.start, end: max(note.end, structure.end))
  }

  private static func order(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> ByteOrder? {
    if bytes.holds("II", at: offset) { return .little }
    return bytes.holds("MM", at: offset) ? .big : nil
  }

  // MARK: - Canon

  private mutating func readCanon(_ file: TIFFStructure, at offset: Int, _ note: FilePart) {
    let header = Self.canonHeader(file.window, note)
    let tiff = header.map { TIFFStructure(window: file.window, part: file.part, order: $0.order) } ?? file
    let shift = header.map { offset - $0.offset } ?? 0
    guard let directory = tiff.directory(at: offset, wanted: [0x0001, 0x0004, 0x0095], valueShift: shift) else {
      return
    }
    lens = tiff.text(directory.entries[0x0095])
    let settings = tiff.integers(directory.entries[0x0001], limit: 17)
    let shot = tiff.integers(directory.entries[0x0004], limit: 3)
    iso = Self.canonISO(setting: settings.count > 16 ? settings[16] : 0)
    if iso == nil, shot.count > 2 { iso = Self.canonISO(auto: shot[1], base: shot[2]) }
  }

  /// The byte order of the block, and the offset at which the camera wrote it. The block ends with a TIFF header that
  /// has both. A program that moved the block, or wrote EXIF in the other byte order, did not change the block.
  private static func canonHeader(_ window: FileWindow, _ note: FilePart) -> (order: ByteOrder, offset: Int)? {
    guard let footer = note.part(at: note.count - 8, count: 8), let bytes = window.bytes(at: footer.start, count: 8),
      let order = order(bytes, at: 0), bytes.uint16(at: 2, order) == 42
    else { return nil }
    return (order, Int(bytes.uint32(at: 4, order)))
  }

  /// CameraISO: bit 14 marks a number; the small values are the steps of the first cameras, 15 is automatic.
  private static func canonISO(setting: Int) -> Int? {
    if setting > 0, setting != 0x7FFF, setting & 0x4000 != 0 { return setting & 0x3FFF }
    return [16: 50, 17: 100, 18: 200, 19: 400, 20: 800][setting]
  }

  /// AutoISO and BaseISO, in 32nds of a stop. The ISO is their product. AutoISO 0 is a factor of one.
  static func canonISO(auto: Int, base: Int) -> Int? {
    guard auto >= 0, base > 0, auto < 0x7FFF, base < 0x7FFF else { return nil }
    let value = exp2(Double(auto) / 32) * exp2(Double(base) / 32) * 100 / 32
    return value >= 1 && value < 10_000_000 ? Int(value.rounded()) : nil
  }

  // MARK: - Nikon

  /// Version 1 has other tags, none of which is wanted. Later versions have a TIFF header of their own.
  private mutating func readNikon(
    _ window: FileWindow, _ note: FilePart, _ file: TIFFStructure, _ start: Int, version: UInt8
  ) {
    guard version >= 2, let part = note.part(at: 10, upTo: note.count),
      let tiff = TIFFStructure(window: window, part: part)
    else { return }
    readNikon(tiff, at: tiff.firstDirectory)
  }

  private mutating func readNikon(_ tiff: TIFFStructure, at offset: Int) {
    guard let directory = tiff.directory(at: offset, wanted: [0x0002, 0x0084]) else { return }
    iso = tiff.integers(directory.entries[0x0002], limit: 2).last { $0 > 0 && $0 < 65535 }
    let lens = tiff.fractions(directory.entries[0x0084], limit: 4)
    guard lens.count == 4, let short = lens[0], short > 0, let aperture = lens[2], aperture > 0 else { return }
    self.lens = LensText.range(short, lens[1], "mm f/", aperture, lens[3])
  }

  // MARK: - Olympus

  /// Equipment (0x2010) is a directory of its own, with the lens's name. In old cameras it is the value itself.
  private mutating func readOlympus(_ tiff: TIFFStructure, at offset: Int) {
    guard let directory = tiff.directory(at: offset, wanted: [0x2010]), let equipment = directory.entries[0x2010]
    else { return }
    let position = equipment.type == 7 ? equipment.value.start - tiff.part.start : tiff.integer(equipment)
    guard let position, let inner = tiff.directory(at: position, wanted: [0x0203]) else { return }
    lens = tiff.text(inner.entries[0x0203])
  }

  // MARK: - Panasonic

  private mutating func readPanasonic(_ tiff: TIFFStructure, at offset: Int) {
    guard let directory = tiff.directory(at: offset, wanted: [0x003C, 0x0051]) else { return }
    lens = tiff.text(directory.entries[0x0051]).flatMap { ["NO-LENS", "N/A", "NONE"].contains($0) ? nil : $0 }
    // 65534 and 65535 mean "intelligent ISO" and "unknown".
    iso = tiff.integer(directory.entries[0x003C]).flatMap { (1...65_533).contains($0) ? $0 : nil }
  }

  // MARK: - Leica

  /// The block of the X, T and Q cameras. Its offsets count from its own start. Blocks of other cameras have the same
  /// beginning, but no text in this tag.
  private mutating func readLeica(_ tiff: TIFFStructure, at offset: Int) {
    guard let entry = tiff.directory(at: offset, wanted: [0x0303])?.entries[0x0303], entry.type == 2 else { return }
    lens = tiff.text(entry)
  }

  // MARK: - Sony

  private mutating func readSony(_ tiff: TIFFStructure, at offset: Int) {
    guard let directory = tiff.directory(at: offset, wanted: [0xB02A]),
      let bytes = tiff.bytes(directory.entries[0xB02A], limit: 8), bytes.count == 8
    else { return }
    lens = LensText.sony(Array(bytes))
  }
}
