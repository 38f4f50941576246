import PhotoModel

/// Reads the header of an AVI file: RIFF with the lists `hdrl` and `INFO` (Microsoft, "AVI RIFF File Reference", and
/// the OpenDML extensions 1.02).
///
/// Chunks are walked by their lengths: at most ``chunkLimit`` in all, with lists three levels deep.
struct AVIHeader {
  private(set) var header = VideoHeader()

  private static let chunkLimit = 500
  private static let depthLimit = 3

  private let window: FileWindow
  private var chunksLeft = AVIHeader.chunkLimit
  private var frameSeconds = 0.0
  private var frames = 0
  private var extendedFrames: Int?
  private var streamSeconds: Double?
  /// The aspect of the pixels, of the first video stream that has one.
  private var pixelAspect: (Int, Int)?
  /// The kind of the stream whose list is being read.
  private var isVideoStream = false

  init(_ window: FileWindow) {
    self.window = window
    guard let riff = window.whole.part(at: 12, upTo: window.whole.end) else { return }
    walk(riff, depth: 0)
    setDuration()
    if let pixelAspect, let width = header.width, let height = header.height {
      let size = SequenceHeader.stretched((width, height), by: pixelAspect)
      header.setSize(size.width, size.height)
    }
  }

  /// The frame count of the main header is that of the first RIFF part. OpenDML counts all frames.
  ///
  /// Some cameras count the frames of both streams of a 3D video. So the video stream's own length counts if the
  /// header's is two or three times as long. This rule is ExifTool's.
  private mutating func setDuration() {
    let total = frameSeconds * Double(max(frames, extendedFrames ?? 0))
    if let streamSeconds, streamSeconds > 0 {
      let ratio = total / streamSeconds
      header.setDuration(total <= 0 || (ratio > 1.9 && ratio < 3.1) ? streamSeconds : total)
    } else {
      header.setDuration(total)
    }
  }

  private mutating func walk(_ part: FilePart, depth: Int) {
    var offset = 0
    while chunksLeft > 0, let head = part.part(at: offset, count: 8),
      let bytes = window.bytes(at: head.start, count: 8, ahead: 4096)
    {
      chunksLeft -= 1
      let name = bytes.uint32(at: 0, .big)
      let length = Int(bytes.uint32(at: 4, .little))
      guard let data = part.part(at: offset + 8, upTo: length) else { return }
      if name == 0x4C49_5354 {  // LIST
        if depth < Self.depthLimit { readList(data, depth: depth) }
      } else {
        read(name, data)
      }
      offset += 8 + length + length % 2
    }
  }

  private mutating func readList(_ part: FilePart, depth: Int) {
    guard let kind = part.part(at: 0, count: 4).flatMap({ window.bytes(at: $0.start, count: 4) }),
      let content = part.part(at: 4, upTo: part.count)
    else { return }
    switch kind.uint32(at: 0, .big) {
    // hdrl, strl, odml, INFO, exif
    case 0x6864_726C, 0x7374_726C, 0x6F64_6D6C, 0x494E_464F, 0x6578_6966: walk(content, depth: depth + 1)
    default: break
    }
  }

  private mutating func read(_ name: UInt32, _ part: FilePart) {
    func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
      part.count >= count ? window.bytes(at: part.start, count: count) : nil
    }
    func text() -> String? { window.bytes(at: part.start, count: min(part.count, 4096)).flatMap(ExifText.decode) }
    switch name {
    case 0x6176_6968:  // avih
      guard let main = bytes(40) else { return }
      frameSeconds = Double(main.uint32(at: 0, .little)) / 1e6
      frames = Int(main.uint32(at: 16, .little))
      header.setSize(Int(main.uint32(at: 32, .little)), Int(main.uint32(at: 36, .little)))
    case 0x7374_7268:  // strh
      guard let stream = bytes(36) else { return }
      isVideoStream = stream.holds("vids")
      if stream.holds("auds") { header.hasAudio = true }
      let (scale, rate) = (Double(stream.uint32(at: 20, .little)), Double(stream.uint32(at: 24, .little)))
      guard isVideoStream, !header.hasVideo else { return }
      header.hasVideo = true
      if scale > 0, rate > 0 { streamSeconds = Double(stream.uint32(at: 32, .little)) * scale / rate }
    case 0x7374_7266:  // strf, a bitmap header for video; a negative height means rows from top to bottom
      guard isVideoStream, header.width == nil, let format = bytes(12) else { return }
      let (width, height) = (Int32(bitPattern: format.uint32(at: 4, .little)), format.uint32(at: 8, .little))
      header.setSize(Int(width), Int(Int32(bitPattern: height).magnitude))
    case 0x7670_7270:  // vprp, the properties of OpenDML 1.02: the aspect of the frame, its width and its height
      guard isVideoStream, pixelAspect == nil, let properties = bytes(32) else { return }
      let (across, down) = (Int(properties.uint16(at: 22, .little)), Int(properties.uint16(at: 20, .little)))
      let (width, height) = (Int(properties.uint32(at: 24, .little)), Int(properties.uint32(at: 28, .little)))
      let sides = 1...VideoHeader.largestSide
      guard across > 0, down > 0, sides.contains(width), sides.contains(height) else { return }
      pixelAspect = (across * height, down * width)
    case 0x646D_6C68:  // dmlh
      extendedFrames = bytes(4).map { Int($0.uint32(at: 0, .little)) }
    case 0x4944_4954:  // IDIT
      if header.date == nil { header.date = text().flatMap(Self.date) }
    case 0x4943_5244:  // ICRD, a day
      if header.date == nil { header.date = bytes(min(part.count, 32)).flatMap(EmbeddedDates.xmpDate) }
    case 0x494E_414D: header.title = header.title ?? text()  // INAM
    case 0x4943_4D54: header.caption = header.caption ?? text()  // ICMT
    case 0x6563_6F72: header.camera.make = header.camera.make ?? text()  // ecor, the lists of EXIF 2.32, 5.6
    case 0x656D_646C: header.camera.model = header.camera.model ?? text()  // emdl
    case 0x5F50_4D58: header.xmp = header.xmp ?? part  // _PMX (ISO 16684-3, 1.1.7)
    default: break
    }
  }

  // MARK: - Dates

  private static let months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]

  /// "Mon Mar 10 15:04:43 2003" is the usual form. Casio and Konica write the numbers of EXIF with other punctuation.
  static func date(_ text: String) -> PhotoDate? {
    let parts = text.split(separator: " ")
    if parts.count >= 5, let month = months.firstIndex(of: parts[1].uppercased()), let day = Int(parts[2]),
      let year = Int(parts[4]), parts[4].utf8.count == 4
    {
      let clock = parts[3].split(separator: ":").compactMap { Int($0) }
      guard clock.count == 3 else { return nil }
      return PhotoDate(year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }
    return numbers(text)
  }

  /// Year, month, day, hour, minute and perhaps second, whatever separates them; "PM" adds twelve hours.
  private static func numbers(_ text: String) -> PhotoDate? {
    let fields = text.split(whereSeparator: { !$0.isASCII || !$0.isNumber })
    guard fields.count >= 5, fields[0].utf8.count == 4 else { return nil }
    let values = fields.prefix(6).compactMap { Int($0) }
    guard values.count == min(fields.count, 6) else { return nil }
    let isAfternoon = text.uppercased().contains("PM") && values[3] < 12
    return PhotoDate(
      year: values[0], month: values[1], day: values[2], hour: values[3] + (isAfternoon ? 12 : 0), minute: values[4],
      second: values.count > 5 ? values[5] : 0)
  }
}
