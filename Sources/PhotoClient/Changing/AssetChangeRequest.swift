import PhotoContract
import PhotoModel

/// An edit of assets, as PhotoKit's `PHAssetChangeRequest`. A property that is not set stays as it is.
///
/// Edits are kept beside the values of the files. No file is changed.
public struct AssetChangeRequest: Hashable, Sendable {
  /// The assets that are edited alike.
  public let ids: [AssetID]
  /// Whether they are favorites.
  public var isFavorite: Bool?
  /// Whether they are hidden.
  public var isHidden: Bool?
  /// 0...5
  public var rating: Int?
  /// An empty title means that they have none, whatever their files say.
  public var title: String?
  /// An empty caption means that they have none, whatever their files say.
  public var caption: String?
  /// When the photos were taken. A date without an offset is the reading of the camera's clock.
  public var creationDate: PhotoDate?
  /// The place of the photos.
  public var location: Location?

  private var addedKeywords: [String] = []
  private var removedKeywords: [String] = []
  private var shift: Double?
  private var removesLocation = false
  private var reverted: Set<ClearableField> = []

  /// An edit of one asset.
  public init(for asset: Asset) { self.init(forIDs: [asset.id]) }

  /// An edit of several assets.
  public init(forIDs ids: [AssetID]) { self.ids = ids }

  /// Adds keywords to those that each asset has.
  ///
  /// - Complexity: O(n · m) for n keywords beside m that were added or removed before.
  public mutating func addKeywords(_ keywords: [String]) {
    removedKeywords.removeAll(where: keywords.contains)
    addedKeywords += keywords.filter { !addedKeywords.contains($0) }
  }

  /// Removes keywords, also those of the files.
  ///
  /// - Complexity: the same as for ``addKeywords(_:)``.
  public mutating func removeKeywords(_ keywords: [String]) {
    addedKeywords.removeAll(where: keywords.contains)
    removedKeywords += keywords.filter { !removedKeywords.contains($0) }
  }

  /// Adds a time to the date of each asset, for a camera with a wrong clock.
  public mutating func shiftCreationDate(by duration: Duration) {
    shift = (shift ?? 0) + Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  /// Removes the place, whatever the files say.
  public mutating func removeLocation() {
    location = nil
    removesLocation = true
  }

  /// Gives fields the values of the files again. Favorite and hidden become false.
  ///
  /// - Parameter fields: by default all of them. A field can't be both set and reverted.
  /// - Complexity: O(k) for k fields.
  public mutating func revert(_ fields: Set<ClearableField> = Set(ClearableField.allCases)) {
    reverted.formUnion(fields)
  }

  /// The requests in the form of the contract.
  var requests: [ChangeRequest] {
    var edit = ChangeRequest.EditAsset(ids: ids, isFavorite: isFavorite, isHidden: isHidden)
    edit.rating = rating
    edit.title = title
    edit.caption = caption
    edit.creationDate = creationDate?.description
    edit.shiftCreationDate = shift
    edit.location = location
    edit.removeLocation = removesLocation && location == nil ? true : nil
    edit.addKeywords = addedKeywords.isEmpty ? nil : addedKeywords
    edit.removeKeywords = removedKeywords.isEmpty ? nil : removedKeywords
    // In the order of the contract, so that equal requests are equal texts.
    let cleared = ClearableField.allCases.filter(reverted.contains).map(\.rawValue)
    edit.clear = cleared.isEmpty ? nil : cleared
    return edit == ChangeRequest.EditAsset(ids: ids) ? [] : [ChangeRequest(editAsset: edit)]
  }
}
