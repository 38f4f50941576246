import PhotoModel

/// The files of the catalog that a scan did not find in their places.
///
/// They are grouped by directory. If a drive is unmounted during the scan, only the missing files below its folder are
/// examined, however many others there are.
struct MissingFiles {
  private var places: [AssetID: Place] = [:]
  private var assets: [DirectoryID: Set<AssetID>] = [:]
  /// The number of files that were examined by ``remove(directory:)``.
  private(set) var examinedCount = 0

  var isEmpty: Bool { places.isEmpty }

  func contains(_ assetID: AssetID) -> Bool { places[assetID] != nil }

  /// The files in the order of their assets.
  var sorted: [(assetID: AssetID, place: Place)] {
    places.sorted { $0.key < $1.key }.map { (assetID: $0.key, place: $0.value) }
  }

  mutating func insert(_ assetID: AssetID, at place: Place) {
    remove(assetID)
    places[assetID] = place
    assets[place.directoryID, default: []].insert(assetID)
  }

  mutating func remove(_ assetID: AssetID) {
    guard let directory = places.removeValue(forKey: assetID)?.directoryID else { return }
    assets[directory]?.remove(assetID)
    if assets[directory]?.isEmpty == true { assets[directory] = nil }
  }

  /// Removes the files of one directory.
  mutating func remove(directory id: DirectoryID) {
    for assetID in assets.removeValue(forKey: id) ?? [] {
      examinedCount += 1
      places[assetID] = nil
    }
  }
}
