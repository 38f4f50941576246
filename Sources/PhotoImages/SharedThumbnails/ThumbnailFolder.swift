import Glibc

/// The folder of thumbnails that all programs of the user share: `thumbnails` in the user's cache folder, as the
/// freedesktop.org Thumbnail Managing Standard describes it.
///
/// A thumbnail is written to a temporary file and renamed, so a name has always a whole PNG. Only the user can read it.
struct ThumbnailFolder: Sendable {
  /// A folder in which a file can have a thumbnail.
  enum Place: Hashable, Sendable {
    case size(ThumbnailSize)
    /// photod could not make a thumbnail. The folder has the name and the version of the program, because another
    /// program, or another version, may succeed.
    case failure(version: String)

    var folder: String {
      switch self {
      case .size(let size): size.folder
      case .failure(let version): "fail/photod-\(version)"
      }
    }
  }

  struct WriteError: Error {
    var errorNumber: Int32
  }

  /// A thumbnail whose file is open for reading. The owner closes it.
  struct Opened {
    var descriptor: Int32
    var byteCount: Int
    var facts: ThumbnailFacts
    var size: ImageFrame
  }

  /// The facts come before the pixels, so a few bytes have them.
  private static let headBytes = 64 << 10
  /// It comes between the name of a thumbnail and the random end of the name of its temporary file.
  static let temporaryMark = ".photod-"
  /// A larger file is no thumbnail. One of 1024 × 1024 pixels has at most 4 MiB of pixels.
  static let maximumBytes = 8 << 20

  let path: String
  /// The path without symbolic links. The paths of photos have none.
  private let resolvedPath: String
  /// It is called after each change of the disk. Tests look at the disk then.
  private let onChange: @Sendable () -> Void

  init(path: String, onChange: @escaping @Sendable () -> Void = {}) {
    self.path = path
    self.onChange = onChange
    let resolved = realpath(path, nil)
    resolvedPath = resolved.map { String(cString: $0) } ?? path
    free(resolved)
  }

  /// Whether a thumbnail of the file may be written. The thumbnails themselves have none. A longer path can't be opened by
  /// other programs.
  func admits(_ file: [UInt8]) -> Bool {
    guard file.first == UInt8(ascii: "/"), file.count < PATH_MAX else { return false }
    return [path, resolvedPath].allSatisfy { !file.starts(with: Array($0.utf8) + [UInt8(ascii: "/")]) }
  }

  // MARK: - Reading

  /// Opens the thumbnail of a file, whatever it shows.
  /// - Returns: nil if there is none, or if it is not that of this file.
  func open(_ place: Place, of file: [UInt8]) -> Opened? {
    let uri = ThumbnailURI(path: file)
    guard let opened = Self.open(AT_FDCWD, name(place, uri)) else { return nil }
    guard opened.facts.uri ?? uri.text == uri.text else {
      close(opened.descriptor)
      return nil
    }
    return opened
  }

  /// Opens a thumbnail by its own path, which may be relative to an open folder.
  static func open(_ folder: Int32, _ path: String) -> Opened? {
    let descriptor = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumBytes
    else {
      close(descriptor)
      return nil
    }
    let bytes = FileReading.bytes(of: descriptor, offset: 0, count: min(headBytes, Int(status.st_size)))
    guard let header = PictureHeader(bytes[...]), header.isPNG, let facts = ThumbnailFacts(bytes) else {
      close(descriptor)
      return nil
    }
    return Opened(descriptor: descriptor, byteCount: Int(status.st_size), facts: facts, size: header.size)
  }

  /// Opens the thumbnail of an asset's file if it shows the present content, and is not larger than its size allows.
  func openValid(_ size: ThumbnailSize, of file: ImageFile, _ asset: ImageAsset) -> Opened? {
    guard let opened = open(.size(size), of: file.path) else { return nil }
    guard opened.facts.isValid(of: file, asset), max(opened.size.width, opened.size.height) <= size.side else {
      close(opened.descriptor)
      return nil
    }
    return opened
  }

  /// The facts of a thumbnail. Nil if there is none of this file.
  func facts(_ place: Place, of file: [UInt8]) -> ThumbnailFacts? {
    guard let opened = open(place, of: file) else { return nil }
    close(opened.descriptor)
    return opened.facts
  }

  // MARK: - Writing

  /// Writes a thumbnail.
  /// - Parameters:
  ///   - picture: a PNG. Its texts are replaced by the facts.
  ///   - file: the path of the photo, which is also that of the facts.
  func write(_ picture: [UInt8], _ facts: ThumbnailFacts, _ place: Place, of file: [UInt8]) throws(WriteError) {
    guard let bytes = PNGChunks.replacing(picture, with: facts.texts) else { throw WriteError(errorNumber: EINVAL) }
    let name = name(place, ThumbnailURI(path: file))
    let temporary = "\(name)\(Self.temporaryMark)\(String(UInt64.random(in: .min ... .max), radix: 36))"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    var descriptor = Glibc.open(temporary, flags, 0o600)
    if descriptor < 0, errno == ENOENT {
      makeFolders(place)
      descriptor = Glibc.open(temporary, flags, 0o600)
    }
    guard descriptor >= 0 else { throw WriteError(errorNumber: errno) }
    var done = 0
    var errorNumber: Int32 = 0
    while done < bytes.count, errorNumber == 0 {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count >= 0 { done += count } else if errno != EINTR { errorNumber = errno }
    }
    // Some file systems report a full disk when the file is closed.
    if close(descriptor) != 0, errorNumber == 0 { errorNumber = errno }
    if errorNumber == 0, rename(temporary, name) != 0 { errorNumber = errno }
    guard errorNumber == 0 else {
      unlink(temporary)
      throw WriteError(errorNumber: errorNumber)
    }
    onChange()
  }

  /// Gives a thumbnail to the new path of its file.
  /// - Returns: false if the old file has none now.
  func move(_ place: Place, from old: [UInt8], to new: [UInt8]) throws(WriteError) -> Bool {
    guard let opened = open(place, of: old) else { return false }
    let bytes = FileReading.bytes(of: opened.descriptor, offset: 0, count: opened.byteCount)
    close(opened.descriptor)
    var facts = opened.facts
    facts.uri = ThumbnailURI(path: new).text
    try write(bytes, facts, place, of: new)
    remove(place, of: old)
    return true
  }

  func remove(_ place: Place, of file: [UInt8]) {
    if unlink(name(place, ThumbnailURI(path: file))) == 0 { onChange() }
  }

  // MARK: - Private

  private func name(_ place: Place, _ uri: ThumbnailURI) -> String { "\(path)/\(place.folder)/\(uri.fileName)" }

  /// Makes the folder of a place and those above it. If one can't be made, the caller's next call reports that.
  private func makeFolders(_ place: Place) {
    // Someone may have named a cache folder that is not there yet.
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { mkdir(String(path[..<slash]), 0o700) }
    mkdir(path, 0o700)
    if case .failure = place { mkdir("\(path)/fail", 0o700) }
    mkdir("\(path)/\(place.folder)", 0o700)
  }
}
