/// Reads bits and Exp-Golomb codes of an H.264 or H.265 header (ITU-T H.264, 7.2 and 9.1). A read beyond the end gives
/// zeros and sets ``isExhausted``.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var isExhausted = false

  /// - Parameter payload: the bytes of a NAL unit after its header. Emulation prevention bytes are removed.
  init(_ payload: some Sequence<UInt8>) {
    var bytes: [UInt8] = []
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  mutating func bit() -> Int {
    guard position < 8 * bytes.count else {
      isExhausted = true
      return 0
    }
    defer { position += 1 }
    return Int(bytes[position / 8] >> (7 - UInt8(position % 8))) & 1
  }

  /// - Parameter count: at most 32.
  mutating func bits(_ count: Int) -> Int {
    var value = 0
    for _ in 0..<count { value = value << 1 | bit() }
    return value
  }

  mutating func skip(_ count: Int) {
    position += count
    if position > 8 * bytes.count { isExhausted = true }
  }

  /// `ue(v)`
  mutating func unsigned() -> Int {
    var zeros = 0
    while zeros < 32, !isExhausted, bit() == 0 { zeros += 1 }
    guard !isExhausted, zeros < 32 else {
      isExhausted = true
      return 0
    }
    return (1 << zeros) - 1 + bits(zeros)
  }

  /// `se(v)`
  mutating func signed() -> Int {
    let code = unsigned()
    return code % 2 == 1 ? (code + 1) / 2 : -(code / 2)
  }
}
