import PhotoModel

/// The `moov` box of a film or an image sequence (ISO/IEC 14496-12, 8.2; QuickTime File Format).
struct MovieHeader {
  /// The first track with pictures.
  struct Track {
    var id = 0
    var isEnabled = false
    /// `vide`, `pict`, `soun`, ...
    var handler: BoxType = "    "
    /// As displayed: turned by the matrix, and stretched to square pixels.
    var width: Int?
    var height: Int?
    var unitsPerSecond = 0
    /// The number of samples in the header. A fragmented file has the others in its fragments.
    var sampleCount = 0

    fileprivate var size: (width: Int, height: Int)?
    fileprivate var isTurned = false
  }

  /// At most ``trackLimit`` tracks.
  private(set) var tracks: [Track] = []
  private(set) var durationSeconds: Double?
  /// The date of creation, in UTC.
  private(set) var created: PhotoDate?
  private(set) var tags = MovieTags()

  private var unitsPerSecond = 0
  /// The default durations of samples in fragments, by track.
  private(set) var sampleDurations: [Int: Int] = [:]

  static let trackLimit = 32

  init(_ window: FileWindow, moov: FilePart) {
    var fragmentDuration: Int?
    for box in MediaBoxes(window, in: moov) {
      switch box.type {
      case "mvhd": readHeader(window, box.content)
      case "trak" where tracks.count < Self.trackLimit: tracks.append(Self.track(window, box.content))
      case "mvex":
        for child in MediaBoxes(window, in: box.content) {
          var cursor = PartCursor(window, child.content)
          guard let version = cursor.number(4) else { continue }
          if child.type == "mehd" {
            fragmentDuration = cursor.number(version >> 24 == 1 ? 8 : 4)
          } else if child.type == "trex", let id = cursor.number(4), cursor.skip(4), let duration = cursor.number(4),
            sampleDurations.count < Self.trackLimit
          {
            sampleDurations[id] = duration
          }
        }
      case "udta": tags.readUserData(window, box.content)
      case "meta": tags.readMetadata(window, box.content)
      case "uuid" where box.isXMP: tags.xmp = box.content
      default: break
      }
    }
    if durationSeconds == nil, let fragmentDuration { durationSeconds = seconds(fragmentDuration) }
  }

  /// A header that is larger than this is cut off. The facts that are read come before its tables of samples.
  static let largestInflated = 1 << 23

  /// Reads a compressed header, as old programs for QuickTime wrote it (QuickTime File Format, "Compressed Movie
  /// Resources"): a box `cmov` with the method, `dcom`, and the data, `cmvd`. The data has its inflated size, and the
  /// stream of a whole `moov` box.
  ///
  /// - Returns: nil if the header is not compressed by zlib.
  init?(inflating window: FileWindow, moov: FilePart) {
    var boxes = MediaBoxes(window, in: moov)
    guard let compressed = boxes.next(), compressed.type == "cmov" else { return nil }
    var stream: FilePart?
    for box in MediaBoxes(window, in: compressed.content) {
      var cursor = PartCursor(window, box.content)
      switch box.type {
      case "dcom": guard cursor.number(4) == 0x7A6C_6962 else { return nil }
      case "cmvd": stream = cursor.number(4).map { _ in cursor.rest }
      default: break
      }
    }
    guard let stream else { return nil }
    let bytes = ZlibStream(window: window, part: stream).inflated(upTo: Self.largestInflated)
    let inflated = FileWindow(over: bytes)
    boxes = MediaBoxes(inflated, in: inflated.whole)
    guard let header = boxes.next(), header.type == "moov" else { return nil }
    self.init(inflated, moov: header.content)
    // A part of the inflated bytes is no part of the file. Programs that compressed headers wrote no XMP.
    tags.xmp = nil
  }

  /// The track with the film's pictures: the first enabled one with a size.
  var pictures: Track? { first("vide") ?? first("pict") }

  func first(_ handler: BoxType) -> Track? {
    let all = tracks.filter { $0.handler == handler }
    return all.first { $0.isEnabled && $0.width != nil } ?? all.first { $0.width != nil } ?? all.first
  }

  /// `nil` for an unknown duration: 0, or all bits set.
  private func seconds(_ duration: Int) -> Double? {
    guard duration > 0, duration != Int(UInt32.max), unitsPerSecond > 0 else { return nil }
    return Double(duration) / Double(unitsPerSecond)
  }

  // MARK: - Header

  private mutating func readHeader(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4).map({ $0 >> 24 }) else { return }
    let size = version == 1 ? 8 : 4
    guard let created = cursor.number(size), cursor.skip(size), let units = cursor.number(4) else { return }
    self.created = Self.date(created)
    unitsPerSecond = units
    durationSeconds = cursor.number(size).flatMap(seconds)
  }

  /// Seconds since 1904 in UTC. Programs also count from 1970. They are recognised because there were no such films
  /// before that year. 0 in either count means that the date is unknown.
  static func date(_ seconds: Int) -> PhotoDate? {
    let from1904To1970 = 2_082_844_800
    guard seconds > 0, seconds < 1 << 36 else { return nil }
    let unix = seconds >= from1904To1970 ? seconds - from1904To1970 : seconds
    return unix == 0 ? nil : PhotoDate(microseconds: Int64(unix) * 1_000_000, offsetMinutes: 0)
  }

  // MARK: - Tracks

  private static func track(_ window: FileWindow, _ box: FilePart) -> Track {
    var track = Track()
    var coded: (width: Int, height: Int)?
    var pixel: (width: Int, height: Int)?
    for child in MediaBoxes(window, in: box) {
      if child.type == "tkhd" { readTrackHeader(window, child.content, &track) }
      guard child.type == "mdia" else { continue }
      for media in MediaBoxes(window, in: child.content) {
        var cursor = PartCursor(window, media.content)
        if media.type == "mdhd", let version = cursor.number(4) {
          guard cursor.skip(version >> 24 == 1 ? 16 : 8), let units = cursor.number(4) else { continue }
          track.unitsPerSecond = units
        } else if media.type == "hdlr", cursor.skip(8), let handler = cursor.number(4) {
          track.handler = BoxType(code: UInt32(handler))
        } else if media.type == "minf" {
          for table in MediaBoxes(window, in: media.content) where table.type == "stbl" {
            for list in MediaBoxes(window, in: table.content) {
              var cursor = PartCursor(window, list.content)
              if list.type == "stsd", cursor.skip(8) {
                (coded, pixel) = sampleEntry(window, cursor.rest)
              } else if list.type == "stsz" || list.type == "stz2", cursor.skip(8), let count = cursor.number(4) {
                track.sampleCount = count
              }
            }
          }
        }
      }
    }
    setSize(&track, coded, pixel)
    return track
  }

  /// The size of the first sample entry, and the aspect of its pixels (8.5.2, 12.1.3, 12.1.4). The track's handler
  /// tells whether it is a picture at all.
  private static func sampleEntry(
    _ window: FileWindow, _ entries: FilePart
  ) -> (coded: (width: Int, height: Int)?, pixel: (width: Int, height: Int)?) {
    var boxes = MediaBoxes(window, in: entries)
    guard let entry = boxes.next() else { return (nil, nil) }
    var cursor = PartCursor(window, entry.content)
    guard cursor.skip(24), let width = cursor.number(2), let height = cursor.number(2), width > 0, height > 0 else {
      return (nil, nil)
    }
    guard cursor.skip(50) else { return ((width, height), nil) }
    for box in MediaBoxes(window, in: cursor.rest) where box.type == "pasp" {
      var cursor = PartCursor(window, box.content)
      if let wide = cursor.number(4), let high = cursor.number(4), wide > 0, high > 0, wide <= 1 << 20, high <= 1 << 20
      {
        return ((width, height), (wide, high))
      }
    }
    return ((width, height), nil)
  }

  private static func readTrackHeader(_ window: FileWindow, _ box: FilePart, _ track: inout Track) {
    var cursor = PartCursor(window, box)
    guard let flags = cursor.number(4) else { return }
    let size = flags >> 24 == 1 ? 8 : 4
    guard cursor.skip(2 * size), let id = cursor.number(4), cursor.skip(4 + size + 16) else { return }
    track.id = id
    track.isEnabled = flags & 1 == 1
    // The matrix a, b, u, c, d, v, x, y, w in fixed point. A quarter turn has only b and c.
    guard let a = cursor.number(4), let b = cursor.number(4), cursor.skip(28), let width = cursor.number(4),
      let height = cursor.number(4)
    else { return }
    func magnitude(_ number: Int) -> Int { abs(Int(Int32(truncatingIfNeeded: number))) }
    track.isTurned = magnitude(b) > magnitude(a)
    if width >> 16 > 0, height >> 16 > 0 { track.size = (width >> 16, height >> 16) }
  }

  /// The track header has the size of the presentation. If it repeats the coded size, the aspect of the pixels was not
  /// applied, and is applied here.
  private static func setSize(
    _ track: inout Track, _ coded: (width: Int, height: Int)?, _ pixel: (width: Int, height: Int)?
  ) {
    guard var size = track.size ?? coded else { return }
    if let pixel, let coded, size == coded, pixel.width != pixel.height {
      size.width = max(1, (size.width * pixel.width + pixel.height / 2) / pixel.height)
    }
    (track.width, track.height) = track.isTurned ? (size.height, size.width) : size
  }
}
