import PhotoClient
import PhotoModel

/// All user data of a library, read for an export.
///
/// photod is asked several times. Each photo and each album is as it was at one moment, but not all at the same moment.
struct LibraryExport {
  private(set) var library: ExportedLibrary
  private(set) var photos: [ExportedPhoto] = []
  private(set) var collections: [ExportedCollection] = []

  init(of client: PhotoLibrary) async throws {
    let status = try await client.status()
    library = ExportedLibrary(library: status.library, roots: status.roots.map(\.path))
    var data: [AssetID: UserData] = [:]
    for asset in try await client.userData() { data[asset.assetID] = asset }
    for collection in try await client.userCollections() {
      var exported = ExportedCollection(collection)
      if exported.kind == .album {
        exported.photos = try await client.allIDs(FetchOptions(collection: "id:\(collection.id)", includeHidden: true))
        exported.keyPhoto = collection.chosenKeyAssetID
      }
      collections.append(exported)
    }
    let members = Set(collections.flatMap { $0.photos ?? [] }).filter { data[$0] == nil }
    for asset in try await client.userData(of: Array(members)) { data[asset.assetID] = asset }
    let roots = LibraryFolders(status).roots
    for asset in try await client.assets(data.keys.sorted()) {
      guard let found = data[asset.id], let path = asset.listedPath.map(FilePath.bytes) else { continue }
      // If roots are nested, the innermost is the one that has the photo.
      let root = roots.filter { LibraryFolders.contains($0, path) }.max { $0.count < $1.count }
      photos.append(ExportedPhoto(asset, found, root: root))
    }
    // A photo may have left the library meanwhile.
    let known = Set(photos.map(\.id))
    for index in collections.indices {
      collections[index].photos?.removeAll { !known.contains($0) }
      if let key = collections[index].keyPhoto, collections[index].photos?.contains(key) != true {
        collections[index].keyPhoto = nil
      }
    }
  }

  /// Passes the lines in their order, each with its line break.
  func forEachLine(_ body: ([UInt8]) throws -> Void) throws {
    func put(_ value: some Encodable) throws { try body(try JSONText.line(value) + [UInt8(ascii: "\n")]) }
    try put(library)
    for photo in photos { try put(photo) }
    for collection in collections { try put(collection) }
    try put(ExportedEnd(photoCount: photos.count, collectionCount: collections.count))
  }
}

extension ExportedCollection {
  init(_ collection: AssetCollection) {
    let kind: Kind =
      switch collection.kind {
      case .folder: .folder
      case .smartAlbum: .smartAlbum
      case .album, .folderAlbum, .unknown: .album
      }
    self.init(
      kind: kind, id: collection.id, parentID: collection.parentID, title: collection.title, query: collection.query)
  }
}
