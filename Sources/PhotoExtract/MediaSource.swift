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

  /// The file system of a file. A slow one may hold only some of the processes.
  package enum FileSystem: Hashable, Sendable {
    /// A drive, by its number (`st_dev`).
    case drive(UInt64)
    /// A share, by the object that reads its files.
    case share(ObjectIdentifier)

    package var isShare: Bool {
      if case .share = self { true } else { false }
    }
  }

  package let bytes: Bytes
  package let fileSystem: FileSystem
  /// The size by fstat(2).
  package let byteCount: Int64
  /// Without its folder.
  package let name: [UInt8]

  package init(bytes: Bytes, fileSystem: FileSystem, byteCount: Int64, name: [UInt8]) {
    self.bytes = bytes
    self.fileSystem = fileSystem
    self.byteCount = byteCount
    self.name = name
  }
}
