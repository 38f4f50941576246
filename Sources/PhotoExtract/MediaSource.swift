/// A file whose facts are to be read.
package struct MediaSource: Sendable {
  /// The place of its bytes.
  package enum Bytes: Sendable {
    /// A descriptor that is open for reading. It stays open until the extraction has ended, and its offset does not move.
    case descriptor(Int32)
    /// Bytes that photod fetches, for a file that it must not open itself. Like pread(2), it returns the bytes from an
    /// offset on, none at the end, or an errno.
    case fetched(@Sendable (_ offset: UInt64, _ count: Int) -> FetchedBytes)
  }

  package enum FetchedBytes: Sendable {
    case bytes([UInt8])
    case failed(errorNumber: Int32)
  }

  package let bytes: Bytes
  /// The size by fstat(2).
  package let byteCount: Int64
  /// Without its folder.
  package let name: [UInt8]

  package init(bytes: Bytes, byteCount: Int64, name: [UInt8]) {
    self.bytes = bytes
    self.byteCount = byteCount
    self.name = name
  }
}
