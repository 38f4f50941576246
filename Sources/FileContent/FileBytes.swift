import Glibc

/// The source of a file's bytes.
package enum FileBytes {
  case descriptor(Int32)
  /// Like pread(2), it returns the number of bytes read, 0 at the end, or -1 with errno set.
  case reader((UnsafeMutableRawBufferPointer, _ offset: Int) -> Int)

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    switch self {
    case .descriptor(let descriptor): pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    case .reader(let read): read(buffer, offset)
    }
  }
}
