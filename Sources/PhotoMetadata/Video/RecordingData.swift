import PhotoModel

/// The camera's data in the SEI messages of an AVCHD stream: Modified Digital Video Pack Metadata (MDPM).
///
/// The packs are those of IEC 61834-4. Their use in H.264 is not published; the rule is that of ExifTool's H264.pm.
enum RecordingData {
  /// The UUID 17ee8c60-f84d-11d9-8cd6-0800200c9a66 and the letters "MDPM".
  private static let signature: [UInt8] = [
    0x17, 0xEE, 0x8C, 0x60, 0xF8, 0x4D, 0x11, 0xD9, 0x8C, 0xD6, 0x08, 0x00, 0x20, 0x0C, 0x9A, 0x66, 0x4D, 0x44, 0x50,
    0x4D,
  ]
  private static let packLimit = 255

  /// - Parameter message: the payload of an SEI NAL unit, which may hold several messages.
  static func date(in message: [UInt8]) -> PhotoDate? {
    guard message.count > signature.count,
      let start = (0...(message.count - signature.count)).first(where: {
        message[$0] == signature[0] && message[$0..<($0 + signature.count)].elementsEqual(signature)
      })
    else { return nil }
    var offset = start + signature.count
    guard offset < message.count else { return nil }
    let count = min(Int(message[offset]), packLimit)
    offset += 1
    var day: ArraySlice<UInt8>?
    for _ in 0..<count {
      guard offset + 5 <= message.count else { return nil }
      let pack = message[(offset + 1)..<(offset + 5)]
      if message[offset] == 0x18 { day = pack }
      if message[offset] == 0x19, let day { return date(Array(day) + Array(pack)) }
      offset += 5
    }
    return nil
  }

  /// Zone, century, year, month, then day, hour, minute, second, all but the zone in decimal digits. The zone has its
  /// sign in bit 5, hours in bits 1 to 4, and half an hour in bit 0. Bit 7 says that there is none.
  private static func date(_ bytes: [UInt8]) -> PhotoDate? {
    var values: [Int] = []
    for byte in bytes.dropFirst() {
      guard byte >> 4 < 10, byte & 15 < 10 else { return nil }
      values.append(Int(byte >> 4) * 10 + Int(byte & 15))
    }
    guard values.count == 7 else { return nil }
    let zone = bytes[0]
    let minutes = Int(zone >> 1 & 15) * 60 + Int(zone & 1) * 30
    return PhotoDate(
      year: values[0] * 100 + values[1], month: values[2], day: values[3], hour: values[4], minute: values[5],
      second: values[6], offsetMinutes: zone & 0x80 != 0 ? nil : zone & 0x20 != 0 ? -minutes : minutes)
  }
}
