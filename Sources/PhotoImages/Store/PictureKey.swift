import PhotoModel

/// The name of a kept picture: the library, the asset, its revision, and the file and size of the picture.
///
/// The file of the picture is `AA/ASSET-REVISION-VARIANT-LIBRARY.jpg` (or `.png`) in the store's folder. `AA` is the
/// lowest byte of the asset's id, and all numbers but the id are hexadecimal. The path of the photo is no part of the
/// name.
struct PictureKey: Hashable, Sendable {
  /// FNV-1a of the library's UUID. Each catalog counts ids from 1, so the assets of two libraries have the same ids.
  var library: UInt64
  var assetID: AssetID
  /// FNV-1a of the revision.
  var revision: UInt64
  /// Bits 0 to 7: the index of the file. Bits 8 to 11: the size. Bit 12: whether PNG was asked for. Bit 13:
  /// whether the file could give a larger picture. Bits 16 to 63: a hash of the frame and the time of a video, if the
  /// picture depends on them. The others are 0.
  var variant: UInt64

  init(library: UInt64, assetID: AssetID, revision: UInt64, variant: UInt64) {
    self.library = library
    self.assetID = assetID
    self.revision = revision
    self.variant = variant
  }

  /// - Parameters:
  ///   - file: 0...255.
  ///   - milliseconds: the time of a video's frame.
  ///   - isDegraded: whether the file could give a larger picture.
  init(
    library: UInt64, assetID: AssetID, revision: UInt64, file: Int, target: PictureTarget, isPNG: Bool,
    milliseconds: Int64?, isDegraded: Bool = false
  ) {
    var hash = PictureHash()
    var size: UInt64
    switch target {
    case .kept(let side): size = UInt64(PictureTarget.keptSizes.firstIndex(of: side) ?? 0)
    case .original: size = Self.originalSize
    case .exact(let frame, let covers):
      size = 6
      hash.combine(UInt64(frame.width))
      hash.combine(UInt64(frame.height))
      hash.combine(UInt64(covers ? 1 : 0))
    }
    if let milliseconds { hash.combine(UInt64(bitPattern: milliseconds)) }
    size = size << 8 | UInt64(file & 0xFF) | (isPNG ? 1 << 12 : 0) | (isDegraded ? Self.degradedBit : 0)
    self.init(
      library: library, assetID: assetID, revision: revision, variant: size | (hash.isEmpty ? 0 : hash.value << 16))
  }

  private static let originalSize: UInt64 = 5
  private static let degradedBit: UInt64 = 1 << 13

  /// Whether PNG was asked for.
  var asksForPNG: Bool { variant >> 12 & 1 != 0 }

  /// Whether the file could give a larger picture, but the decoder took a preview instead. It has another name, because a
  /// request must not get it as the picture of the original's size.
  var isDegraded: Bool { variant & Self.degradedBit != 0 }

  /// The index of the folder.
  var folder: Int { Self.folderIndex(of: assetID) }

  /// The index of the asset's file.
  var file: Int { Int(variant & 0xFF) }

  /// Whether the picture has a kept size, and does not depend on a frame or on the time of a video.
  var isOfKeptSize: Bool { variant >> 8 & 0xF < Self.originalSize && variant >> 16 == 0 && !isDegraded }

  /// Whether the picture has the size of the original. A photo that is smaller than a kept size has such a picture only.
  var isOfOriginalSize: Bool { variant >> 8 & 0xF == Self.originalSize && variant >> 16 == 0 && !isDegraded }

  /// - Parameter isPNG: whether the content is PNG. A picture with transparency is, although JPEG was asked for.
  func name(isPNG: Bool) -> String {
    "\(Self.folder(of: assetID))/\(assetID)-\(String(revision, radix: 16))-\(String(variant, radix: 16))"
      + "-\(String(library, radix: 16))"
      + (isPNG ? ".png" : ".jpg")
  }

  /// The parts of a file's name without its folder. Nil if it is no name of a picture.
  static func parse(_ name: String) -> (key: PictureKey, isPNG: Bool)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1] == "jpg" || parts[1] == "png" else { return nil }
    let fields = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count == 4, let id = AssetID(String(fields[0])), id >= 0, let revision = UInt64(fields[1], radix: 16),
      let variant = UInt64(fields[2], radix: 16), let library = UInt64(fields[3], radix: 16)
    else { return nil }
    let key = PictureKey(library: library, assetID: id, revision: revision, variant: variant)
    let isPNG = parts[1] == "png"
    // A name that is written in another way would be looked for in another place.
    return key.name(isPNG: isPNG).hasSuffix("/" + name) ? (key, isPNG) : nil
  }

  static func folderIndex(of assetID: AssetID) -> Int { Int(UInt64(bitPattern: assetID.rawValue) & 0xFF) }

  static func folder(of assetID: AssetID) -> String { folderName(folderIndex(of: assetID)) }

  static func folderName(_ index: Int) -> String {
    let digits = String(index, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }
}

/// FNV-1a with 64 bits. It must be the same in each run, unlike `Hasher`.
struct PictureHash: Sendable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
  private(set) var isEmpty = true

  mutating func combine(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    isEmpty = false
  }

  mutating func combine(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  static func revision(_ text: String) -> UInt64 { hash(text) }

  /// - Parameter uuid: the UUID of the library.
  static func library(_ uuid: String) -> UInt64 { hash(uuid) }

  private static func hash(_ text: String) -> UInt64 {
    var hash = PictureHash()
    for byte in text.utf8 { hash.combine(byte) }
    return hash.value
  }
}
