import Glibc
import PhotoModel

/// The files of which photod has written shared thumbnails.
///
/// Shared thumbnails are found by the path of their photo. When a photo moves, the catalog no longer knows the old path, so
/// it is recorded here. The record `AA/ASSET-FILE` is a symbolic link whose target is the path. `AA` is the lowest byte of
/// the asset's id, and `FILE` the index of the file. A link is made and replaced at once, and holds any bytes. No program
/// follows it. Each library has a folder of its own, because the assets of two libraries have the same ids.
///
/// A record is made before its thumbnails, and removed after them. While thumbnails move, `AA/ASSET-FILE.new` has their
/// new path. It replaces the record when all of them are there. So a crash leaves records that are not needed, but no
/// thumbnail without a record.
struct ThumbnailRecords: Sendable {
  struct Record: Hashable, Sendable {
    var assetID: AssetID
    /// The index of the file when it was recorded.
    var file: Int
    var path: [UInt8]
  }

  /// Files with higher indexes are not shared. Assets have a few files.
  static let mostFiles = 8

  let directory: String
  /// It is called after each change of the disk. Tests look at the disk then.
  var onChange: @Sendable () -> Void = {}

  /// Whether there may be records.
  var exist: Bool { access(directory, F_OK) == 0 }

  /// The record in the place of this file. Its path may be that of another file, if the order of the files has changed.
  func record(of assetID: AssetID, file: Int) -> Record? { read(assetID, file, path(assetID, file)) }

  /// The path to which the thumbnails of a record are being moved, or were being moved when photod was killed.
  func newRecord(of assetID: AssetID, file: Int) -> Record? { read(assetID, file, newPath(assetID, file)) }

  private func read(_ assetID: AssetID, _ file: Int, _ link: String) -> Record? {
    let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) { max(0, readlink(link, $0.baseAddress!, $0.count)) }
    }
    return target.isEmpty ? nil : Record(assetID: assetID, file: file, path: target)
  }

  /// Replaces the record in the place of this file. Its thumbnails must be gone, or have been moved since
  /// ``begin(_:)``, because nothing else knows their path.
  /// - Throws: if the record can't be made. Then no thumbnail may be written.
  func set(_ record: Record) throws(ThumbnailFolder.WriteError) {
    try begin(record)
    guard rename(newPath(record.assetID, record.file), path(record.assetID, record.file)) == 0 else {
      throw ThumbnailFolder.WriteError(errorNumber: errno)
    }
    onChange()
  }

  /// Records where the thumbnails of a file are about to be moved. If another new path is recorded, its thumbnails
  /// must be gone.
  /// - Throws: if that can't be recorded. Then no thumbnail may be moved.
  func begin(_ record: Record) throws(ThumbnailFolder.WriteError) {
    guard newRecord(of: record.assetID, file: record.file) != record else { return }
    removeNew(record)
    let link = newPath(record.assetID, record.file)
    let target = record.path.map { CChar(bitPattern: $0) } + [0]
    if symlink(target, link) != 0 {
      guard errno == ENOENT else { throw ThumbnailFolder.WriteError(errorNumber: errno) }
      makeFolders(record.assetID)
      guard symlink(target, link) == 0 else { throw ThumbnailFolder.WriteError(errorNumber: errno) }
    }
    onChange()
  }

  func remove(_ record: Record) { remove(path(record.assetID, record.file)) }

  /// Forgets where thumbnails were being moved. None may be there.
  func removeNew(_ record: Record) { remove(newPath(record.assetID, record.file)) }

  private func remove(_ link: String) { if unlink(link) == 0 { onChange() } }

  /// The recorded assets of one of the 256 folders.
  func assetIDs(inFolder index: Int) -> Set<AssetID> {
    let names = FileReading.names(in: "\(directory)/\(PictureKey.folderName(index))")
    return Set(names.compactMap { name in name.split(separator: "-").first.flatMap { AssetID(String($0)) } })
  }

  private func path(_ assetID: AssetID, _ file: Int) -> String {
    "\(directory)/\(PictureKey.folder(of: assetID))/\(assetID)-\(file)"
  }

  private func newPath(_ assetID: AssetID, _ file: Int) -> String { path(assetID, file) + ".new" }

  /// Makes the folder of an asset and those above it. If one can't be made, the caller's next call reports that.
  private func makeFolders(_ assetID: AssetID) {
    var folders = [directory]
    // The two above are the folder of the records of all libraries, and the folder of kept pictures.
    for _ in 0..<2 {
      guard let path = folders.last, let slash = path.lastIndex(of: "/") else { break }
      folders.append(String(path[..<slash]))
    }
    for folder in folders.reversed() { mkdir(folder, 0o700) }
    mkdir("\(directory)/\(PictureKey.folder(of: assetID))", 0o700)
  }
}
