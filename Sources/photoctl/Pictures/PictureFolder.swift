import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folder into which pictures are copied.
struct PictureFolder: Sendable {
  private let path: String
  private let overwrites: Bool

  /// Makes the folder, but not those above it.
  ///
  /// - Throws: ``Failure``.
  init(_ path: String, overwrites: Bool) throws {
    self.path = path
    self.overwrites = overwrites
    guard mkdir(path, 0o777) != 0 else { return }
    let code = errno
    var status = stat()
    guard code == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      let reason = code == EEXIST ? "it is no folder" : errorText(code)
      throw Failure(
        .inputOutput, "the folder \(Printable.text(path)) can't be made: \(reason)",
        remedy: "Name a folder in one that exists and that you may write.")
    }
  }

  /// Whether the path is probably meant as that of a picture: it has the extension of one, and no folder is there.
  static func isNamedAsPicture(_ path: String) -> Bool {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = name.lastIndex(of: "."), extensions.contains(name[name.index(after: dot)...].lowercased()) else {
      return false
    }
    return !AbsolutePath.isFolder(path)
  }

  private static let extensions: Set = [
    "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "bmp", "heic", "heif", "avif", "jxl",
  ]

  /// Copies a file to a temporary file, and gives that its name when it is whole.
  ///
  /// - Returns: the path of the copy.
  /// - Throws: ``Failure``.
  func copy(_ source: String, as name: String) throws -> String {
    let target = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    let bytes = try Input.readAll(path: source, remedy: "photod keeps a picture for 60 seconds. Run the command again.")
    let temporary = "\(target).\(getpid()).tmp"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard file >= 0 else { throw failure(target, errno) }
    let code = Self.write(bytes, to: file)
    guard close(file) == 0, code == 0 else {
      unlink(temporary)
      throw failure(target, code != 0 ? code : errno)
    }
    defer { unlink(temporary) }
    // link(2) fails if the name is taken, also by a file that another process has just made.
    guard (overwrites ? rename(temporary, target) : link(temporary, target)) == 0 else {
      // A file system such as FAT has no links.
      if !overwrites, errno == EPERM || errno == EOPNOTSUPP, access(target, F_OK) != 0, rename(temporary, target) == 0 {
        return target
      }
      throw failure(target, errno)
    }
    return target
  }

  private static func write(_ bytes: [UInt8], to file: Int32) -> Int32 {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = writeSome(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { return errno }
        rest = rest.dropFirst(count)
      }
      return 0
    }
  }

  private func failure(_ target: String, _ code: Int32) -> Failure {
    code == EEXIST
      ? Failure(
        .inputOutput, "\(Printable.text(target)) exists", remedy: "Choose another folder, or replace it by --overwrite."
      )
      : Failure(
        .inputOutput, "\(Printable.text(target)) can't be written: \(errorText(code))",
        remedy: "Check the folder's permissions and its disk.")
  }
}

/// write(2), which a method of the same name would hide.
private func writeSome(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(file, bytes, count) }
