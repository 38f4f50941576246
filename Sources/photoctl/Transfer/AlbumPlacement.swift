import PhotoModel

/// Photos that are placed in an album in this order, before one of its photos or at its end.
struct AlbumPlacement: Equatable {
  var ids: [AssetID]
  var before: AssetID?

  /// The placements after which an album has these photos in this order. Its other photos stay.
  ///
  /// If the album has some of the photos in the wanted order, only the missing ones are placed. Otherwise all of them are
  /// placed at the end.
  static func placements(of wanted: [AssetID], in members: [AssetID]) -> [AlbumPlacement] {
    let known = Set(members)
    let wantedSet = Set(wanted)
    guard wanted.filter(known.contains) == members.filter(wantedSet.contains) else {
      return [AlbumPlacement(ids: wanted)]
    }
    var placements: [AlbumPlacement] = []
    var missing: [AssetID] = []
    for id in wanted {
      if !known.contains(id) {
        missing.append(id)
      } else if !missing.isEmpty {
        placements.append(AlbumPlacement(ids: missing, before: id))
        missing = []
      }
    }
    if !missing.isEmpty { placements.append(AlbumPlacement(ids: missing)) }
    return placements
  }
}
