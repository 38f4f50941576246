/// The duration of a film whose header does not have it: a fragmented file (ISO/IEC 14496-12, 8.8 and 8.16.3).
struct MovieFragments {
  private static let fragmentLimit = 96
  private static let runLimit = 64
  private static let sampleLimit = 4096
  /// Sums of a file's numbers end here, so that they can't overflow.
  private static let largestTime = 1 << 56

  private var end = 0
  private var count = 0
  private var isComplete = true
  private let track: MovieHeader.Track
  private let defaultDuration: Int

  init?(_ header: MovieHeader) {
    guard let track = header.pictures, track.unitsPerSecond > 0 else { return nil }
    self.track = track
    defaultDuration = header.sampleDurations[track.id] ?? 0
  }

  /// Whether there are more fragments, runs or samples than are read.
  var isExhausted: Bool { !isComplete }

  /// `nil` if there were more fragments, runs or samples than are read.
  var durationSeconds: Double? {
    isComplete && end > 0 && end < Self.largestTime ? Double(end) / Double(track.unitsPerSecond) : nil
  }

  /// The sum of the durations in a segment index, which begins a file that is made for streaming.
  static func indexedSeconds(_ window: FileWindow, _ box: FilePart) -> Double? {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4), cursor.skip(4), let units = cursor.number(4), units > 0,
      cursor.skip(version >> 24 == 0 ? 8 : 16), cursor.skip(2), let count = cursor.number(2), count > 0
    else { return nil }
    var total = 0
    for _ in 0..<count {
      guard cursor.skip(4), let duration = cursor.number(4), cursor.skip(4) else { return nil }
      total += duration
    }
    return total > 0 ? Double(total) / Double(units) : nil
  }

  /// Notes a `moof` box. The fragments must come in the file's order.
  mutating func read(_ window: FileWindow, _ moof: FilePart) {
    count += 1
    guard count <= Self.fragmentLimit else {
      isComplete = false
      return
    }
    for box in MediaBoxes(window, in: moof, ahead: 1024) where box.type == "traf" { readTrack(window, box.content) }
  }

  private mutating func readTrack(_ window: FileWindow, _ traf: FilePart) {
    var duration = defaultDuration
    var start = end
    var total = 0
    var isWanted = false
    var runs = 0
    for box in MediaBoxes(window, in: traf, ahead: 1024) {
      var cursor = PartCursor(window, box.content)
      guard let flags = cursor.number(4) else { continue }
      switch box.type {
      case "tfhd":
        isWanted = cursor.number(4) == track.id
        guard isWanted, cursor.skip((flags & 1 == 0 ? 0 : 8) + (flags & 2 == 0 ? 0 : 4)) else { continue }
        if flags & 8 != 0, let own = cursor.number(4) { duration = own }
      case "tfdt" where isWanted:
        if let time = cursor.number(flags >> 24 == 1 ? 8 : 4), time < 1 << 48 { start = time }
      case "trun" where isWanted:
        runs += 1
        guard runs <= Self.runLimit, let time = Self.duration(&cursor, flags: flags, sampleDuration: duration) else {
          isComplete = false
          return
        }
        total = min(total + time, Self.largestTime)
      default: break
      }
    }
    if isWanted { end = min(max(end, start + total), Self.largestTime) }
  }

  /// - Returns: nil if the run has more samples than are read.
  private static func duration(_ cursor: inout PartCursor, flags: Int, sampleDuration: Int) -> Int? {
    guard let samples = cursor.number(4) else { return 0 }
    guard samples <= 1 << 24 else { return nil }
    guard flags & 0x100 != 0 else { return samples * sampleDuration }
    guard samples <= sampleLimit else { return nil }
    guard cursor.skip((flags & 1 == 0 ? 0 : 4) + (flags & 4 == 0 ? 0 : 4)) else { return 0 }
    let others = [0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4
    var total = 0
    for _ in 0..<samples {
      guard let duration = cursor.number(4), cursor.skip(others) else { return total }
      total += duration
    }
    return total
  }
}
