import PhotoClient
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folders of the library, by which the paths of the command line are understood.
///
/// photod knows a root by its path without symbolic links, and follows no links below it. So a path that leads through
/// links to a root gets the path of that root. All other paths stay as they are.
struct LibraryFolders: Sendable {
  let roots: [[UInt8]]

  init(_ status: LibraryStatus) { roots = status.roots.map { FilePath.bytes($0.path) } }

  /// The kernel has the same limit.
  private static let maximumLinks = 40

  /// The path by which photod knows the file, in the form of the contract.
  func text(_ argument: String) -> String { FilePath.text(resolved(AbsolutePath.bytes(argument))) }

  /// In the name of an album, the path of a folder follows it.
  static let albumPrefix = "folder:"

  /// The name of an album. In `folder:PATH`, the path becomes the one by which photod knows the folder.
  func album(_ name: String) -> String {
    guard name.hasPrefix(Self.albumPrefix), name.count > Self.albumPrefix.count else { return name }
    return Self.albumPrefix + text(String(name.dropFirst(Self.albumPrefix.count)))
  }

  /// - Parameter path: absolute, without `.` and `..`.
  func resolved(_ path: [UInt8]) -> [UInt8] {
    var place = path
    for _ in 0..<Self.maximumLinks {
      if hasRoot(above: place) { return place }
      guard let next = Self.withoutFirstLink(place) else { break }
      place = next
    }
    return path
  }

  /// Whether the library may have photos in the folder or below it. It has none before its roots are known.
  func mayContain(_ folder: [UInt8]) -> Bool {
    roots.isEmpty || hasRoot(above: folder) || roots.contains { Self.contains(folder, $0) }
  }

  var knowsRoots: Bool { !roots.isEmpty }

  private func hasRoot(above path: [UInt8]) -> Bool { roots.contains { Self.contains($0, path) } }

  /// Whether the second path is the first one, or lies below it.
  static func contains(_ outer: [UInt8], _ inner: [UInt8]) -> Bool {
    outer == [slash] || (inner.starts(with: outer) && (inner.count == outer.count || inner[outer.count] == slash))
  }

  private static let slash = UInt8(ascii: "/")

  /// The path with its first symbolic link replaced by the target; nil if there is no link, or if it leads nowhere.
  private static func withoutFirstLink(_ path: [UInt8]) -> [UInt8]? {
    var place: [UInt8] = []
    for name in path.split(separator: slash) {
      place += [slash] + name
      let text = place.map { CChar(bitPattern: $0) } + [0]
      var status = stat()
      guard lstat(text, &status) == 0 else { return nil }
      guard status.st_mode & S_IFMT == S_IFLNK else { continue }
      guard let real = realpath(text, nil) else { return nil }
      defer { free(real) }
      let target = UnsafeBufferPointer(start: real, count: strlen(real)).map { UInt8(bitPattern: $0) }
      return AbsolutePath.bytes(target + path.dropFirst(place.count), in: target)
    }
    return nil
  }
}

extension PhotoLibrary {
  func folders() async throws -> LibraryFolders { LibraryFolders(try await status()) }

  /// Whether the library has this folder, or anything in it. A folder that is offline stays known.
  func knows(_ folder: [UInt8], _ folders: LibraryFolders) async throws -> Bool {
    if folders.roots.contains(where: { LibraryFolders.contains(folder, $0) }) { return true }
    let photos = FetchOptions(predicate: PredicateText.under(folder), includeHidden: true)
    if try await fetchPage(photos, count: 0).total > 0 { return true }
    return try await collections(kinds: [.folderAlbum]).contains { album in
      album.path.map { LibraryFolders.contains(folder, FilePath.bytes($0)) } ?? false
    }
  }
}
