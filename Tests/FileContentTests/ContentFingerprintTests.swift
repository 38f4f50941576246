import Testing

@testable import FileContent

/// Catalogs store fingerprints for years, so they must never change.
@Suite struct ContentFingerprintTests {
  /// The author's test vectors (https://github.com/wangyi-fudan/wyhash, test_vector.cpp), seeds 0 to 6.
  @Test(
    arguments: [
      (0, "", 0x9322_8a4d_e0ee_c5a2), (1, "a", 0xc5ba_c3db_1787_13c4), (2, "abc", 0xa97f_2f7b_1d9b_3314),
      (3, "message digest", 0x786d_1f1d_f380_1df4), (4, "abcdefghijklmnopqrstuvwxyz", 0xdca5_a813_8ad3_7c87),
      (5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xb9e7_34f1_17cf_af70),
      (6, String(repeating: "1234567890", count: 8), 0x6cc5_eab4_9a92_d617),
    ] as [(UInt64, String, UInt64)])
  func hashIsWyhash(seed: UInt64, text: String, hash: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { ContentFingerprint.wyhash($0, seed: seed) } == hash)
  }

  private func fingerprint(_ bytes: [UInt8], size: Int64? = nil) -> UInt64 {
    bytes.withUnsafeBytes { ContentFingerprint.of(head: $0, byteCount: size ?? Int64(bytes.count)) }
  }

  @Test func everyByteOfTheFingerprintedPartChangesTheFingerprint() {
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let whole = fingerprint(bytes)
    for place in Array(stride(from: 0, to: ContentFingerprint.byteCount, by: 97)) + [ContentFingerprint.byteCount - 1] {
      var other = bytes
      other[place] ^= 1
      #expect(fingerprint(other) != whole)
    }
    var beyond = bytes
    beyond[ContentFingerprint.byteCount] ^= 1
    #expect(fingerprint(beyond) == whole)
  }

  @Test func sizeCounts() {
    let bytes = [UInt8](repeating: 7, count: ContentFingerprint.byteCount)
    #expect(fingerprint(bytes, size: 20_000) != fingerprint(bytes, size: 20_001))
  }

  @Test func alignmentDoesNotCount() {
    let bytes = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 131) }
    for shift in 1..<8 {
      let shifted = [UInt8](repeating: 0, count: shift) + bytes
      let hash = shifted.withUnsafeBytes {
        ContentFingerprint.of(head: UnsafeRawBufferPointer(rebasing: $0[shift...]), byteCount: 4_096)
      }
      #expect(hash == fingerprint(bytes))
    }
  }
}
