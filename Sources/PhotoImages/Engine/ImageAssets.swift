import Glibc
import PhotoModel
import WatchRecords

/// The library's knowledge of an asset's files.
package protocol ImageAssets: Sendable {
  /// Reads what the catalog has of an asset. It may block for milliseconds, and is called off the cooperative pool.
  /// - Returns: nil if there is no such asset.
  func imageAsset(_ id: AssetID) throws -> ImageAsset?

  /// The ids among these that belong to no asset now. No other asset gets such an id, but a deleted photo that returns
  /// within 30 days does. It may block for milliseconds.
  func missingAssets(_ ids: Set<AssetID>) throws -> Set<AssetID>

  /// Whether the file is on a share, which may not answer. It does not block.
  func isOnShare(_ file: ImageFile) -> Bool

  /// Opens a file for reading, if it is still the one that the catalog knows. A slow disk may block it for long. A file on
  /// a share is copied, because no call on the share may block photod.
  ///
  /// - Parameter isWanted: is called again and again while a file is copied. If it returns false, the copy ends with
  ///   `unwanted`.
  func open(_ file: ImageFile, isWanted: @Sendable () -> Bool) throws(ImageFileError) -> OpenImageFile

  /// Compares an open file with the catalog. A program may have written it since it was opened.
  func state(of file: ImageFile, _ open: OpenImageFile) -> ImageFileState
}

/// A file of an asset, or a copy of one, that is open for reading. It is closed with this object.
package final class OpenImageFile: Sendable {
  package let descriptor: Int32
  /// The size of a copy of a file on a share, or nil for a file of a drive. A copy was compared with the catalog when it
  /// was made, and does not change.
  package let copiedBytes: Int64?
  private let onClose: (@Sendable () -> Void)?

  /// - Parameter onClose: is called when the file has been closed.
  package init(_ descriptor: Int32, copiedBytes: Int64? = nil, onClose: (@Sendable () -> Void)? = nil) {
    self.descriptor = descriptor
    self.copiedBytes = copiedBytes
    self.onClose = onClose
  }

  /// A descriptor that is closed twice may close a file of another thread, because the system reuses its number. A debug
  /// build traps on that.
  deinit {
    let isClosed = close(descriptor) == 0
    assert(isClosed || errno != EBADF, "descriptor \(descriptor) is closed twice")
    onClose?()
  }
}

/// Whether an open file is still the one that the catalog knows.
package enum ImageFileState: Hashable, Sendable {
  case unchanged
  case changed
  /// The status can't be read, because a share or a drive has ended meanwhile. The file itself may be unchanged, so no
  /// change of its asset may follow.
  case unknown(ImageFileError)
}

package enum ImageFileError: Error, Hashable, Sendable {
  /// The drive of the file is not there.
  case offline
  /// The drive is there, and the file is not.
  case gone
  /// The file is another one than the catalog knows: it was changed or replaced, and photod has not read it yet. A
  /// picture of it would be kept and sent under the revision of the former content.
  case changed
  /// The file is on a share, and is too large to be copied.
  case tooLarge(limit: Int64)
  /// The file is on a share, and the copy took too long.
  case tooSlow
  /// The file is on a share, and the copy can't be written, by this errno.
  case notCopied(Int32)
  /// The file is on a share, and no request needs its picture any more.
  case unwanted
  /// The disk or the share failed, by this errno. It says nothing of the file, so a later attempt may succeed.
  case readFailed(Int32)
  /// The file can't be opened, by this errno, and a later attempt fails as well. Its permissions forbid it.
  case errno(Int32)

  /// The error of a call of the system on a path or on an open file.
  package init(errorNumber: Int32) {
    switch errorNumber {
    case ENOENT, ENOTDIR, ELOOP: self = .gone
    // The drive was removed, or the share has ended.
    case ENODEV, ENXIO, ESTALE, EHOSTDOWN, ENOTCONN: self = .offline
    case EACCES, EPERM, ENAMETOOLONG, EOVERFLOW: self = .errno(errorNumber)
    default: self = .readFailed(errorNumber)
    }
  }
}

/// The facts of an asset that its pictures depend on.
package struct ImageAsset: Sendable {
  package var id: AssetID
  /// A text that changes whenever the content of one of the files changes, and does not change with their names.
  package var revision: String
  /// Whether the drive of the files is there.
  package var isAvailable: Bool
  package var isHidden: Bool
  package var isTrashed: Bool
  package var mediaType: MediaType
  /// The EXIF orientation of the first file, 1...8. Nil if it is not known.
  package var orientation: Int?
  /// In the order of `Asset.resources`. The first is the one to show.
  package var files: [ImageFile]
  /// The index of the edited file. Nil means the first one.
  package var currentFile: Int?
  /// The index of the file that the camera wrote. Nil means the first one.
  package var originalFile: Int?
  /// The size of the upright picture, if it is known. It chooses the kept size for a frame that is not a square. A
  /// wrong size costs a second decode, but never gives a wrong picture.
  package var pixelSize: ImageFrame?

  package init(
    id: AssetID, revision: String, isAvailable: Bool, isHidden: Bool = false, isTrashed: Bool = false,
    mediaType: MediaType = .image, orientation: Int? = nil, files: [ImageFile], currentFile: Int? = nil,
    originalFile: Int? = nil, pixelSize: ImageFrame? = nil
  ) {
    self.id = id
    self.revision = revision
    self.isAvailable = isAvailable
    self.isHidden = isHidden
    self.isTrashed = isTrashed
    self.mediaType = mediaType
    self.orientation = orientation
    self.files = files
    self.currentFile = currentFile
    self.originalFile = originalFile
    self.pixelSize = pixelSize
  }
}

/// One file of an asset.
package struct ImageFile: Hashable, Sendable {
  /// Its place in ``ImageAsset/files``.
  package var index: Int
  package var path: [UInt8]
  package var contentType: String
  package var byteCount: Int64
  package var modified: FileTime?
  package var kind: Resource.Kind

  package init(
    index: Int, path: [UInt8], contentType: String, byteCount: Int64, modified: FileTime? = nil, kind: Resource.Kind
  ) {
    self.index = index
    self.path = path
    self.contentType = contentType
    self.byteCount = byteCount
    self.modified = modified
    self.kind = kind
  }

  /// Whether a file with this status is the one that the catalog knows. The indexer judges by the same rule (rule 2 of
  /// `FileRow`): size and modification time are equal, to the nanosecond and on all file systems. The inode does not
  /// count, because FAT gives out new ones at a mount. The change time does not either, because a rename changes it. A
  /// time before 1677 or after 2262 is the nearest in this range, as in the catalog.
  package func matches(_ status: stat) -> Bool {
    let time = FileTime(nanoseconds: WallTime(status.st_mtim).nanoseconds)
    return byteCount == Int64(status.st_size) && (modified.map { $0 == time } ?? true)
  }

  /// The same for a file that photod-watch has examined.
  package func matches(_ stat: FileStat) -> Bool {
    byteCount == stat.byteCount && (modified.map { $0 == stat.modificationTime } ?? true)
  }

  /// Without its folder.
  var name: [UInt8] { Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]) }
}
