import Glibc

// The files that a photod of another version, or one that was killed, left in the shared folder. Other programs write there
// too, so photod removes only files that it can recognise, and follows no symbolic link below the shared folder.
extension ThumbnailFolder {
  /// A temporary file that was not written for so long belongs to no running photod, in seconds.
  private static let oldestTemporary = 3600

  /// Removes temporary files that were not renamed, and the notes of failures of other versions of photod.
  /// - Parameter now: seconds since 1970.
  func removeLeftovers(exceptOf version: String, now: UInt32) {
    for size in ThumbnailSize.allCases {
      Self.withFolder(AT_FDCWD, "\(path)/\(size.folder)") { Self.removeTemporaries(in: $0, now: now) }
    }
    Self.withFolder(AT_FDCWD, "\(path)/fail") { fail in
      for name in FileReading.names(in: fail) where name.hasPrefix("photod-") {
        Self.withFolder(fail, name) { folder in
          Self.removeTemporaries(in: folder, now: now)
          if name != "photod-\(version)" { Self.removeThumbnails(in: folder) }
        }
        // It fails if the folder is not empty, or is a link.
        if name != "photod-\(version)" { unlinkat(fail, name, AT_REMOVEDIR) }
      }
    }
  }

  private static func removeTemporaries(in folder: Int32, now: UInt32) {
    for name in FileReading.names(in: folder) where isTemporary(name) {
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_mtim.tv_sec < Int(now) - oldestTemporary
      else { continue }
      unlinkat(folder, name, 0)
    }
  }

  /// Removes the thumbnails that photod has written.
  private static func removeThumbnails(in folder: Int32) {
    for name in FileReading.names(in: folder) where isThumbnail(name[...]) {
      guard let opened = open(folder, name) else { continue }
      close(opened.descriptor)
      if opened.facts.assetID != nil { unlinkat(folder, name, 0) }
    }
  }

  /// - Parameter body: gets a descriptor of the folder. It is not called if the path names none, or a link.
  private static func withFolder(_ parent: Int32, _ name: String, _ body: (Int32) -> Void) {
    let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    body(descriptor)
    close(descriptor)
  }

  private static func isThumbnail(_ name: Substring) -> Bool {
    name.utf8.count == 36 && name.hasSuffix(".png") && name.utf8.prefix(32).allSatisfy { isDigit($0, below: 16) }
  }

  private static func isTemporary(_ name: String) -> Bool {
    let parts = (name.prefix(36), name.dropFirst(36))
    guard isThumbnail(parts.0), parts.1.hasPrefix(temporaryMark) else { return false }
    let random = parts.1.utf8.dropFirst(temporaryMark.utf8.count)
    return (1...13).contains(random.count) && random.allSatisfy { isDigit($0, below: 36) }
  }

  /// Whether it is a lower-case digit of this base.
  private static func isDigit(_ byte: UInt8, below base: Int) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a")) + 10 < base
    default: false
    }
  }
}
