import Dispatch
import Glibc
import Logging
import Synchronization

/// The pictures that are kept in the cache directory.
///
/// 1. A picture is written to a temporary file and renamed, so a name has always a whole picture.
/// 2. The least recently used pictures are evicted if all together exceed `maximumBytes`. A picture stays while it is
///    pinned, for 60 s after it was sent, and while a caching set holds it.
/// 3. Each use checks the size, the header and the end of the file. A damaged picture counts as missing.
/// 4. The folder is read once, in the background. Until then, a picture that is asked for is looked up on the disk.
///
/// The lock is held for single calls of the file system. `isHeld` is called with it, so it must not call the store.
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

  /// How long a path stays readable, in seconds. Times are whole seconds, so it may be one more.
  static let sentTime: UInt32 = 60
  /// The time of the last use is written to the disk if it has grown by so many seconds.
  private static let useInterval: UInt32 = 3600

  private struct State {
    var maximumBytes: Int64
    var index = PictureIndex()
    /// The results that name a picture and wait for being sent.
    var pins: [PictureKey: Int] = [:]
    /// Pictures that were removed, but must stay readable for a while.
    var pendingRemovals: [PictureKey: PictureIndex.Entry] = [:]
    var pendingRemovalBytes: Int64 = 0
    /// The folders that were read.
    var isScanned = [Bool](repeating: false, count: 256)
    var temporaryCount = 0
    var isTidyScheduled = false

    var byteCount: Int64 { index.byteCount + pendingRemovalBytes }
  }

  private let directory: String
  private let clock: ImageClock
  private let logger: Logger
  private let isHeld: @Sendable (_ assetID: Int64) -> Bool
  private let state: Mutex<State>
  /// Reads the folder, and removes pictures after that.
  private let queue = DispatchQueue(label: "photod.pictures", qos: .utility)
  /// The names of this store's temporary files begin with it. Other temporary files are those of a killed photod.
  private let token = String(UInt64.random(in: .min ... .max), radix: 16)

  init(
    directory: String, maximumBytes: Int64, clock: ImageClock, logger: Logger,
    isHeld: @escaping @Sendable (_ assetID: Int64) -> Bool
  ) {
    self.directory = directory
    state = Mutex(State(maximumBytes: maximumBytes))
    self.clock = clock
    self.logger = logger
    self.isHeld = isHeld
  }

  /// Reads the folder in the background.
  func scan() { queue.async { self.scanAll() } }

  /// Waits for the scan and the removals that were ordered before.
  func waitUntilIdle() { queue.sync {} }

  var byteCount: Int64 { state.withLock { $0.byteCount } }
  var maximumBytes: Int64 { state.withLock { $0.maximumBytes } }

  /// Changes the size of the store. If there are too many bytes, pictures are evicted in the background.
  func setMaximumBytes(_ maximumBytes: Int64) {
    state.withLock { $0.maximumBytes = maximumBytes }
    queue.async { self.tidy() }
  }

  var count: Int { state.withLock { $0.index.count } }

  // MARK: - Finding

  /// Looks up a picture, checks its file and pins it.
  func find(_ key: PictureKey) -> Found? {
    let entry = state.withLock { state -> PictureIndex.Entry? in
      if state.index[key] == nil { lookOnDisk(key, &state) }
      guard let entry = state.index[key] else { return nil }
      state.pins[key, default: 0] += 1
      return entry
    }
    guard let entry else { return nil }
    if let found = check(entry) { return found }
    state.withLock { state in
      Self.releasePin(key, &state)
      if let removed = state.index.remove(key) { unlink(path(of: removed)) }
    }
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
    let touched = state.withLock { state -> String? in
      Self.releasePin(key, &state)
      guard wasSent else { return nil }
      if var entry = state.index[key] {
        let isOld = now > entry.lastUse + Self.useInterval
        entry.lastUse = now
        entry.wasSent = true
        state.index.set(entry)
        return isOld ? path(of: entry) : nil
      }
      state.pendingRemovals[key]?.lastUse = now
      state.pendingRemovals[key]?.wasSent = true
      return nil
    }
    guard let touched else { return }
    // The order of use survives a restart. If the time can't be set, the picture only looks older than it is.
    // The second number is UTIME_OMIT, which Swift does not import: the time of the last change stays.
    let times = [timespec(tv_sec: Int(now), tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    _ = utimensat(AT_FDCWD, touched, times, 0)
  }

  // MARK: - Writing

  /// Keeps a picture, and pins it. Pictures of other revisions of the asset are removed.
  func put(_ key: PictureKey, _ bytes: [UInt8], _ header: PictureHeader) throws(WriteError) -> Found {
    let temporary = try writeTemporary(bytes)
    let entry = PictureIndex.Entry(
      key: key, lastUse: clock.seconds(), byteCount: bytes.count, isPNG: header.isPNG)
    let errorNumber = state.withLock { state -> Int32 in
      let number = move(temporary, to: path(of: entry))
      guard number == 0 else { return number }
      if let former = state.index[key], former.isPNG != entry.isPNG { unlink(path(of: former)) }
      if let removed = state.pendingRemovals.removeValue(forKey: key) {
        state.pendingRemovalBytes -= Int64(removed.byteCount)
      }
      state.index.set(entry)
      state.pins[key, default: 0] += 1
      for stale in state.index.entries(of: key.assetID) where stale.key.revision != key.revision {
        drop(stale.key, &state)
      }
      return 0
    }
    guard errorNumber == 0 else {
      unlink(temporary)
      throw WriteError(errorNumber: errorNumber)
    }
    tidy()
    return Found(key: key, path: path(of: entry), header: header, byteCount: bytes.count)
  }

  private func writeTemporary(_ bytes: [UInt8]) throws(WriteError) -> String {
    let number = state.withLock { state in
      state.temporaryCount += 1
      return state.temporaryCount
    }
    let path = "\(directory)/temporary/\(token)-\(number)"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = open(path, flags, 0o600)
    if descriptor < 0, errno == ENOENT {
      let errorNumber = makeFolders("\(directory)/temporary")
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
    // Some file systems report a full disk when the file is closed.
    if close(descriptor) != 0, errorNumber == 0 { errorNumber = errno }
    guard errorNumber == 0 else {
      unlink(path)
      throw WriteError(errorNumber: errorNumber)
    }
    return path
  }

  /// - Returns: an errno, or 0.
  private func move(_ temporary: String, to path: String) -> Int32 {
    if rename(temporary, path) == 0 { return 0 }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { return errno }
    let errorNumber = makeFolders(String(path[..<slash]))
    guard errorNumber == 0 else { return errorNumber }
    return rename(temporary, path) == 0 ? 0 : errno
  }

  /// Makes a folder and those above it.
  /// - Returns: an errno, or 0 if the folder is there.
  private func makeFolders(_ path: String) -> Int32 {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return 0 }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return errno }
    let errorNumber = makeFolders(String(path[..<slash]))
    guard errorNumber == 0 else { return errorNumber }
    return mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : errno
  }

  // MARK: - Removing

  /// Removes the pictures of these assets, in the background.
  func remove(assetIDs: [Int64]) {
    queue.async {
      for id in assetIDs {
        self.state.withLock { state in
          for entry in state.index.entries(of: id) { self.drop(entry.key, &state) }
        }
      }
    }
  }

  /// Removes the pictures of other revisions, in the background.
  /// - Parameter revision: the revision of an asset, or nil if it is not known. It is asked only of assets that have
  ///   pictures.
  func removeStale(assetIDs: [Int64], revision: @escaping @Sendable (Int64) -> UInt64?) {
    queue.async {
      for id in assetIDs where self.state.withLock({ !$0.index.entries(of: id).isEmpty }) {
        guard let current = revision(id) else { continue }
        self.state.withLock { state in
          for entry in state.index.entries(of: id) where entry.key.revision != current {
            self.drop(entry.key, &state)
          }
        }
      }
    }
  }

  /// Removes all pictures, except those that were sent in the last 60 s. They go when that time is over.
  func clear() {
    queue.sync {
      state.withLock { state in
        for entry in Array(state.index.all) { drop(entry.key, &state) }
      }
    }
  }

  /// Removes the files whose time is over, and evicts pictures if there are too many bytes.
  func tidy() {
    let now = clock.seconds()
    state.withLock { state in
      for (key, entry) in state.pendingRemovals where state.pins[key] == nil && !Self.isPromised(entry, now) {
        state.pendingRemovals[key] = nil
        state.pendingRemovalBytes -= Int64(entry.byteCount)
        unlink(path(of: entry))
      }
      let maximum = state.maximumBytes
      if state.byteCount > maximum { evict(&state, downTo: maximum - maximum / 64) }
      if !state.pendingRemovals.isEmpty || state.byteCount > maximum { scheduleTidy(&state) }
    }
  }

  /// Removes the files of pictures that stay only because their path was sent a moment ago. photod ends, so that
  /// promise ends too. Without this, the next photod would keep the pictures of deleted assets.
  func finishRemovals() {
    state.withLock { state in
      for entry in state.pendingRemovals.values { unlink(path(of: entry)) }
      state.pendingRemovals = [:]
      state.pendingRemovalBytes = 0
    }
  }

  private func scheduleTidy(_ state: inout State) {
    guard !state.isTidyScheduled else { return }
    state.isTidyScheduled = true
    queue.asyncAfter(deadline: .now() + .seconds(Int(Self.sentTime) / 6)) { [weak self] in
      self?.state.withLock { $0.isTidyScheduled = false }
      self?.tidy()
    }
  }

  /// Evicts pictures until so many bytes have room.
  /// - Returns: false if there is no room, because all other pictures are held, or were sent a moment ago.
  func makeRoom(for byteCount: Int64) -> Bool {
    state.withLock { state in
      let maximum = state.maximumBytes
      if state.byteCount + byteCount > maximum { evict(&state, downTo: maximum - byteCount) }
      return state.byteCount + byteCount <= maximum
    }
  }

  private func evict(_ state: inout State, downTo limit: Int64) {
    let now = clock.seconds()
    while state.byteCount > limit {
      let pins = state.pins
      let oldest = state.index.oldest(64) { entry in
        pins[entry.key] == nil && !Self.isPromised(entry, now) && !isHeld(entry.key.assetID)
      }
      guard !oldest.isEmpty else { return }
      for entry in oldest where state.byteCount > limit { drop(entry.key, &state) }
    }
  }

  private static func isPromised(_ entry: PictureIndex.Entry, _ now: UInt32) -> Bool {
    entry.wasSent && now <= entry.lastUse &+ sentTime
  }

  /// Removes a picture now, or later if its path must stay readable.
  private func drop(_ key: PictureKey, _ state: inout State) {
    guard let entry = state.index.remove(key) else { return }
    if state.pins[key] != nil || Self.isPromised(entry, clock.seconds()) {
      state.pendingRemovals[key] = entry
      state.pendingRemovalBytes += Int64(entry.byteCount)
      scheduleTidy(&state)
    } else {
      unlink(path(of: entry))
    }
  }

  private static func releasePin(_ key: PictureKey, _ state: inout State) {
    let count = (state.pins[key] ?? 0) - 1
    state.pins[key] = count > 0 ? count : nil
  }

  // MARK: - The disk

  private func path(of entry: PictureIndex.Entry) -> String { "\(directory)/\(entry.key.name(isPNG: entry.isPNG))" }

  private func check(_ entry: PictureIndex.Entry) -> Found? {
    let path = path(of: entry)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == entry.byteCount else { return nil }
    let size = entry.byteCount
    let start = FileReading.bytes(of: descriptor, offset: 0, count: min(size, PictureHeader.maximumBytes))
    guard let header = PictureHeader(start[...]), header.isPNG == entry.isPNG else { return nil }
    let endOffset = max(0, size - PictureHeader.endBytes)
    let end =
      size <= start.count ? start : FileReading.bytes(of: descriptor, offset: endOffset, count: size - endOffset)
    guard PictureHeader.hasEnd(end[...], isPNG: header.isPNG) else { return nil }
    return Found(key: entry.key, path: path, header: header, byteCount: size)
  }

  /// Adds a picture to the index whose folder was not read yet.
  private func lookOnDisk(_ key: PictureKey, _ state: inout State) {
    guard !state.isScanned[PictureKey.folderIndex(of: key.assetID)], state.pendingRemovals[key] == nil else { return }
    for isPNG in [false, true] {
      var status = stat()
      guard lstat("\(directory)/\(key.name(isPNG: isPNG))", &status) == 0 else { continue }
      state.index.set(Self.entry(key, isPNG, status))
      return
    }
  }

  private static func entry(_ key: PictureKey, _ isPNG: Bool, _ status: stat) -> PictureIndex.Entry {
    PictureIndex.Entry(
      key: key, lastUse: UInt32(clamping: max(status.st_atim.tv_sec, status.st_mtim.tv_sec)),
      byteCount: Int(status.st_size), isPNG: isPNG)
  }

  private func scanAll() {
    for name in FileReading.names(in: "\(directory)/temporary") where !name.hasPrefix(token + "-") {
      unlink("\(directory)/temporary/\(name)")
    }
    for folder in 0..<256 {
      let path = "\(directory)/\(PictureKey.folderName(folder))"
      for name in FileReading.names(in: path) {
        var status = stat()
        guard let (key, isPNG) = PictureKey.parse(name), lstat("\(path)/\(name)", &status) == 0,
          status.st_mode & S_IFMT == S_IFREG
        else { continue }
        state.withLock { state in
          if state.index[key] == nil, state.pendingRemovals[key] == nil {
            state.index.set(Self.entry(key, isPNG, status))
          }
        }
      }
      state.withLock { $0.isScanned[folder] = true }
    }
    tidy()
    logger.debug("kept pictures were read", metadata: ["count": "\(count)", "bytes": "\(byteCount)"])
  }
}

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
