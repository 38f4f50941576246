import PhotoModel

/// The facts in a shared thumbnail: the file that it shows, and the program that wrote it.
struct ThumbnailFacts: Hashable, Sendable {
  /// The URI of the file. Nil if it is compressed: Qt does this with texts of 40 characters and more. The name of the
  /// thumbnail, which is the digest of the URI, then tells the file.
  var uri: String?
  /// The modification time of the file, in whole seconds since 1970.
  var modified: Int64
  /// The size of the file in bytes. Some programs do not write it.
  var byteCount: Int64?
  var software: String?
  /// The asset of which photod wrote the thumbnail.
  var assetID: AssetID?
  /// The revision that the asset had. A program may change a photo and keep its size and time.
  var revision: String?
  /// The size of the photo in pixels.
  var photoSize: ImageFrame?

  /// The keyword that only photod writes. It tells the thumbnails of this library's photos from those of other programs.
  private static let assetKeyword = "X-photod::Asset"
  private static let revisionKeyword = "X-photod::Revision"

  /// The facts of a thumbnail that photod writes.
  /// - Returns: nil if the modification time of the file is not known. Such a thumbnail could never be checked.
  init?(of file: ImageFile, _ asset: ImageAsset, software: String) {
    guard let modified = file.modifiedSeconds else { return nil }
    uri = ThumbnailURI(path: file.path).text
    self.modified = modified
    byteCount = file.byteCount
    self.software = software
    assetID = asset.id
    revision = asset.revision
    // The catalog's size is that of the file to show.
    photoSize = file.index == 0 ? asset.pixelSize : nil
  }

  /// - Parameter bytes: the beginning of a PNG.
  /// - Returns: nil if it is no thumbnail.
  init?(_ bytes: [UInt8]) {
    let texts = PNGChunks.texts(in: bytes)
    // Some programs write a fraction.
    guard let uri = texts["Thumb::URI"], let time = texts["Thumb::MTime"]?.plain,
      let modified = time.split(separator: ".", omittingEmptySubsequences: false).first.flatMap({ Int64($0) })
    else { return nil }
    self.uri = uri.plain
    self.modified = modified
    byteCount = texts["Thumb::Size"]?.plain.flatMap { Int64($0) }
    software = texts["Software"]?.plain
    assetID = texts[Self.assetKeyword]?.plain.flatMap { AssetID($0) }
    revision = texts[Self.revisionKeyword]?.plain
    if let width = texts["Thumb::Image::Width"]?.plain.flatMap({ Int($0) }),
      let height = texts["Thumb::Image::Height"]?.plain.flatMap({ Int($0) })
    {
      photoSize = ImageFrame(width: width, height: height)
    }
  }

  /// Whether the thumbnail may show the present content of the file, by the time and size of the file.
  func matches(_ file: ImageFile) -> Bool {
    modified == file.modifiedSeconds && (byteCount ?? file.byteCount) == file.byteCount
  }

  /// Whether the thumbnail is valid. It may be another program's, but if photod has written it, it is that of this
  /// asset in this revision. Time and size of the file can be the same after an edit, and the id may be from an earlier
  /// catalog.
  func isValid(of file: ImageFile, _ asset: ImageAsset) -> Bool {
    matches(file) && (assetID == nil || (assetID == asset.id && revision == asset.revision))
  }

  /// The texts of a PNG.
  var texts: [(String, String)] {
    var texts = [("Thumb::MTime", String(modified))]
    if let uri { texts.insert(("Thumb::URI", uri), at: 0) }
    if let byteCount { texts.append(("Thumb::Size", String(byteCount))) }
    if let photoSize {
      texts.append(("Thumb::Image::Width", String(photoSize.width)))
      texts.append(("Thumb::Image::Height", String(photoSize.height)))
    }
    if let software { texts.append(("Software", software)) }
    if let assetID { texts.append((Self.assetKeyword, String(assetID))) }
    if let revision { texts.append((Self.revisionKeyword, revision)) }
    return texts
  }
}

extension ImageFile {
  /// The modification time in whole seconds, as stat(2) has it. Nil if it is not known.
  var modifiedSeconds: Int64? {
    guard let modified, modified != .unknown else { return nil }
    let (seconds, rest) = modified.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? seconds - 1 : seconds
  }
}
