import PhotoModel

/// The smart albums of photod. The case is the `subtype` in the catalog and in the contract, and the order is that of the
/// list. An album whose assets need facts that this version does not read is empty until a later version reads them.
package enum SmartAlbum: String, CaseIterable, Sendable {
  case recents, favorites, videos, screenshots
  case panoramas, animated, raw, bursts, livePhotos, depth, noLocation, hidden, unreadable
  case recentlyAdded, duplicates
}

/// The assets of a smart album. Everything that depends on this is derived from ``SmartAlbum/definition``: the list as SQL,
/// the matcher in memory, and the albums that a commit touches.
struct SmartAlbumDefinition: Sendable {
  /// The condition of the row `asset`; nil for all assets. It contains no `?`, so that SQLite recognises that a partial
  /// index fits.
  var sql: String?
  /// The same condition, in memory.
  var requirements = AssetRequirements()
  /// The fields on which the condition depends.
  var dependsOn: ChangedFields = []
  /// Whether it shows the hidden assets, and no others. Every other album shows the visible assets.
  var showsHidden = false
  /// The order if a fetch names none. If nil, the newest creation date comes first.
  var order: [SortDescriptor]?
  /// The most assets that the album has. It has the first ones by ``order``.
  var limit: Int?
}

extension SmartAlbum {
  /// The subtypes that share one index (v012-smart-albums.sql), because few assets have any of them.
  private static let rareSubtypes: MediaSubtypes = [
    .livePhoto, .motionPhoto, .panorama, .raw, .animated, .burst, .depth,
  ]

  var definition: SmartAlbumDefinition {
    switch self {
    case .recents: return SmartAlbumDefinition()
    case .favorites:
      return SmartAlbumDefinition(
        sql: "asset.is_favorite = 1", requirements: AssetRequirements(favorite: true), dependsOn: .favorite)
    case .videos:
      return SmartAlbumDefinition(
        sql: "asset.media_type = 2", requirements: AssetRequirements(mediaTypes: [MediaType.video.code]),
        dependsOn: [.content, .metadata, .resources])
    case .screenshots:
      // photod also recognises a screenshot by the name of its file.
      return Self.subtypes(.screenshot, dependsOn: [.content, .metadata, .resources, .path])
    case .panoramas: return Self.subtypes(.panorama)
    case .animated: return Self.subtypes(.animated)
    case .raw: return Self.subtypes(.raw)
    case .bursts: return Self.subtypes(.burst)
    case .livePhotos: return Self.subtypes([.livePhoto, .motionPhoto])
    case .depth: return Self.subtypes(.depth)
    case .noLocation:
      return SmartAlbumDefinition(
        sql: "asset.has_location = 0", requirements: AssetRequirements(location: false),
        dependsOn: [.content, .metadata])
    case .hidden:
      return SmartAlbumDefinition(
        sql: "asset.is_hidden = 1", requirements: AssetRequirements(hidden: true), dependsOn: .hidden,
        showsHidden: true)
    case .unreadable:
      return SmartAlbumDefinition(
        sql: "asset.failure IS NOT NULL", requirements: AssetRequirements(failed: true),
        dependsOn: [.content, .metadata])
    case .recentlyAdded:
      return SmartAlbumDefinition(order: [SortDescriptor(key: "addedDate", ascending: false)], limit: 1_000)
    case .duplicates:
      return SmartAlbumDefinition(
        sql: "asset.is_duplicate = 1", requirements: AssetRequirements(duplicate: true), dependsOn: .duplicates)
    }
  }

  /// The assets with at least one of these subtypes.
  private static func subtypes(
    _ subtypes: MediaSubtypes, dependsOn: ChangedFields = [.content, .metadata, .resources]
  ) -> SmartAlbumDefinition {
    let isRare = rareSubtypes.isSuperset(of: subtypes)
    return SmartAlbumDefinition(
      sql: (isRare ? "asset.media_subtypes & \(rareSubtypes.rawValue) <> 0 AND " : "")
        + "asset.media_subtypes & \(subtypes.rawValue) <> 0",
      requirements: AssetRequirements(anySubtype: subtypes), dependsOn: dependsOn)
  }
}
