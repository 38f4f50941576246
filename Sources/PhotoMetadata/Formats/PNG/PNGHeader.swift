/// The facts in the chunks of a PNG file (W3C, third edition), before and after the pixels.
///
/// The walk follows the lengths of the chunks to the end of the file. Programs cut the pixels into thousands of equal
/// chunks. The walk therefore jumps over as many of them as it can: if there is a chunk of pixels with the same length
/// at the distance of 2, 4, 8, … of them, those between are skipped.
struct PNGHeader {
  /// As stored, before orientation.
  private(set) var width: Int?
  private(set) var height: Int?
  /// Whether there is more than one frame (`acTL`).
  private(set) var isAnimated = false
  /// The position of the TIFF structure in the `eXIf` chunk.
  private(set) var exif: FilePart?
  /// The text chunks of each kind except `rawAPP1`. The first one counts.
  private(set) var texts: [PNGText.Keyword: PNGText] = [:]
  /// The segments that were copied from a JPEG. EXIF and XMP have the same keyword, so each is in a text of its own.
  private(set) var segments: [PNGText] = []

  /// The reads for chunks of pixels. The rest of the budget is for the metadata.
  private static let pixelSteps = 192
  private static let chunkLimit = 4096
  private static let segmentLimit = 4

  init(_ window: FileWindow) {
    var offset = 8
    var steps = 0
    for _ in 0..<Self.chunkLimit {
      guard let chunk = Self.chunk(window, at: offset) else { return }
      switch chunk.type {
      case "IHDR":
        guard chunk.data.count == 13, let size = window.bytes(at: chunk.data.start, count: 8, ahead: 64) else { return }
        let (width, height) = (Int(size.uint32(at: 0, .big)), Int(size.uint32(at: 4, .big)))
        if width > 0, height > 0 { (self.width, self.height) = (width, height) }
      case "acTL":
        if chunk.data.count >= 8, let count = window.bytes(at: chunk.data.start, count: 4, ahead: 64) {
          isAnimated = count.uint32(at: 0, .big) > 1
        }
      case "eXIf": if exif == nil { exif = ImageHeader.exif(window, at: chunk.data.start, length: chunk.data.count) }
      case "tEXt", "zTXt", "iTXt":
        guard let text = PNGText(window, chunk.type, chunk.data) else { break }
        if text.keyword == .rawAPP1 {
          if segments.count < Self.segmentLimit { segments.append(text) }
        } else if texts[text.keyword] == nil {
          texts[text.keyword] = text
        }
      case "IDAT", "fdAT":
        guard let next = Self.afterPixels(window, chunk, at: offset, &steps) else { return }
        offset = next
        continue
      case "IEND": return
      default: break
      }
      guard chunk.isWhole else { return }
      offset = chunk.data.end + 4
    }
  }

  private struct Chunk {
    var type: BoxType
    /// Cut off at the end of the file.
    var data: FilePart
    var isWhole: Bool
  }

  private static func chunk(_ window: FileWindow, at offset: Int) -> Chunk? {
    guard let head = window.bytes(at: offset, count: 8, ahead: 64) else { return nil }
    let length = Int(head.uint32(at: 0, .big))
    let type = BoxType(code: head.uint32(at: 4, .big))
    guard length <= Int(Int32.max), let data = window.whole.part(at: offset + 8, upTo: length) else { return nil }
    return Chunk(type: type, data: data, isWhole: data.count == length)
  }

  /// The position of a chunk after this one, behind as many chunks of the same kind and length as possible.
  private static func afterPixels(_ window: FileWindow, _ chunk: Chunk, at offset: Int, _ steps: inout Int) -> Int? {
    guard chunk.isWhole else { return nil }
    let size = chunk.data.count + 12
    var offset = offset + size
    if offset + 8 <= window.headCount { return offset }
    // After each jump, the distance doubles. After a miss, it begins again, and a miss at the distance 1 is the end.
    var distance = 1
    while steps < pixelSteps {
      steps += 1
      // There is always one chunk before `offset`, and the candidate is the last of `distance` chunks after it.
      let candidate = offset.addingReportingOverflow((distance - 1) * size)
      guard !candidate.overflow, distance <= 1 << 20, candidate.partialValue <= window.whole.count,
        let next = Self.chunk(window, at: candidate.partialValue), next.type == chunk.type,
        next.data.count == chunk.data.count, next.isWhole
      else {
        guard distance > 1 else { return offset }
        distance = 1
        continue
      }
      offset = candidate.partialValue + size
      distance *= 2
    }
    return nil
  }
}
