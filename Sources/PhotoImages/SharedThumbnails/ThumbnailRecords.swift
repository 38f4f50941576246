import Glibc

/// The files of which photod has written shared thumbnails.
///
/// Shared thumbnails are found by the path of their photo. When a photo moves, the catalog no longer knows the old path, so
/// it is recorded here: `AA/ASSET-FILE` is a symbolic link whose target is the path, where `AA` is the lowest byte of the
/// asset's id, and `FILE` the index of the file. A link is made and replaced at once, and holds any bytes. No program
/// follows it.
///
/// A record is made before its thumbnails, and removed after them. So a crash leaves records that are not needed, but no
/// thumbnail without its record. If photod is killed while it moves thumbnails, the record has the old path until the next start.
struct ThumbnailRecords: Sendable {
  struct Record: Hashable, Sendable {
    var assetID: Int64
    /// The index of the file when it was recorded.
    var file: Int
    var path: [UInt8]
  }

  /// Files with higher indexes are not shared. Assets have a few files.
  static let mostFiles = 8

  let directory: String

  /// Whether there may be records.
  var exist: Bool { access(directory, F_OK) == 0 }

  func records(of assetID: Int64) -> [Record] { (0..<Self.mostFiles).compactMap { record(of: assetID, file: $0) } }

  /// The record in the place of this file. Its path may be that of another file, if the order of the files has changed.
  func record(of assetID: Int64, file: Int) -> Record? {
    let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) {
        max(0, readlink(path(assetID, file), $0.baseAddress!, $0.count))
      }
    }
    return target.isEmpty ? nil : Record(assetID: assetID, file: file, path: target)
  }

  /// Replaces the record in the place of this file. Its thumbnails must be gone, because nothing else knows their path.
  /// - Throws: if the record can't be made. Then no thumbnail may be written.
  func set(_ record: Record) throws(ThumbnailFolder.WriteError) {
    let path = path(record.assetID, record.file)
    let temporary = "\(path).new"
    let target = record.path.map { CChar(bitPattern: $0) } + [0]
    // One of a photod that was killed may be there.
    unlink(temporary)
    if symlink(target, temporary) != 0 {
      guard errno == ENOENT else { throw ThumbnailFolder.WriteError(errorNumber: errno) }
      makeFolders(record.assetID)
      guard symlink(target, temporary) == 0 else { throw ThumbnailFolder.WriteError(errorNumber: errno) }
    }
    guard rename(temporary, path) == 0 else { throw ThumbnailFolder.WriteError(errorNumber: errno) }
  }

  func remove(_ record: Record) { unlink(path(record.assetID, record.file)) }

  /// The recorded assets of one of the 256 folders.
  func assetIDs(inFolder index: Int) -> Set<Int64> {
    let names = FileReading.names(in: "\(directory)/\(PictureKey.folderName(index))")
    return Set(names.compactMap { name in name.split(separator: "-").first.flatMap { Int64($0) } })
  }

  private func path(_ assetID: Int64, _ file: Int) -> String {
    "\(directory)/\(PictureKey.folder(of: assetID))/\(assetID)-\(file)"
  }

  /// Makes the folder of an asset and those above it. If one can't be made, the caller's next call reports that.
  private func makeFolders(_ assetID: Int64) {
    if let slash = directory.lastIndex(of: "/") { mkdir(String(directory[..<slash]), 0o700) }
    mkdir(directory, 0o700)
    mkdir("\(directory)/\(PictureKey.folder(of: assetID))", 0o700)
  }
}
