import Glibc
import WatchRecords

/// A folder on the way down a path.
///
/// The names of the path are looked at one after the other. A look at each prefix of the path would begin at the first
/// name each time. The time would grow with the square of the path's length.
protocol FolderOnPath {
  /// The kind of the entry with this name in the folder.
  func kind(of name: [UInt8]) -> NameKind
  /// The name of the file in the folder that keeps media programs out of it. nil if there is none or none is known.
  func marker() -> [UInt8]?
  /// Goes on to the folder of this name in it.
  mutating func enter(_ name: [UInt8])
}

/// The kinds of entries of a folder. Links are not followed.
enum NameKind {
  case folder, link, other, absent
  /// The folder can't be searched, or its share does not answer.
  case unknown
}

/// A folder of a drive, which is held open. So each call walks one name.
final class OpenFolder: FolderOnPath {
  private var descriptor: Int32
  /// The reason why it can't be opened, or 0.
  private var errorNumber: Int32

  init(_ path: [UInt8]) {
    descriptor = LongPath.openToWalk(path)
    errorNumber = descriptor < 0 ? errno : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func kind(of name: [UInt8]) -> NameKind {
    guard descriptor >= 0 else { return meansAbsent(errorNumber) ? .absent : .unknown }
    var status = stat()
    guard withCPath(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      return meansAbsent(errno) ? .absent : .unknown
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return .folder
    case S_IFLNK: return .link
    default: return .other
    }
  }

  func marker() -> [UInt8]? {
    guard descriptor >= 0 else { return nil }
    return NameRules.markers.first { name in
      withCPath(name) { Self.isMarker($0, in: descriptor, isTag: name == NameRules.cacheTag) }
    }
  }

  func enter(_ name: [UInt8]) {
    guard descriptor >= 0 else { return }
    let next = withCPath(name) { LongPath.openToWalk($0, in: descriptor) }
    errorNumber = next < 0 ? errno : 0
    close(descriptor)
    descriptor = next
  }

  /// - Parameter isTag: whether it is CACHEDIR.TAG, which must also begin with its signature.
  static func isMarker(_ path: UnsafePointer<CChar>, in folder: Int32, isTag: Bool) -> Bool {
    var status = stat()
    guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      return false
    }
    guard isTag else { return true }
    let descriptor = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var start = [UInt8](repeating: 0, count: NameRules.cacheTagSignature.count)
    return Glibc.read(descriptor, &start, start.count) == start.count && start == NameRules.cacheTagSignature
  }
}

/// A folder that the library knows only by its path, such as one of a share.
///
/// Each call walks the whole path, so only so many names are looked at. Folders of photos are less deep.
struct DistantFolder: FolderOnPath {
  static let mostNames = 256

  private let files: any PhotoFiles
  private var path: [UInt8]
  private var depth = 0

  init(_ path: [UInt8], files: any PhotoFiles) {
    self.files = files
    self.path = path
  }

  private func child(_ name: [UInt8]) -> [UInt8] {
    path.last == UInt8(ascii: "/") ? path + name : path + [UInt8(ascii: "/")] + name
  }

  func kind(of name: [UInt8]) -> NameKind {
    guard depth < Self.mostNames else { return .unknown }
    let place = child(name)
    if files.isLink(place) { return .link }
    guard files.exists(place) else { return .absent }
    return files.isFolder(place) ? .folder : .other
  }

  func marker() -> [UInt8]? {
    guard depth < Self.mostNames else { return nil }
    return NameRules.markers.first { files.isMarker(child($0)) }
  }

  mutating func enter(_ name: [UInt8]) {
    path = child(name)
    depth += 1
  }
}

extension PhotoFiles {
  func folder(_ path: [UInt8], toward target: [UInt8]) -> any FolderOnPath { DistantFolder(path, files: self) }
}
