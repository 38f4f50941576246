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
  /// The condition on its assets, in memory.
  var requirements = AssetRequirements()
  /// Whether it shows the hidden assets, and no others. Every other album shows the visible assets.
  var showsHidden = false
  /// The order if a fetch names none. If nil, the newest creation date comes first.
  var order: [SortDescriptor]?
  /// The most assets that the album has. It has the first ones by ``order``.
  var limit: Int?

  /// The same condition of the row `asset`; nil for all assets. It contains no `?`, so that SQLite recognises that a partial
  /// index fits.
  var sql: String? {
    let parts = conditions.map(\.sql)
    return parts.isEmpty ? nil : parts.joined(separator: " AND ")
  }

  /// The fields on which the condition depends.
  var dependsOn: ChangedFields { conditions.reduce(into: []) { $0.formUnion($1.dependsOn) } }

  /// The subtypes that share one index (v012-smart-albums.sql), because few assets have any of them.
  private static let rareSubtypes: MediaSubtypes = [
    .livePhoto, .motionPhoto, .panorama, .raw, .animated, .burst, .depth,
  ]

  /// The parts of the condition. No smart album requires a directory, or that an asset is not in the trash.
  private var conditions: [(sql: String, dependsOn: ChangedFields)] {
    var conditions: [(sql: String, dependsOn: ChangedFields)] = []
    if requirements.favorite { conditions.append(("asset.is_favorite = 1", .favorite)) }
    if let hidden = requirements.hidden { conditions.append(("asset.is_hidden = \(hidden ? 1 : 0)", .hidden)) }
    if requirements.duplicate { conditions.append(("asset.is_duplicate = 1", .duplicates)) }
    if requirements.failed { conditions.append(("asset.failure IS NOT NULL", [.content, .metadata])) }
    if let location = requirements.location {
      conditions.append(("asset.has_location = \(location ? 1 : 0)", [.content, .metadata]))
    }
    if let types = requirements.mediaTypes {
      let equal = types.sorted().map { "asset.media_type = \($0)" }.joined(separator: " OR ")
      conditions.append(("(\(equal))", [.content, .metadata, .resources]))
    }
    if let subtypes = requirements.anySubtype {
      var fields: ChangedFields = [.content, .metadata, .resources]
      // photod also recognises a screenshot by the name of its file.
      if subtypes.contains(.screenshot) { fields.insert(.path) }
      if Self.rareSubtypes.isSuperset(of: subtypes) {
        conditions.append(("asset.media_subtypes & \(Self.rareSubtypes.rawValue) <> 0", fields))
      }
      conditions.append(("asset.media_subtypes & \(subtypes.rawValue) <> 0", fields))
    }
    return conditions
  }
}

extension SmartAlbum {
  var definition: SmartAlbumDefinition {
    switch self {
    case .recents: SmartAlbumDefinition()
    case .favorites: SmartAlbumDefinition(requirements: AssetRequirements(favorite: true))
    case .videos: SmartAlbumDefinition(requirements: AssetRequirements(mediaTypes: [MediaType.video.code]))
    case .screenshots: Self.subtypes(.screenshot)
    case .panoramas: Self.subtypes(.panorama)
    case .animated: Self.subtypes(.animated)
    case .raw: Self.subtypes(.raw)
    case .bursts: Self.subtypes(.burst)
    case .livePhotos: Self.subtypes([.livePhoto, .motionPhoto])
    case .depth: Self.subtypes(.depth)
    case .noLocation: SmartAlbumDefinition(requirements: AssetRequirements(location: false))
    case .hidden: SmartAlbumDefinition(requirements: AssetRequirements(hidden: true), showsHidden: true)
    case .unreadable: SmartAlbumDefinition(requirements: AssetRequirements(failed: true))
    case .recentlyAdded:
      SmartAlbumDefinition(order: [SortDescriptor(key: "addedDate", ascending: false)], limit: 1_000)
    case .duplicates: SmartAlbumDefinition(requirements: AssetRequirements(duplicate: true))
    }
  }

  /// The assets with at least one of these subtypes.
  private static func subtypes(_ subtypes: MediaSubtypes) -> SmartAlbumDefinition {
    SmartAlbumDefinition(requirements: AssetRequirements(anySubtype: subtypes))
  }
}
