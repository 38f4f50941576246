import PhotoClient
import PhotoModel

// The lines of an export, each a JSON object with a member `kind`. Their order is: one library, the photos by their ids, the
// collections in the order of the library (a folder before the collections in it), and one end.

/// The first line of an export.
struct ExportedLibrary: Codable, Hashable, Sendable {
  static let kind = "library"
  /// The version of the format. A photoctl reads no export of a later format.
  static let currentFormat = 1

  var kind = Self.kind
  var format = Self.currentFormat
  /// The name of the library, by which its tokens begin.
  var library: String
  /// The watched folders, in the form of the contract.
  var roots: [String]
}

/// A photo that has user data, or that is in an album. No person has given a value that is absent.
struct ExportedPhoto: Codable, Hashable, Sendable {
  static let kind = "photo"

  var kind = Self.kind
  /// The id in the library of the export. Albums of the export name their photos by it.
  var id: AssetID
  /// The path of its first file, in the form of the contract.
  var path: String
  /// The watched folder above this path; nil if none was configured any more.
  var root: String?
  var byteCount: Int64
  var contentHash: String?
  var isFavorite: Bool?
  var isHidden: Bool?
  var rating: Int?
  var title: String?
  var caption: String?
  var addedKeywords: [String]?
  var removedKeywords: [String]?
  var creationDate: PhotoDate?
  var location: Location?
  var hasNoLocation: Bool?

  /// The path below the root as bytes; nil without a root.
  var relativePath: [UInt8]? {
    guard let root else { return nil }
    let (outer, inner) = (FilePath.bytes(root), FilePath.bytes(path))
    guard LibraryFolders.contains(outer, inner), outer.count < inner.count else { return nil }
    return Array(inner[outer.count...].drop { $0 == UInt8(ascii: "/") })
  }
}

/// An album, a smart album, or a folder of albums.
struct ExportedCollection: Codable, Hashable, Sendable {
  enum Kind: String, Codable { case folder, album, smartAlbum }

  var kind: Kind
  /// The id in the library of the export.
  var id: CollectionID
  /// The folder of albums that has it; nil at the top level.
  var parentID: CollectionID?
  var title: String
  /// The photos of an album in its order.
  var photos: [AssetID]?
  /// The cover of an album, if a person chose it.
  var keyPhoto: AssetID?
  /// The query of a smart album.
  var query: SmartAlbumQuery?
}

/// The last line. An export without it is incomplete.
struct ExportedEnd: Codable, Hashable, Sendable {
  static let kind = "end"

  var kind = Self.kind
  var photoCount: Int
  var collectionCount: Int
}

extension ExportedPhoto {
  init(_ asset: Asset, _ data: UserData, root: [UInt8]?) {
    self.init(
      id: asset.id, path: asset.listedPath ?? "", root: root.map { FilePath.text($0) },
      byteCount: asset.resources.first?.byteCount ?? 0, contentHash: data.contentHash,
      isFavorite: data.isFavorite ? true : nil, isHidden: data.isHidden ? true : nil, rating: data.rating,
      title: data.title, caption: data.caption,
      addedKeywords: data.addedKeywords.isEmpty ? nil : data.addedKeywords,
      removedKeywords: data.removedKeywords.isEmpty ? nil : data.removedKeywords, creationDate: data.creationDate,
      location: data.location, hasNoLocation: data.hasNoLocation ? true : nil)
  }
}
