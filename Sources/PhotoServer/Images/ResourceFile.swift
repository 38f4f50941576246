import Glibc
import PhotoContract
import PhotoImages
import PhotoModel
import SystemErrors
import Varlink

/// The file of an asset that a request names.
struct RequestedResource: Sendable {
  let file: ImageFile
  let revision: String
  let isOnShare: Bool

  /// Looks the file up in the catalog.
  ///
  /// - Throws: the errors of the contract.
  init(_ request: ReadResourceRequest, _ assets: CatalogImageAssets) throws {
    guard let asset = try assets.imageAsset(request.assetID) else {
      throw ImageContractError.noSuchAsset(request.assetID)
    }
    guard asset.files.indices.contains(request.resource) else {
      throw ImageContractError.noSuchResource(request.assetID, request.resource, count: asset.files.count)
    }
    file = asset.files[request.resource]
    if let expected = request.ifRevision, expected != asset.revision {
      throw ImageContractError.resourceChanged(
        "The asset \(request.assetID) has the revision \(asset.revision) now. Fetch it again, and discard what was read."
      )
    }
    revision = asset.revision
    isOnShare = assets.isOnShare(file)
  }
}

/// A file of an asset that is open for reading.
final class ResourceFile: Sendable {
  /// The size when the file was opened.
  let byteCount: Int64
  private let source: Source
  private let path: String

  private enum Source: Sendable {
    case drive(OpenImageFile, Stamp)
    case share(ShareFileReader)
  }

  /// The values of stat(2) that differ after each change of the content.
  private struct Stamp: Equatable {
    let byteCount: Int64
    let modified: WallTime
    let changed: WallTime

    init?(_ descriptor: Int32) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return nil }
      byteCount = Int64(status.st_size)
      (modified, changed) = (WallTime(status.st_mtim), WallTime(status.st_ctim))
    }
  }

  /// Opens the file.
  ///
  /// - Throws: the errors of the contract.
  init(_ resource: RequestedResource, _ assets: CatalogImageAssets) throws {
    path = FilePath.text(resource.file.path)
    let file: OpenImageFile
    do throws(ImageFileError) {
      if let reader = try assets.shareReader(resource.file) {
        (source, byteCount) = (.share(reader), reader.byteCount)
        return
      }
      file = try assets.openDirectly(resource.file)
    } catch {
      throw Self.contractError(error, path)
    }
    guard let stamp = Stamp(file.descriptor) else {
      let message = "\(path) can't be examined: \(errorText(errno)). Check its disk."
      throw ImageContractError.resourceUnavailable(path, message)
    }
    (source, byteCount) = (.drive(file, stamp), stamp.byteCount)
  }

  private static func contractError(_ error: ImageFileError, _ path: String) -> VarlinkError {
    guard error == .changed else { return ImageContractError.resourceUnavailable(path, error.message(path)) }
    return ImageContractError.resourceChanged(error.message(path))
  }

  /// Reads the bytes from `start` to `end`, which is not beyond ``byteCount``.
  func read(at start: Int64, upTo end: Int64) throws -> [UInt8] {
    switch source {
    case .drive(let file, let opened): try read(file.descriptor, opened, at: start, upTo: end)
    case .share(let reader): try read(reader, at: start, upTo: end)
    }
  }

  private func read(_ reader: ShareFileReader, at start: Int64, upTo end: Int64) throws -> [UInt8] {
    do throws(ImageFileError) {
      // A call whose client has gone reads no further piece.
      return try reader.read(at: start, upTo: end) { WorkBudget.mayGoOn }
    } catch .changed {
      throw changed
    } catch {
      if error == .unwanted { try WorkBudget.check() }
      throw Self.contractError(error, path)
    }
  }

  private var changed: VarlinkError {
    ImageContractError.resourceChanged(
      "\(path) was changed while it was read. Discard what was read, fetch the asset, and read again.")
  }

  private func read(_ descriptor: Int32, _ opened: Stamp, at start: Int64, upTo end: Int64) throws -> [UInt8] {
    var failure: VarlinkError?
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(max(0, end - start))) { buffer, count in
      while count < buffer.count {
        let got = pread(descriptor, buffer.baseAddress! + count, buffer.count - count, off_t(start) + off_t(count))
        if got < 0, errno == EINTR { continue }
        if got < 0 {
          let message = "\(path) can't be read: \(errorText(errno)). Check its disk."
          failure = ImageContractError.resourceUnavailable(path, message)
        }
        // A file that ends early has another size now.
        if got <= 0 { return }
        count += got
      }
    }
    if let failure { throw failure }
    guard let stamp = Stamp(descriptor) else {
      let message = "\(path) can't be examined: \(errorText(errno)). Check its disk."
      throw ImageContractError.resourceUnavailable(path, message)
    }
    guard stamp == opened else { throw changed }
    return bytes
  }
}
