import PhotoCatalog
import PhotoModel

extension CatalogWriter {
  /// Sets the given flags of an asset.
  package func setUserData(of id: AssetID, isFavorite: Bool?, isHidden: Bool?) throws {
    try edit(id, AssetEdit(isFavorite: isFavorite, isHidden: isHidden))
  }
}
