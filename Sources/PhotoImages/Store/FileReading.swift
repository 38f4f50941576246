import Glibc

enum FileReading {
  /// Reads bytes from an offset on: fewer if the file ends before, or can't be read.
  static func bytes(of descriptor: Int32, offset: Int, count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
        if read > 0 { filled += read } else if read == 0 || errno != EINTR { return }
      }
    }
  }

  /// The names in a folder, without those that begin with a dot. None if it can't be read.
  static func names(in folder: String) -> [String] {
    opendir(folder).map { names(closing: $0) } ?? []
  }

  /// The names in an open folder, which stays open.
  static func names(in folder: Int32) -> [String] {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return [] }
    guard let stream = fdopendir(copy) else {
      close(copy)
      return []
    }
    return names(closing: stream)
  }

  private static func names(closing stream: OpaquePointer) -> [String] {
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
