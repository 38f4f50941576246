import Dispatch
import PhotoCatalog
import PhotoExtract
import PhotoModel
import Synchronization
import WatchRecords

/// Files that are read in the background, because their reading takes longer than the library waits.
///
/// The library keeps such a file as one that was not read yet, and asks again when ``ended`` rises. A result is kept until
/// it is taken, or until newer results need its place.
final class LateReads: Sendable {
  /// Names a file as it was when its reading began.
  struct Key: Hashable, Sendable {
    let inode: UInt64
    let byteCount: Int64
    let modificationTime: FileTime
    let changeTime: FileTime
    let name: [UInt8]

    init(_ stat: FileStat, name: some Collection<UInt8>) {
      inode = stat.identity.inode
      byteCount = stat.byteCount
      modificationTime = stat.modificationTime
      changeTime = stat.changeTime
      self.name = Array(name)
    }
  }

  private struct Waiting {
    let key: Key
    let fileSystem: MediaSource.FileSystem
    let holdsProcess: Bool
    let read: @Sendable () -> ContentReading
  }

  private struct State {
    /// The files that wait for a thread, or are being read.
    var underWay: Set<Key> = []
    /// The number of files under way of each file system.
    var counts: [MediaSource.FileSystem: Int] = [:]
    var waiting: [Waiting] = []
    /// How many threads read files of each file system.
    var threads: [MediaSource.FileSystem: Int] = [:]
    var idleThreads: [Int]
    var results: [Key: ContentReading] = [:]
    /// The keys of `results`, the oldest first.
    var order: [Key] = []
    /// The files whose result the library does not know of yet.
    var endedInodes: Set<UInt64> = []
    /// The number of files that were read.
    var endedCount: Int64 = 0
  }

  /// A file may take some seconds, and each thread reads one at a time.
  private static let threadCount = 8
  /// The most threads for files of one drive that wait for a process. The others are left for processes that have begun
  /// a file, and for other drives.
  private static let mostThreadsOfDrive = 3
  /// The most threads for files of all shares. A slow share may take a minute for one file.
  private static let mostThreadsOfShares = 3
  /// The most results that are kept. One is at most a megabyte, nearly all are less than a kilobyte.
  private static let mostResults = 128

  /// The most files of one file system that are under way. Each may hold a descriptor. Further files are asked for again
  /// later. So a slow file system takes no room from another.
  private let mostOfFileSystem: Int
  /// Rises whenever a file under way has been read, or was given up.
  let ended = ChangeFeed(sequence: 0)
  private let state = Mutex(State(idleThreads: Array(0..<threadCount)))
  /// A serial queue has a thread of its own, so that slow files take no thread from other work.
  private let queues = (0..<threadCount).map { DispatchQueue(label: "photod.late-read-\($0)") }

  init(mostOfFileSystem: Int = 64) { self.mostOfFileSystem = mostOfFileSystem }

  /// How far the reading of a file is.
  enum Progress {
    case underWay
    /// Its result can be taken.
    case ended
    /// Its reading may begin if there is room (``hasRoom(on:)``).
    case notBegun
  }

  func progress(of key: Key) -> Progress {
    state.withLock { state in
      if state.underWay.contains(key) { return .underWay }
      if state.results[key] != nil { return .ended }
      return .notBegun
    }
  }

  /// Whether the reading of a file of this file system can begin.
  func hasRoom(on fileSystem: MediaSource.FileSystem) -> Bool {
    state.withLock { $0.counts[fileSystem, default: 0] < mostOfFileSystem }
  }

  /// Whether files are being read, or have results that the library does not know of yet.
  var isBusy: Bool { state.withLock { !$0.underWay.isEmpty || !$0.endedInodes.isEmpty } }

  /// Whether no file is known here, so that nothing need be asked.
  var isEmpty: Bool { state.withLock { $0.underWay.isEmpty && $0.results.isEmpty } }

  /// The inodes of the files whose reading has ended since the last call.
  func takeEnded() -> Set<UInt64> {
    state.withLock { state in
      defer { state.endedInodes = [] }
      return state.endedInodes
    }
  }

  /// The result of a file that was read in the background.
  ///
  /// - Returns: ``ContentReading/late`` while it is being read; nil if its reading must begin.
  func take(_ key: Key) -> ContentReading? {
    state.withLock { state in
      if state.underWay.contains(key) { return .late }
      guard let result = state.results.removeValue(forKey: key) else { return nil }
      state.order.removeAll { $0 == key }
      return result
    }
  }

  /// Begins to read a file, unless too many files of its file system are under way.
  ///
  /// - Parameters:
  ///   - fileSystem: where the file is.
  ///   - holdsProcess: whether a process has begun the file. Such files come first, because the others wait for a process.
  ///   - read: reads it, on a thread that may wait for some seconds.
  /// - Returns: whether the file is under way now.
  @discardableResult
  func begin(
    _ key: Key, on fileSystem: MediaSource.FileSystem, holdsProcess: Bool = false,
    _ read: @escaping @Sendable () -> ContentReading
  ) -> Bool {
    let (isUnderWay, thread) = state.withLock { state -> (Bool, Int?) in
      if state.underWay.contains(key) { return (true, nil) }
      guard state.counts[fileSystem, default: 0] < mostOfFileSystem else { return (false, nil) }
      state.counts[fileSystem, default: 0] += 1
      state.underWay.insert(key)
      state.waiting.append(Waiting(key: key, fileSystem: fileSystem, holdsProcess: holdsProcess, read: read))
      return (true, state.idleThreads.popLast())
    }
    if let thread { queues[thread].async { self.work(on: thread) } }
    return isUnderWay
  }

  private func work(on thread: Int) {
    while let next = next(thread) {
      let result = next.read()
      let count = state.withLock { state in
        state.underWay.remove(next.key)
        Self.decrement(&state.counts[next.fileSystem])
        Self.decrement(&state.threads[next.fileSystem])
        state.endedCount += 1
        // A file that has changed meanwhile is reported again, or asked for again after some seconds.
        if case .raced = result { return state.endedCount }
        state.results[next.key] = result
        state.order.append(next.key)
        state.endedInodes.insert(next.key.inode)
        if state.order.count > Self.mostResults { state.results[state.order.removeFirst()] = nil }
        return state.endedCount
      }
      ended.publish(count)
    }
  }

  private static func decrement(_ count: inout Int?) {
    let rest = (count ?? 1) - 1
    count = rest > 0 ? rest : nil
  }

  private func next(_ thread: Int) -> Waiting? {
    state.withLock { state in
      let ofShares = state.threads.reduce(0) { $0 + ($1.key.isShare ? $1.value : 0) }
      func mayBegin(_ file: Waiting) -> Bool {
        let count = state.threads[file.fileSystem, default: 0]
        // Only one file of a share is read at a time.
        return file.fileSystem.isShare
          ? count == 0 && ofShares < Self.mostThreadsOfShares : count < Self.mostThreadsOfDrive
      }
      guard
        let index = state.waiting.firstIndex(where: \.holdsProcess) ?? state.waiting.firstIndex(where: mayBegin)
      else {
        // The thread that ends a file takes the next one of the same file system, if no other may begin.
        state.idleThreads.append(thread)
        return nil
      }
      let next = state.waiting.remove(at: index)
      state.threads[next.fileSystem, default: 0] += 1
      return next
    }
  }
}
