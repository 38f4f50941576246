/// The metadata of a JPEG that is part of a RAW file: the preview of RAF, X3F and RW2.
///
/// Only the first segments are walked, up to the first that belongs to the picture.
struct EmbeddedJPEG {
  private(set) var exif: FilePart?
  private(set) var xmp: FilePart?

  private static let segmentLimit = 32
  private static let exifName: StaticString = "Exif\0"
  private static let xmpName: StaticString = "http://ns.adobe.com/xap/1.0/\0"

  init(_ window: FileWindow, part: FilePart) {
    guard let start = part.part(at: 0, count: 2).flatMap({ window.bytes(at: $0.start, count: 2) }), start[0] == 0xFF,
      start[1] == 0xD8
    else { return }
    var offset = 2
    for _ in 0..<Self.segmentLimit {
      guard let head = part.part(at: offset, count: 4).flatMap({ window.bytes(at: $0.start, count: 4) }),
        head[0] == 0xFF, (0xE0...0xEF).contains(head[1]) || head[1] == 0xFE
      else { return }
      let marker = head[1]
      let length = Int(head.uint16(at: 2, .big))
      guard length >= 2, let data = part.part(at: offset + 4, count: length - 2) else { return }
      if marker == 0xE1 {
        if exif == nil, Self.begins(data, with: Self.exifName, window) {
          exif = data.part(at: 6, upTo: data.count)
        } else if Self.begins(data, with: Self.xmpName, window) {
          xmp = data.part(at: Self.xmpName.utf8CodeUnitCount, upTo: data.count)
        }
      }
      offset += 2 + length
    }
  }

  private static func begins(_ data: FilePart, with name: StaticString, _ window: FileWindow) -> Bool {
    let size = name.utf8CodeUnitCount
    return data.part(at: 0, count: size).flatMap { window.bytes(at: $0.start, count: size) }?.holds(name) ?? false
  }
}
