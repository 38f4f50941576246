/// A digest of content in 128 bits. Equal bytes have equal digests, and a collision is too unlikely to consider.
package struct ContentDigest: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The form that catalogs store: 16 bytes, the highest first. A restart reads a digest of each small file.
  ///
  /// - Returns: nil unless there are exactly 16 bytes.
  package init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Calls `body` with the 16 bytes that ``init(bytes:)`` takes.
  package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
  }

  /// 32 hex digits.
  package init?(text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 32, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// 32 hex digits.
  package var text: String {
    [high, low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}

/// The known marks of a file's content.
///
/// | mark | input | use |
/// |---|---|---|
/// | ``fingerprint`` | the first 16 KiB, and the size | a key that finds candidates; it proves nothing |
/// | ``sample`` | six blocks of 16 KiB; all of a file of at most 96 KiB | proof together with size, name and modification time |
/// | ``hash`` | the whole content | proof |
///
/// Sample and hash are valid for the size, modification time, change time and inode that are stored beside them. If one
/// of these changes, both are void (see ``voided``). The exception is a change time that a rename reported by the
/// kernel explains.
package struct ContentMarks: Hashable, Sendable {
  package var fingerprint: UInt64?
  package var sample: ContentDigest?
  package var hash: ContentDigest?

  package init(fingerprint: UInt64? = nil, sample: ContentDigest? = nil, hash: ContentDigest? = nil) {
    self.fingerprint = fingerprint
    self.sample = sample
    self.hash = hash
  }

  /// The marks after the file's stat has changed: only the fingerprint is left.
  package var voided: ContentMarks { ContentMarks(fingerprint: fingerprint) }

  /// Whether a sample or hash proves that the contents are equal. A sample suffices for files with the same inode or
  /// the same place.
  package func provesContent(of other: ContentMarks) -> Bool {
    mayEqual(other) && ((hash != nil && other.hash != nil) || (sample != nil && other.sample != nil))
  }

  /// Whether the marks that both have do not contradict each other.
  package func mayEqual(_ other: ContentMarks) -> Bool {
    func agree<Mark: Equatable>(_ one: Mark?, _ two: Mark?) -> Bool {
      guard let one, let two else { return true }
      return one == two
    }
    return agree(fingerprint, other.fingerprint) && agree(sample, other.sample) && agree(hash, other.hash)
  }
}
