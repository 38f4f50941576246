import Dispatch
import Glibc
import Logging
import PhotoModel
import Synchronization

/// The pictures that are kept in the cache directory.
///
/// 1. A picture is written to a temporary file and renamed, so a name has always a whole picture.
/// 2. The least recently used pictures are evicted if all together exceed `maximumBytes`. A picture stays while it is
///    pinned, for 60 s after it was sent, and while a caching set holds it.
/// 3. Each use checks the header and the end of the file, and the checksum of all of it. A damaged picture counts as
///    missing.
/// 4. The folder itself is the index: the name of a file says which picture it is, and its times say when it was used. So
///    the memory of the store does not grow with the number of pictures. It knows the bytes of each of the 256 folders,
///    which are read once in the background, and before each eviction.
/// 5. Libraries with different catalogs may use the folder at the same time. All pictures count, and those that were used
///    least recently are evicted. Otherwise, the pictures of another library stay, because this one does not know its
///    assets.
///
/// The lock is held while one file is moved or removed, and never for many files: each lookup of a picture needs it.
/// `isHeld` is called with it, so it must not call the store.
final class PictureStore: Sendable {
  /// A kept picture. It is pinned until ``unpin(_:wasSent:)``.
  struct Found: Hashable, Sendable {
    var key: PictureKey
    var path: String
    var header: PictureHeader
    var byteCount: Int
  }

  struct WriteError: Error {
    var errorNumber: Int32

    var isFull: Bool { errorNumber == ENOSPC || errorNumber == EDQUOT }
  }

  /// The time of the last use is written to the disk if it has grown by so many seconds.
  static let useInterval: UInt32 = 60

  struct State {
    var maximumBytes: Int64
    /// The bytes of the pictures in each folder, with those that stay only for a while.
    var byteCounts = [Int64](repeating: 0, count: KeptFiles.folderCount)
    /// The changes of each folder, so that one that changes while it is read is read again.
    var changeCounts = [UInt32](repeating: 0, count: KeptFiles.folderCount)
    /// The results that name a picture and wait for being sent.
    var pins: [PictureKey: Int] = [:]
    var sent = RecentlySent()
    /// Pictures that were removed, but must stay readable for a while. The value says whether the file is PNG.
    var pendingRemovals: [PictureKey: Bool] = [:]
    /// The assets that were deleted, and those whose pictures of other revisions must go, until a thread removes them.
    var deleted: Set<AssetID> = []
    var changed: Set<AssetID> = []
    var temporaryCount = 0
    var isTidyScheduled = false
    var isEvictionScheduled = false
    /// No picture is removed from this time on. The next engine may have made and sent one under the same name.
    var removalEnd = DispatchTime.distantFuture
    /// No eviction begins before this time, because the last one found too few pictures that could go.
    var evictionPause: UInt32 = 0

    var byteCount: Int64 { byteCounts.reduce(0, +) }
    var mayRemove: Bool { DispatchTime.now() < removalEnd }
  }

  let files: KeptFiles
  /// The library in the keys of this store's own pictures.
  let library: UInt64
  let clock: ImageClock
  let logger: Logger
  let isHeld: @Sendable (_ assetID: AssetID) -> Bool
  /// The assets among these that were deleted; none if it is not known.
  let missing: @Sendable (_ assetIDs: Set<AssetID>) -> Set<AssetID>
  /// The revision of an asset as the store knows it, or nil if there is none, or it is not known.
  let revision: @Sendable (_ assetID: AssetID) -> UInt64?
  let state: Mutex<State>
  /// Reads the folders, and removes pictures.
  let queue = DispatchQueue(label: "photod.pictures", qos: .utility)
  /// The names of this store's temporary files begin with it.
  let token: String

  init(
    directory: String, library: UInt64, maximumBytes: Int64, clock: ImageClock, logger: Logger,
    revision: @escaping @Sendable (_ assetID: AssetID) -> UInt64? = { _ in nil },
    missing: @escaping @Sendable (_ assetIDs: Set<AssetID>) -> Set<AssetID> = { _ in [] },
    isHeld: @escaping @Sendable (_ assetID: AssetID) -> Bool
  ) {
    files = KeptFiles(directory: directory)
    self.library = library
    token = Self.tokenStart(library) + String(UInt64.random(in: .min ... .max), radix: 16)
    state = Mutex(State(maximumBytes: maximumBytes))
    self.clock = clock
    self.logger = logger
    self.revision = revision
    self.missing = missing
    self.isHeld = isHeld
  }

  /// The names of a library's temporary files begin with it.
  static func tokenStart(_ library: UInt64) -> String { String(library, radix: 16) + "-" }

  /// Waits for the work that was ordered before.
  func waitUntilIdle() { queue.sync {} }

  var byteCount: Int64 { state.withLock { $0.byteCount } }
  var maximumBytes: Int64 { state.withLock { $0.maximumBytes } }

  // MARK: - Finding

  /// Looks up a picture, checks its file and pins it.
  func find(_ key: PictureKey) -> Found? {
    let isRemoved = state.withLock { state in
      guard state.pendingRemovals[key] == nil else { return true }
      // No eviction removes it while it is checked.
      state.pins[key, default: 0] += 1
      return false
    }
    guard !isRemoved else { return nil }
    for isPNG in [key.asksForPNG, !key.asksForPNG] {
      switch check(key, isPNG: isPNG) {
      case .found(let found): return found
      case .missing: continue
      case .damaged(let inode): removeDamaged(key, isPNG: isPNG, inode: inode)
      }
    }
    state.withLock { Self.releasePin(key, &$0) }
    return nil
  }

  /// The bytes of a picture. Nil if they can't be read.
  func bytes(of found: Found) -> [UInt8]? {
    let descriptor = open(found.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = FileReading.bytes(of: descriptor, offset: 0, count: found.byteCount)
    return bytes.count == found.byteCount ? bytes : nil
  }

  /// A part of a picture: fewer bytes if it ends before. Nil if its file is gone.
  func bytes(of found: Found, offset: Int, count: Int) -> [UInt8]? {
    let descriptor = open(found.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let left = max(0, found.byteCount - max(0, offset))
    return FileReading.bytes(of: descriptor, offset: max(0, offset), count: min(count, left))
  }

  /// Pins a picture once more, for another result.
  func pin(_ key: PictureKey) { state.withLock { $0.pins[key, default: 0] += 1 } }

  /// Ends one pin.
  /// - Parameter wasSent: whether the picture's path was sent now. It stays readable for 60 s.
  func unpin(_ key: PictureKey, wasSent: Bool) {
    let now = clock.seconds()
    state.withLock { state in
      Self.releasePin(key, &state)
      guard wasSent else { return }
      state.sent.note(key, at: now)
      scheduleTidy(&state)
    }
  }

  static func releasePin(_ key: PictureKey, _ state: inout State) {
    let count = (state.pins[key] ?? 0) - 1
    state.pins[key] = count > 0 ? count : nil
  }

  private enum Check {
    case found(Found)
    case missing
    case damaged(inode: UInt)
  }

  private func check(_ key: PictureKey, isPNG: Bool) -> Check {
    let path = files.path(of: key, isPNG: isPNG)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return .missing }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .missing }
    let size = Int(status.st_size)
    let start = FileReading.bytes(of: descriptor, offset: 0, count: min(size, PictureHeader.maximumBytes))
    let endOffset = max(0, size - PictureHeader.endBytes)
    let end =
      size <= start.count ? start : FileReading.bytes(of: descriptor, offset: endOffset, count: size - endOffset)
    guard let header = PictureHeader(start[...]), header.isPNG == isPNG,
      PictureHeader.hasEnd(end[...], isPNG: isPNG), PictureChecksum.holds(descriptor, byteCount: size)
    else { return .damaged(inode: UInt(status.st_ino)) }
    let now = clock.seconds()
    // The order of use is that of the disk. If the time can't be set, the picture only looks older than it is.
    if now > KeptFile(key: key, isPNG: isPNG, status).lastUse &+ Self.useInterval {
      _ = futimens(descriptor, [timespec(tv_sec: Int(now), tv_nsec: 0), Self.omitted])
    }
    return .found(Found(key: key, path: path, header: header, byteCount: size))
  }

  /// UTIME_OMIT, which Swift does not import: the time stays.
  private static let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)

  private func removeDamaged(_ key: PictureKey, isPNG: Bool, inode: UInt) {
    let path = files.path(of: key, isPNG: isPNG)
    state.withLock { state in
      // Another thread may have made it again.
      var status = stat()
      guard lstat(path, &status) == 0, UInt(status.st_ino) == inode else { return }
      unlink(path)
      state.changeCounts[key.folder] &+= 1
    }
    // Its size may be another one than was counted.
    measureLater(key.folder)
  }

  // MARK: - Writing

  /// Keeps a picture, and pins it.
  func put(_ key: PictureKey, _ bytes: [UInt8], _ header: PictureHeader) throws(WriteError) -> Found {
    let temporary = try writeTemporary(bytes)
    let path = files.path(of: key, isPNG: header.isPNG)
    let (errorNumber, evicts) = state.withLock { state -> (Int32, Bool) in
      let former = [true, false].compactMap { files.file(of: key, isPNG: $0) }
      let (number, isNewFolder) = move(temporary, to: path)
      guard number == 0 else { return (number, false) }
      if isNewFolder { state.byteCounts[key.folder] = 0 }
      for file in former {
        if file.isPNG != header.isPNG { unlink(files.path(of: key, isPNG: file.isPNG)) }
        state.byteCounts[key.folder] -= Int64(file.byteCount)
      }
      state.byteCounts[key.folder] += Int64(bytes.count)
      state.changeCounts[key.folder] &+= 1
      state.pendingRemovals[key] = nil
      state.pins[key, default: 0] += 1
      return (0, takeEviction(&state))
    }
    guard errorNumber == 0 else {
      unlink(temporary)
      throw WriteError(errorNumber: errorNumber)
    }
    if evicts { queue.async { self.tidy() } }
    return Found(key: key, path: path, header: header, byteCount: bytes.count)
  }

  private func writeTemporary(_ bytes: [UInt8]) throws(WriteError) -> String {
    let number = state.withLock { state in
      state.temporaryCount += 1
      return state.temporaryCount
    }
    let path = "\(files.directory)/temporary/\(token)-\(number)"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = open(path, flags, 0o600)
    if descriptor < 0, errno == ENOENT {
      let errorNumber = makePrivateFolders("\(files.directory)/temporary")
      guard errorNumber == 0 else { throw WriteError(errorNumber: errorNumber) }
      descriptor = open(path, flags, 0o600)
    }
    guard descriptor >= 0 else { throw WriteError(errorNumber: errno) }
    var done = 0
    var errorNumber: Int32 = 0
    while done < bytes.count, errorNumber == 0 {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count >= 0 { done += count } else if errno != EINTR { errorNumber = errno }
    }
    PictureChecksum.write(bytes, to: descriptor)
    // The order of use is by the clock of the store. A picture whose time can't be set has that of the file system.
    let now = timespec(tv_sec: Int(clock.seconds()), tv_nsec: 0)
    _ = futimens(descriptor, [now, now])
    // Some file systems report a full disk when the file is closed.
    if close(descriptor) != 0, errorNumber == 0 { errorNumber = errno }
    guard errorNumber == 0 else {
      unlink(path)
      throw WriteError(errorNumber: errorNumber)
    }
    return path
  }

  /// - Returns: an errno, or 0, and whether the folder had to be made.
  private func move(_ temporary: String, to path: String) -> (Int32, isNewFolder: Bool) {
    if rename(temporary, path) == 0 { return (0, false) }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { return (errno, false) }
    let errorNumber = makePrivateFolders(String(path[..<slash]))
    guard errorNumber == 0 else { return (errorNumber, false) }
    return (rename(temporary, path) == 0 ? 0 : errno, true)
  }
}
