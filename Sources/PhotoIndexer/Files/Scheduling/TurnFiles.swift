import PhotoCatalog
import PhotoExtract
import PhotoModel
import Synchronization
import WatchRecords

/// The files as one turn of the library's queue reads them. It measures how long the turn has waited for them.
///
/// While the library waits for a slow disk or share, no other folder is served, no call is answered, and the watchdog gets
/// no ping. So a turn examines files for a limited time, and for the one file with which that ends. Further files count as
/// not read yet, and are read in later turns. Nearly all files are read ahead of the turn anyway (``ReadAhead``). The turn
/// itself never waits for the program that reads them: such a file is read in the background (``LateReads``).
final class TurnFiles: PhotoFiles {
  /// The limit for network file systems. Other folders wait meanwhile, again and again.
  static let longestRemoteWait = Duration.seconds(1)
  /// The limit for all file systems together. systemd ends photod after a minute without a ping.
  static let longestWait = Duration.seconds(10)

  private let files: any PhotoFiles
  private let now: @Sendable () -> MonotonicTime
  // In nanoseconds.
  private let remoteWait = Atomic<Int64>(0)
  private let wait = Atomic<Int64>(0)

  init(_ files: any PhotoFiles, now: @escaping @Sendable () -> MonotonicTime) {
    self.files = files
    self.now = now
  }

  /// Begins a turn.
  func begin() {
    remoteWait.store(0, ordering: .relaxed)
    wait.store(0, ordering: .relaxed)
  }

  var isTurnOver: Bool {
    remoteWait.load(ordering: .relaxed) >= Self.longestRemoteWait.wholeNanoseconds
      || wait.load(ordering: .relaxed) >= Self.longestWait.wholeNanoseconds
  }

  private func measured<Value>(_ path: [UInt8], _ body: () -> Value) -> Value {
    let start = now()
    defer {
      let time = max(.zero, now() - start)
      wait.add(time.wholeNanoseconds, ordering: .relaxed)
      // Calls that are answered at once need no look at the mount table.
      if time > Self.longestRemoteWait / 1_000, files.isRemote(path) {
        remoteWait.add(time.wholeNanoseconds, ordering: .relaxed)
      }
    }
    return body()
  }

  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    measured(path) { files.readWithoutWaiting(path, expecting: expected, isSampled: isSampled) }
  }

  var lateReads: LateReads? { files.lateReads }

  func fileSystem(of path: [UInt8], _ stat: FileStat?) -> MediaSource.FileSystem? { files.fileSystem(of: path, stat) }

  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    measured(directory) { self.files.read(files, in: directory) }
  }

  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    measured(path) { files.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn) }
  }

  /// Once the turn is over, a share is not asked any more. The known files stay as they are known.
  func look(_ path: [UInt8]) -> FileLookup {
    if isTurnOver, files.mayWait(path) { return .unknown }
    return measured(path) { files.look(path) }
  }

  func stat(_ path: [UInt8]) -> FileStat? { measured(path) { files.stat(path) } }

  func exists(_ path: [UInt8]) -> Bool { measured(path) { files.exists(path) } }

  func isFolder(_ path: [UInt8]) -> Bool { measured(path) { files.isFolder(path) } }

  func isLink(_ path: [UInt8]) -> Bool { measured(path) { files.isLink(path) } }

  func isMarker(_ path: [UInt8]) -> Bool { measured(path) { files.isMarker(path) } }

  func answers(_ path: [UInt8]) -> Bool { measured(path) { files.answers(path) } }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    measured(path) { files.volumeIdentity(device: device, path: path) }
  }

  func isRemote(_ path: [UInt8]) -> Bool { files.isRemote(path) }

  var readCount: Int { files.readCount }
}
