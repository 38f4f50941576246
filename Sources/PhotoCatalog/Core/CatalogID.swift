import PhotoModel

/// An id that the catalog stores as an integer.
package protocol CatalogID: Hashable, Comparable, Sendable {
  init(rawValue: Int64)
  var rawValue: Int64 { get }
}

extension AssetID: CatalogID {}
extension CollectionID: CatalogID {}
extension DirectoryID: CatalogID {}
extension RootID: CatalogID {}
extension VolumeID: CatalogID {}

extension SQLValue {
  static func id(_ id: some CatalogID) -> SQLValue { .integer(id.rawValue) }
}

extension RawStatement {
  func bind(_ index: Int32, _ id: (some CatalogID)?) { bind(index, id?.rawValue) }

  func assetID(_ column: Int32) -> AssetID { AssetID(rawValue: int64(column)) }

  func optionalAssetID(_ column: Int32) -> AssetID? { optionalInt64(column).map(AssetID.init(rawValue:)) }
  func optionalCollectionID(_ column: Int32) -> CollectionID? {
    optionalInt64(column).map(CollectionID.init(rawValue:))
  }

  func collectionID(_ column: Int32) -> CollectionID { CollectionID(rawValue: int64(column)) }

  func directoryID(_ column: Int32) -> DirectoryID { DirectoryID(rawValue: int64(column)) }

  func optionalDirectoryID(_ column: Int32) -> DirectoryID? { optionalInt64(column).map(DirectoryID.init(rawValue:)) }

  func rootID(_ column: Int32) -> RootID { RootID(rawValue: int64(column)) }

  func optionalRootID(_ column: Int32) -> RootID? { optionalInt64(column).map(RootID.init(rawValue:)) }

  func volumeID(_ column: Int32) -> VolumeID { VolumeID(rawValue: int64(column)) }

  func optionalVolumeID(_ column: Int32) -> VolumeID? { optionalInt64(column).map(VolumeID.init(rawValue:)) }
}
