import Glibc
import PhotoCatalog
import PhotoImages
import PhotoIndexer
import PhotoModel
import PhotoWatch
import SystemErrors
import WatchRecords

/// The assets of the catalog, and their files, for the engine that makes pictures.
package struct CatalogImageAssets: ImageAssets {
  private let catalog: Catalog
  private let copies: ShareFileCopies
  private let access: @Sendable ([UInt8]) -> FileAccess

  /// - Parameters:
  ///   - copies: the folder for copies of files on shares. They have names only until they are open.
  ///   - access: how the watcher reaches a path. Files on shares are read through the process of their share.
  package init(catalog: Catalog, copies: String, access: @escaping @Sendable ([UInt8]) -> FileAccess) {
    self.catalog = catalog
    self.copies = ShareFileCopies(folder: copies)
    self.access = access
  }

  package func imageAsset(_ id: AssetID) throws -> ImageAsset? {
    guard let (asset, times) = try catalog.read({ try $0.assetWithFileTimes(id) }) else {
      return nil
    }
    let files = asset.resources.enumerated().map { index, resource in
      let time = index < times.count && times[index] != .unknown ? times[index] : nil
      return ImageFile(
        index: index, path: FilePath.bytes(resource.path), contentType: resource.contentType,
        byteCount: resource.byteCount, modified: time.map { FileTime(nanoseconds: $0.nanoseconds) },
        kind: resource.kind)
    }
    return ImageAsset(
      id: id, revision: asset.revision, isAvailable: asset.available, isHidden: asset.isHidden,
      isTrashed: asset.isTrashed, mediaType: asset.mediaType, orientation: asset.orientation, files: files,
      currentFile: asset.resources.firstIndex { $0.kind == .adjustedPhoto } ?? (files.isEmpty ? nil : 0),
      originalFile: asset.resources.firstIndex { Self.originals.contains($0.kind) } ?? (files.isEmpty ? nil : 0),
      pixelSize: size(of: asset))
  }

  package func missingAssets(_ ids: Set<AssetID>) throws -> Set<AssetID> {
    Set(try catalog.read { try $0.missingAssets(ids) })
  }

  private func size(of asset: Asset) -> ImageFrame? {
    guard let width = asset.pixelWidth, let height = asset.pixelHeight, width > 0, height > 0 else { return nil }
    return ImageFrame(width: width, height: height)
  }

  private static let originals: Set<Resource.Kind> = [.photo, .video, .audio]

  package func isOnShare(_ file: ImageFile) -> Bool {
    if case .share = access(file.path) { true } else { false }
  }

  /// A symbolic link that replaced the file is not followed, and a FIFO does not block. The status of the file is read
  /// once.
  package func open(
    _ file: ImageFile, isWanted: @Sendable () -> Bool
  ) throws(ImageFileError) -> OpenImageFile {
    if let reader = try shareReader(file) { return try copies.make(reader, isWanted: isWanted) }
    return try openDirectly(file)
  }

  /// - Returns: nil if the file is on a drive.
  func shareReader(_ file: ImageFile) throws(ImageFileError) -> ShareFileReader? {
    switch access(file.path) {
    case .direct: return nil
    case .share(let share): return try ShareFileReader(file, share)
    case .none: throw .offline
    }
  }

  /// Opens a file of a drive.
  func openDirectly(_ file: ImageFile) throws(ImageFileError) -> OpenImageFile {
    let descriptor = LongPath.open(file.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw ImageFileError(errorNumber: errno) }
    let opened = OpenImageFile(descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw ImageFileError(errorNumber: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .gone }
    guard file.matches(status) else { throw .changed }
    return opened
  }

  package func state(of file: ImageFile, _ open: OpenImageFile) -> ImageFileState {
    guard open.copiedBytes == nil else { return .unchanged }
    var status = stat()
    guard fstat(open.descriptor, &status) == 0 else {
      // A file system may report a file that was deleted or replaced.
      return errno == ESTALE ? .changed : .unknown(ImageFileError(errorNumber: errno))
    }
    return file.matches(status) ? .unchanged : .changed
  }
}

extension ImageFileError {
  /// A message for a person.
  func message(_ path: String) -> String {
    switch self {
    case .offline: "The drive of \(path) is offline. Connect it, and try again."
    case .gone: "\(path) is gone, and photod has not noticed yet. Call Synchronize, and fetch the asset again."
    case .changed:
      "\(path) was changed, and photod has not read it yet. Call Synchronize, fetch the asset, and read again."
    case .tooLarge(_), .tooSlow, .notCopied(_), .unwanted: "\(path) can't be copied from its share."
    case .readFailed(let code):
      "\(path) can't be read: \(errorText(code)). Check its disk or share, and try again."
    case .errno(let code):
      "\(path) can't be opened: \(errorText(code)). Check its permissions and disk."
    }
  }
}
