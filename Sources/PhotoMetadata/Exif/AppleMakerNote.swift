/// The facts in the maker note of Apple's cameras (EXIF tag 0x927C): a directory in TIFF's form after "Apple iOS", with
/// big-endian numbers, whose offsets count from the note's beginning.
struct AppleMakerNote {
  /// Shared by the still and the film of a Live Photo (tag 0x11).
  private(set) var contentIdentifier: String?
  /// Shared by the photos of a burst (tag 0x0B).
  private(set) var burstIdentifier: String?
  /// Whether the camera merged several exposures (tag 0x0A is 3).
  private(set) var isHDR = false

  private static let entryLimit = 256

  /// - Parameter note: the value of the tag.
  /// - Returns: `nil` if another camera wrote the note.
  init?(_ window: FileWindow, at note: FilePart) {
    guard let head = window.bytes(at: note.start, count: 16, within: note), head.holds("Apple iOS\0"),
      head.holds("MM", at: 12)
    else { return nil }
    let count = min(Int(head.uint16(at: 14, .big)), Self.entryLimit)
    for index in 0..<count {
      guard let entry = window.bytes(at: note.start + 16 + 12 * index, count: 12, within: note) else { return }
      let (tag, type) = (entry.uint16(at: 0, .big), entry.uint16(at: 2, .big))
      let (values, value) = (Int(entry.uint32(at: 4, .big)), Int(entry.uint32(at: 8, .big)))
      switch (tag, type) {
      case (0x0A, 4), (0x0A, 9): isHDR = values == 1 && value == 3
      case (0x0B, 2): burstIdentifier = Self.text(window, note, offset: value, count: values)
      case (0x11, 2): contentIdentifier = Self.text(window, note, offset: value, count: values)
      default: break
      }
    }
  }

  /// A UUID, which is longer than the four bytes of an entry.
  private static func text(_ window: FileWindow, _ note: FilePart, offset: Int, count: Int) -> String? {
    guard count > 4, count <= 128, let part = note.part(at: offset, count: count) else { return nil }
    return window.bytes(at: part.start, count: count).flatMap(ExifText.decode)
  }
}
