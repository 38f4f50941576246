import PhotoModel

/// Reads an MPEG transport stream (ISO/IEC 13818-1), also with the four bytes before each packet that Blu-ray and AVCHD
/// add.
///
/// The program tables, the first sequence header and the first date are searched for in the first
/// ``searchedPackets`` packets. The duration is the difference of the first clock reference there and the last one in
/// the last ``tailBytes``. So a file costs its first 640 KiB at most, and usually 64 KiB and the tail.
struct TransportStream {
  private(set) var header = VideoHeader()

  private static let searchedPackets = 3400
  private static let tailBytes = 262_144
  private static let unitLimit = 65_536

  private enum Codec {
    /// MPEG-1 or MPEG-2
    case mpeg
    case h264, h265
  }

  private let window: FileWindow
  private let step: Int
  private let first: Int
  private var programTable: Int?
  private var clockID: Int?
  private var video: (id: Int, codec: Codec)?
  /// The bytes of the video stream's first packets.
  private var stream: [UInt8] = []
  /// The size of ``stream`` at which its units are searched next. It doubles, so that the search stays linear.
  private var nextSearch = 4096
  private var firstClock: Int?
  private var lastClock: Int?

  /// - Returns: nil if no packets follow one another.
  init?(_ window: FileWindow) {
    guard let (first, step) = Self.layout(window.headBuffer) else { return nil }
    self.window = window
    (self.first, self.step) = (first, step)
    var offset = first
    for _ in 0..<Self.searchedPackets {
      guard let packet = packet(at: offset) else { break }
      read(packet)
      offset += step
      if stream.count > Self.unitLimit { break }
      if stream.count >= nextSearch {
        if foundAll() { break }
        nextSearch *= 2
      }
    }
    findUnits(isLast: true)
    readTail(from: offset)
    if let firstClock, let lastClock {
      // The reference has 33 bits of 300 ticks each.
      let ticks = lastClock >= firstClock ? lastClock - firstClock : lastClock + (1 << 33) * 300 - firstClock
      header.setDuration(Double(ticks) / 27e6)
    }
  }

  /// The position of the first sync byte and the distance of packets: 188, or 192 with a time stamp. `nil` if it is no
  /// transport stream.
  static func layout(_ head: UnsafeRawBufferPointer) -> (first: Int, step: Int)? {
    for (first, step) in [(0, 188), (4, 192)] where head.count >= first + 188 {
      var matches = 0
      while matches < 5, first + matches * step < head.count, head[first + matches * step] == 0x47 { matches += 1 }
      if matches >= 3 { return (first, step) }
    }
    return nil
  }

  private func packet(at offset: Int) -> [UInt8]? {
    guard let bytes = window.bytes(at: offset, count: 188, ahead: FileWindow.pieceBytes), bytes[0] == 0x47 else {
      return nil
    }
    return Array(bytes)
  }

  private mutating func foundAll() -> Bool {
    findUnits(isLast: false)
    return header.width != nil && (header.date != nil || video?.codec != .h264)
  }

  // MARK: - Packets

  private mutating func read(_ packet: [UInt8]) {
    let id = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
    let isStart = packet[1] & 0x40 != 0
    if let clock = Self.clock(packet), clockID == nil || clockID == id {
      if firstClock == nil { firstClock = clock }
      lastClock = clock
    }
    guard let payload = Self.payload(packet) else { return }
    if id == 0, isStart {
      readAssociations(payload)
    } else if id == programTable, isStart {
      readProgram(payload)
    } else if id == video?.id {
      header.hasVideo = true
      append(payload, isStart: isStart)
    }
  }

  private static func payload(_ packet: [UInt8]) -> ArraySlice<UInt8>? {
    let control = packet[3] >> 4 & 3
    guard control & 1 != 0 else { return nil }
    let start = control & 2 == 0 ? 4 : 5 + Int(packet[4])
    return start < packet.count ? packet[start...] : nil
  }

  /// The program clock reference of the adaptation field (2.4.3.4), in ticks of 27 MHz.
  private static func clock(_ packet: [UInt8]) -> Int? {
    guard packet[3] & 0x20 != 0, packet[4] >= 7, packet[5] & 0x10 != 0 else { return nil }
    var base = 0
    for byte in packet[6...9] { base = base << 8 | Int(byte) }
    return (base << 1 | Int(packet[10] >> 7)) * 300 + (Int(packet[10] & 1) << 8 | Int(packet[11]))
  }

  // MARK: - Tables

  /// The section of a table that begins in this packet, from its first byte to its checksum.
  private static func section(_ payload: ArraySlice<UInt8>, table: UInt8) -> ArraySlice<UInt8>? {
    guard let pointer = payload.first else { return nil }
    let bytes = payload.dropFirst(1 + Int(pointer))
    guard bytes.count >= 8, bytes[bytes.startIndex] == table else { return nil }
    let length = Int(bytes[bytes.startIndex + 1] & 15) << 8 | Int(bytes[bytes.startIndex + 2])
    return length >= 9 ? bytes.prefix(3 + length - 4) : nil
  }

  private mutating func readAssociations(_ payload: ArraySlice<UInt8>) {
    guard programTable == nil, let section = Self.section(payload, table: 0) else { return }
    var entries = section.dropFirst(8)
    while entries.count >= 4 {
      let at = entries.startIndex
      // Program 0 names the network's table.
      if entries[at] != 0 || entries[at + 1] != 0 {
        programTable = Int(entries[at + 2] & 0x1F) << 8 | Int(entries[at + 3])
        return
      }
      entries = entries.dropFirst(4)
    }
  }

  private mutating func readProgram(_ payload: ArraySlice<UInt8>) {
    guard video == nil, let section = Self.section(payload, table: 2), section.count >= 12 else { return }
    let at = section.startIndex
    let clock = Int(section[at + 8] & 0x1F) << 8 | Int(section[at + 9])
    clockID = clock == 0x1FFF ? nil : clock
    var entries = section.dropFirst(12 + (Int(section[at + 10] & 15) << 8 | Int(section[at + 11])))
    while entries.count >= 5 {
      let at = entries.startIndex
      let id = Int(entries[at + 1] & 0x1F) << 8 | Int(entries[at + 2])
      let codec: Codec? =
        switch entries[at] {
        // The second is MPEG-2, or MPEG-1 with constrained parameters.
        case 0x01, 0x02: .mpeg
        case 0x1B: .h264
        case 0x24: .h265
        default: nil
        }
      if let codec {
        video = (id, codec)
        return
      }
      header.hasAudio = header.hasAudio || [0x03, 0x04, 0x0F, 0x11, 0x80, 0x81].contains(entries[at])
      entries = entries.dropFirst(5 + (Int(entries[at + 3] & 15) << 8 | Int(entries[at + 4])))
    }
  }

  // MARK: - The video stream

  private mutating func append(_ payload: ArraySlice<UInt8>, isStart: Bool) {
    var payload = payload
    if isStart {
      // A PES packet begins with 9 bytes, of which the last is the length of further fields.
      guard payload.count >= 9, payload.prefix(3).elementsEqual([0, 0, 1]) else { return }
      payload = payload.dropFirst(9 + Int(payload[payload.startIndex + 8]))
    }
    if !stream.isEmpty || isStart { stream += payload }
  }

  /// Finds the units between start codes. The last one ends with the bytes that were read.
  private mutating func findUnits(isLast: Bool) {
    guard let codec = video?.codec else { return }
    var start: Int?
    var index = 0
    while index + 3 < stream.count {
      guard stream[index] == 0, stream[index + 1] == 0, stream[index + 2] == 1 else {
        index += 1
        continue
      }
      if let start { read(stream[start..<index], codec, next: stream[index + 3]) }
      start = index + 3
      index += 3
    }
    if isLast, let start { read(stream[start...], codec, next: nil) }
  }

  /// - Parameter next: the byte behind the next start code.
  private mutating func read(_ unit: ArraySlice<UInt8>, _ codec: Codec, next: UInt8?) {
    guard let type = unit.first else { return }
    switch codec {
    case .mpeg:
      if header.width == nil, type == 0xB3 { setSize(SequenceHeader.mpeg(unit.dropFirst(), next: next)) }
    case .h264:
      if header.width == nil, type & 31 == 7 { setSize(SequenceHeader.h264(unit.dropFirst().prefix(512))) }
      if header.date == nil, type & 31 == 6 { header.date = RecordingData.date(in: unescaped(unit.dropFirst())) }
    case .h265:
      if header.width == nil, type >> 1 & 63 == 33 { setSize(SequenceHeader.h265(unit.dropFirst(2).prefix(2048))) }
    }
  }

  private func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var zeros = 0
    for byte in bytes.prefix(4096) {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      result.append(byte)
    }
    return result
  }

  private mutating func setSize(_ size: (width: Int, height: Int)?) {
    if let size { header.setSize(size.width, size.height) }
  }

  // MARK: - The end of the file

  /// Reads the clock references of the last packets, in pieces from the file's end, until one has some.
  private mutating func readTail(from searched: Int) {
    let packets = (window.whole.end - first + step - 188) / step
    let piece = FileWindow.pieceBytes / step
    var last = packets
    while last > 0, (packets - last) * step < Self.tailBytes {
      let begin = max(0, last - piece)
      guard first + begin * step + 188 > searched else { return readForward(from: searched) }
      var found: Int?
      for index in begin..<last {
        guard let packet = packet(at: first + index * step) else { continue }
        let id = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
        if clockID == nil || clockID == id, let clock = Self.clock(packet) { found = clock }
      }
      if let found {
        lastClock = found
        return
      }
      last = begin
    }
  }

  /// Reads the rest of a short file.
  private mutating func readForward(from offset: Int) {
    var offset = offset
    for _ in 0..<(Self.tailBytes / step) {
      guard let packet = packet(at: offset) else { return }
      let id = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
      if clockID == nil || clockID == id, let clock = Self.clock(packet) { lastClock = clock }
      offset += step
    }
  }
}
