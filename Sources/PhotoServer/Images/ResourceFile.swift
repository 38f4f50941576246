import Glibc
import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

/// A file of an asset that is open for reading. Its descriptor is closed with this object.
final class ResourceFile: Sendable {
  let revision: String
  /// The size when the file was opened.
  let byteCount: Int64
  private let descriptor: Int32
  private let path: String
  private let opened: Stamp

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

  /// Opens the file that a request names.
  ///
  /// - Throws: the errors of the contract.
  init(_ request: ReadResourceRequest, _ assets: any ImageAssets) throws {
    guard let asset = try assets.imageAsset(request.assetID.rawValue) else {
      throw ImageContractError.noSuchAsset(request.assetID)
    }
    guard asset.files.indices.contains(request.resource) else {
      throw ImageContractError.noSuchResource(request.assetID, request.resource, count: asset.files.count)
    }
    let file = asset.files[request.resource]
    path = FilePath.text(file.path)
    if let expected = request.ifRevision, expected != asset.revision {
      throw ImageContractError.resourceChanged(
        "The asset \(request.assetID) has the revision \(asset.revision) now. Fetch it again, and discard what was read."
      )
    }
    revision = asset.revision
    do {
      descriptor = try assets.open(file)
    } catch ImageFileError.changed {
      throw ImageContractError.resourceChanged(ImageFileError.changed.message(path))
    } catch {
      throw ImageContractError.resourceUnavailable(path, error.message(path))
    }
    guard let stamp = Stamp(descriptor) else {
      let message = "\(path) can't be examined: \(String(cString: strerror(errno))). Check its disk."
      close(descriptor)
      throw ImageContractError.resourceUnavailable(path, message)
    }
    opened = stamp
    byteCount = stamp.byteCount
  }

  /// A descriptor that is closed twice may close a file of another thread, because the system reuses its number. A debug
  /// build traps on that.
  deinit {
    let isClosed = close(descriptor) == 0
    assert(isClosed || errno != EBADF, "descriptor \(descriptor) is closed twice")
  }

  /// Reads the bytes from `start` to `end`, which is not beyond ``byteCount``.
  func read(at start: Int64, upTo end: Int64) throws -> [UInt8] {
    var failure: VarlinkError?
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(max(0, end - start))) { buffer, count in
      while count < buffer.count {
        let got = pread(descriptor, buffer.baseAddress! + count, buffer.count - count, off_t(start) + off_t(count))
        if got < 0, errno == EINTR { continue }
        if got < 0 {
          let message = "\(path) can't be read: \(String(cString: strerror(errno))). Check its disk."
          failure = ImageContractError.resourceUnavailable(path, message)
        }
        // A file that ends early has another size now.
        if got <= 0 { return }
        count += got
      }
    }
    if let failure { throw failure }
    guard let stamp = Stamp(descriptor) else {
      let message = "\(path) can't be examined: \(String(cString: strerror(errno))). Check its disk."
      throw ImageContractError.resourceUnavailable(path, message)
    }
    guard stamp == opened else {
      throw ImageContractError.resourceChanged(
        "\(path) was changed while it was read. Discard what was read, fetch the asset, and read again.")
    }
    return bytes
  }
}
