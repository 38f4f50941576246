import PhotoCatalog
import PhotoExtract
import PhotoModel
import WatchRecords

/// The result of reading a file.
enum ContentReading: Sendable {
  /// The content, and the stat that belongs to it. It is the stat of the descriptor that was read, the same before and
  /// after.
  ///
  /// This is some hundred bytes that are passed from thread to thread, so it is boxed.
  indirect case content(AssetContent, FileStat, readTime: WallTime, marks: ContentMarks = ContentMarks())
  /// The file was not there, was another file, or changed meanwhile. A later record will report it.
  case raced
  /// The disk, or a lack of memory or descriptors, kept the file from being read, which may pass. The string is the
  /// reason, for people.
  case unreadable(String)
  /// The file is being read in the background (``LateReads``), because its reading takes long.
  case late
}

/// The file at a path, as far as is known.
enum FileLookup: Sendable {
  /// A regular file.
  case there(FileStat)
  /// Nothing has the name, or something that is no regular file.
  case absent
  /// The path can't be looked at, or its share does not answer. That proves nothing about the file, which counts as it is
  /// known.
  case unknown
}

/// The names in a folder, as far as they are known.
enum FolderLookup: Sendable {
  case entries([FolderEntry])
  /// There is no such folder.
  case absent
  /// The folder can't be read, or its share does not answer.
  case unknown
}

/// The file system as the library asks it directly, in addition to the records of photod-watch. Tests use their own.
protocol PhotoFiles: Sendable {
  /// The same as `stat(_:)`, for callers that conclude something from an absence.
  func look(_ path: [UInt8]) -> FileLookup
  /// Whether the file system at a path answers. A drive does, as far as this can tell.
  func answers(_ path: [UInt8]) -> Bool
  /// Whether reading a path may wait for a share, which answers one call at a time.
  func mayWait(_ path: [UInt8]) -> Bool
  /// The stat of a regular file, without following a link, or nil if there is none or none is known.
  func stat(_ path: [UInt8]) -> FileStat?
  /// The identity across boots and mounts of the file system of a directory on this device.
  func volumeIdentity(device: UInt64, path: [UInt8]) -> String
  /// Whether reading a path reads over a network, or from a program.
  func isRemote(_ path: [UInt8]) -> Bool
  /// The names directly in a folder.
  func list(_ folder: [UInt8]) -> FolderLookup
  /// Whether anything has this name. A name that can't be looked at counts as present.
  func exists(_ path: [UInt8]) -> Bool
  /// Whether a directory has this name, and no link to one.
  func isFolder(_ path: [UInt8]) -> Bool
  /// Whether a symbolic link has this name.
  func isLink(_ path: [UInt8]) -> Bool
  /// Whether it is a file whose presence keeps media programs out of its folder.
  func isMarker(_ path: [UInt8]) -> Bool
  /// A folder, from which a caller goes down to `target` name by name.
  func folder(_ path: [UInt8], toward target: [UInt8]) -> any FolderOnPath
  /// Reads a file's content if it is still the file that `expected` describes.
  ///
  /// - Parameter isSampled: it was just written, so that its pages are in the cache: a sample is made as well. Without it
  ///   only small files have one.
  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading
  /// The same for a caller that must not wait for the reader. If the file is not read yet, that begins in the background,
  /// and the result is ``ContentReading/late``.
  func readWithoutWaiting(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading
  /// The files that are read in the background. nil if none ever is.
  var lateReads: LateReads? { get }
  /// The file system that ``lateReads`` counts a file to. nil if only a look at the file would show it.
  ///
  /// - Parameter stat: the stat of the file, if it is known.
  func fileSystem(of path: [UInt8], _ stat: FileStat?) -> MediaSource.FileSystem?
  /// Makes the sample of a file, or sample and hash, if size, times and inode are still those of `expected`.
  ///
  /// - Parameter shouldGoOn: asked while a large file is hashed; false ends it.
  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks?
  /// The same for several files of one directory, whose path ends with a slash.
  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading]
  /// How many files' content was read so far.
  var readCount: Int { get }
  /// Whether this turn of the library's queue has waited for files for so long that others must be read in a later one.
  var isTurnOver: Bool { get }
}

/// A file of a directory, as photod-watch saw it.
struct NamedStat: Sendable {
  let name: [UInt8]
  let stat: FileStat
  /// See ``PhotoFiles/read(_:expecting:isSampled:)``.
  var isSampled = false
}

extension PhotoFiles {
  func look(_ path: [UInt8]) -> FileLookup { stat(path).map { .there($0) } ?? .absent }

  func list(_ folder: [UInt8]) -> FolderLookup { .unknown }

  func answers(_ path: [UInt8]) -> Bool { true }

  func mayWait(_ path: [UInt8]) -> Bool { false }

  var isTurnOver: Bool { false }

  func isRemote(_ path: [UInt8]) -> Bool { false }

  func isFolder(_ path: [UInt8]) -> Bool { false }

  func isLink(_ path: [UInt8]) -> Bool { false }

  func isMarker(_ path: [UInt8]) -> Bool { exists(path) }

  var lateReads: LateReads? { nil }

  func fileSystem(of path: [UInt8], _ stat: FileStat?) -> MediaSource.FileSystem? {
    stat.map { .drive($0.identity.device) }
  }

  func readWithoutWaiting(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    read(path, expecting: expected, isSampled: isSampled)
  }

  func read(_ files: ArraySlice<NamedStat>, in directory: [UInt8]) -> [ContentReading] {
    files.map { read(directory + $0.name, expecting: $0.stat, isSampled: $0.isSampled) }
  }
}
