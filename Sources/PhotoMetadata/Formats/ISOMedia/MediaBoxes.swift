/// The four letters that name a box. "©" is the byte A9, as in QuickTime's names.
struct BoxType: Equatable, ExpressibleByStringLiteral {
  let code: UInt32

  init(code: UInt32) { self.code = code }

  init(stringLiteral text: StaticString) {
    var code: UInt32 = 0
    // In UTF-8, "©" is C2 A9.
    for index in 0..<text.utf8CodeUnitCount where text.utf8Start[index] != 0xC2 {
      code = code << 8 | UInt32(text.utf8Start[index])
    }
    self.code = code
  }

  /// Whether the name begins with "©", as QuickTime's texts do.
  var isQuickTimeText: Bool { code >> 24 == 0xA9 }
}

/// A box of the ISO base media file format (ISO/IEC 14496-12, 4.2), also called atom.
struct MediaBox {
  var type: BoxType
  /// The bytes after the header, cut off at the end of the part that contains the box.
  var content: FilePart
  /// The extended type of a `uuid` box.
  var userType: (high: UInt64, low: UInt64)?
  /// Whether the box claims to end after the part that contains it.
  var isCut = false

  /// Whether a `uuid` box holds an XMP packet (ISO 16684-3, 1.1.4).
  var isXMP: Bool { userType?.high == 0xBE7A_CFCB_97A9_42E8 && userType?.low == 0x9C71_9994_91E3_AFAC }
}

/// The boxes of a part of a file, one after another.
///
/// It stops at a size that is smaller than a header, at the end of the part, and after ``limit`` boxes. It never
/// descends. The depth of a walk is therefore the number of loops in the code.
struct MediaBoxes: Sequence, IteratorProtocol {
  static let limit = 4096

  private let window: FileWindow
  private var rest: FilePart
  private let ahead: Int
  private var left = MediaBoxes.limit

  /// - Parameter ahead: how many bytes to read at once beyond the head. Use few for boxes that are far apart.
  init(_ window: FileWindow, in part: FilePart, ahead: Int = MediaBoxes.near) {
    self.window = window
    rest = part
    self.ahead = ahead
  }

  /// The reading distance for boxes whose contents are wanted.
  static let near = 4096
  /// The reading distance for boxes that are mostly skipped.
  static let far = 64

  mutating func next() -> MediaBox? {
    guard left > 0, let head = window.bytes(at: rest.start, count: 8, within: rest, ahead: ahead) else { return nil }
    left -= 1
    let type = BoxType(code: head.uint32(at: 4, .big))
    var size = Int(head.uint32(at: 0, .big))
    var headerSize = 8
    if size == 1 {
      guard let long = window.bytes(at: rest.start + 8, count: 8, within: rest, ahead: ahead),
        let number = Int(exactly: long.uint64(at: 0, .big))
      else { return nil }
      (size, headerSize) = (number, 16)
    } else if size == 0 {
      size = rest.count
    }
    var userType: (UInt64, UInt64)?
    if type == "uuid" {
      guard let long = window.bytes(at: rest.start + headerSize, count: 16, within: rest, ahead: ahead) else {
        return nil
      }
      userType = (long.uint64(at: 0, .big), long.uint64(at: 8, .big))
      headerSize += 16
    }
    guard size >= headerSize, let content = rest.part(at: headerSize, upTo: size - headerSize) else { return nil }
    let isCut = size > rest.count
    rest = FilePart(start: content.end, end: rest.end)
    return MediaBox(type: type, content: content, userType: userType, isCut: isCut)
  }
}

extension FileWindow {
  /// Exactly `count` bytes at a position, all within a part. Otherwise as ``bytes(at:count:ahead:)``.
  func bytes(
    at position: Int, count: Int, within part: FilePart, ahead: Int = FileWindow.readAhead
  ) -> UnsafeRawBufferPointer? {
    guard position >= part.start, part.part(at: position - part.start, count: count) != nil else { return nil }
    return bytes(at: position, count: count, ahead: ahead)
  }
}

/// Reads the big-endian numbers of a part one after another.
struct PartCursor {
  private let window: FileWindow
  private let part: FilePart
  private(set) var offset = 0

  init(_ window: FileWindow, _ part: FilePart) {
    self.window = window
    self.part = part
  }

  /// The bytes that are not read yet.
  var rest: FilePart { FilePart(start: part.start + offset, end: part.end) }

  /// - Parameter size: 0 to 8 bytes. A number of no bytes is 0.
  /// - Returns: `nil` at the end of the part, and for a number beyond `Int.max`.
  mutating func number(_ size: Int) -> Int? {
    guard let place = part.part(at: offset, count: size),
      let bytes = window.bytes(at: place.start, count: size, ahead: MediaBoxes.near)
    else { return nil }
    var number: UInt64 = 0
    for byte in bytes { number = number << 8 | UInt64(byte) }
    offset += size
    return Int(exactly: number)
  }

  /// The bytes are valid until the next read. `nil` if the part ends before.
  mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
    guard let place = part.part(at: offset, count: count),
      let bytes = window.bytes(at: place.start, count: count, ahead: MediaBoxes.near)
    else { return nil }
    offset += count
    return bytes
  }

  mutating func skip(_ count: Int) -> Bool {
    guard part.part(at: offset, count: count) != nil else { return false }
    offset += count
    return true
  }
}
