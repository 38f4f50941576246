import PhotoCatalog
import PhotoModel
import Synchronization
import WatchRecords

@testable import PhotoIndexer

/// Files on a share. Their state is unknown while it is silent.
final class SilentShare: PhotoFiles {
  let disk = MemoryDisk()
  private let silence = Atomic(false)

  /// Whether the share answers nothing.
  var isSilent: Bool {
    get { silence.load(ordering: .acquiring) }
    set { silence.store(newValue, ordering: .releasing) }
  }

  func look(_ path: [UInt8]) -> FileLookup { isSilent ? .unknown : disk.look(path) }
  func stat(_ path: [UInt8]) -> FileStat? { isSilent ? nil : disk.stat(path) }
  func exists(_ path: [UInt8]) -> Bool { isSilent || disk.exists(path) }
  func volumeIdentity(device: UInt64, path: [UInt8]) -> String { disk.volumeIdentity(device: device, path: path) }
  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    isSilent
      ? .unreadable("its share does not answer") : disk.read(path, expecting: expected, isSampled: isSampled)
  }
  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    isSilent ? nil : disk.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn)
  }
  var readCount: Int { disk.readCount }
}
