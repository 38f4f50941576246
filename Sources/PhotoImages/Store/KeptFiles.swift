import Glibc

/// A kept picture, as its file describes it.
struct KeptFile: Hashable, Sendable {
  var key: PictureKey
  var isPNG: Bool
  var byteCount: Int
  /// The last use, in seconds since 1970.
  var lastUse: UInt32

  init(key: PictureKey, isPNG: Bool, _ status: stat) {
    self.key = key
    self.isPNG = isPNG
    byteCount = Int(status.st_size)
    lastUse = UInt32(clamping: max(status.st_atim.tv_sec, status.st_mtim.tv_sec))
  }
}

/// The files of the store on the disk. Their names say all that photod knows of a picture, so it keeps no list of them.
struct KeptFiles: Sendable {
  static let folderCount = 256

  let directory: String

  func path(of key: PictureKey, isPNG: Bool) -> String { "\(directory)/\(key.name(isPNG: isPNG))" }

  /// The file of a picture. Nil if there is none.
  func file(of key: PictureKey, isPNG: Bool) -> KeptFile? {
    var status = stat()
    guard lstat(path(of: key, isPNG: isPNG), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return KeptFile(key: key, isPNG: isPNG, status)
  }

  /// The pictures in a folder.
  ///
  /// - Parameter isWanted: chooses the pictures whose files are looked at.
  /// - Complexity: O(*n*) for *n* names in the folder, with one call of the system for each wanted file.
  func files(in folder: Int, of isWanted: (PictureKey) -> Bool = { _ in true }) -> [KeptFile] {
    FileReading.names(in: "\(directory)/\(PictureKey.folderName(folder))").compactMap { name in
      guard let (key, isPNG) = PictureKey.parse(name), isWanted(key) else { return nil }
      return file(of: key, isPNG: isPNG)
    }
  }
}

/// The files that were used least recently, of any number that are added. It holds at most twice `most` of them.
struct OldestFiles {
  private let most: Int
  private var files: [KeptFile] = []
  /// Files that were used later are not among the oldest ones.
  private var limit = UInt32.max

  init(_ most: Int) { self.most = most }

  /// Whether a file with this last use may be among the oldest ones.
  func mayTake(_ file: KeptFile) -> Bool { file.lastUse <= limit }

  mutating func add(_ file: KeptFile) {
    files.append(file)
    guard files.count == 2 * most else { return }
    files = sorted
    limit = files[most - 1].lastUse
    files.removeLast(most)
  }

  /// The oldest first.
  var sorted: [KeptFile] { files.sorted { $0.lastUse < $1.lastUse } }
}
