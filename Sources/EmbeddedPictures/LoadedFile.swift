// SPDX-License-Identifier: GPL-2.0-or-later

import CSandbox
import Glibc
import PictureDecoding
import SystemErrors

/// A file in memory that this process may change. The file itself never changes.
///
/// Small files are read. If the disk fails, the error is `readFailed`. Large files are mapped, because often only a small
/// part of them is needed. If the disk of a mapped file fails, or the file shrinks, SIGBUS ends this process. photod
/// starts another process, and does not mark the file as unreadable.
package final class LoadedFile {
  /// Files up to this size are read.
  private static let largestRead = 64 << 20
  /// The largest file that is read if the caller uses only a part of it. To read 30 MB takes longer than to decode an embedded picture.
  private static let largestReadForPart = 1 << 20

  private let memory: UnsafeMutableRawBufferPointer
  private let isMapped: Bool
  /// Whether this is the whole file.
  package let isWhole: Bool

  /// - Parameters:
  ///   - most: how many bytes are needed. Nil means the whole file.
  ///   - usesPart: whether only a part of these bytes will be used.
  package init(descriptor: Int32, most: Int? = nil, usesPart: Bool = false) throws(PictureError) {
    let size = Int(sandbox_file_size(descriptor))
    guard size >= 0 else {
      throw PictureError(.readFailed, "the size of the file is not known: \(errorText(errno))")
    }
    guard size > 0 else { throw PictureError(.unreadable, "the file is empty") }
    let count = min(size, most ?? size)
    isMapped = count > (usesPart ? Self.largestReadForPart : Self.largestRead)
    if isMapped {
      let mapped = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0)
      guard let mapped, mapped != MAP_FAILED else {
        throw PictureError(
          errno == ENOMEM ? .outOfMemory : .readFailed, "a file of \(count) bytes can't be mapped: \(errorText(errno))")
      }
      memory = UnsafeMutableRawBufferPointer(start: mapped, count: count)
      isWhole = count == size
    } else {
      guard let start = malloc(count) else { throw PictureError(.outOfMemory, "the file has \(count) bytes") }
      var done = 0
      while done < count {
        let number = pread(descriptor, start + done, count - done, off_t(done))
        if number < 0, errno == EINTR { continue }
        guard number >= 0 else {
          let error = errno
          free(start)
          throw PictureError(.readFailed, "the file can't be read: \(errorText(error))")
        }
        // Another program has cut the file off.
        if number == 0 { break }
        done += number
      }
      memory = UnsafeMutableRawBufferPointer(start: start, count: done)
      isWhole = done == size
    }
  }

  deinit {
    if isMapped {
      munmap(memory.baseAddress, memory.count)
    } else {
      free(memory.baseAddress)
    }
  }

  package var view: ByteView { ByteView(UnsafeRawBufferPointer(memory), owner: self) }

  /// Changes one byte in memory.
  package func set(_ byte: UInt8, at offset: Int) { memory[offset] = byte }
}
