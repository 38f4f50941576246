import PhotoModel

extension ChangeModel {
  /// How deep folders may be nested.
  private static let mostLevels = 32

  /// Whether photod must carry out a call in this state. `ifUnchangedSince` is not considered.
  func accepts(_ requests: [ChangeRequest]) -> Bool {
    var state = self
    var created: [CollectionID] = []
    for request in requests {
      guard state.accepts(request, created) else { return false }
      var new: CollectionID?
      if request.makesCollection {
        // The real id is not known yet.
        let id = CollectionID(rawValue: 1 << 40 + Int64(created.count))
        created.append(id)
        new = id
      }
      state.apply(request, created: created, new: new, sequence: 0)
    }
    return true
  }

  private func accepts(_ request: ChangeRequest, _ created: [CollectionID]) -> Bool {
    func real(_ id: CollectionID?) -> CollectionID? {
      guard let id, id.rawValue < 0 else { return id }
      let index = Int(-id.rawValue - 1)
      return index < created.count ? created[index] : nil
    }
    func album(_ id: CollectionID?) -> Album? { real(id).flatMap { albums[$0] } }
    func isFolder(_ id: CollectionID?) -> Bool { id == nil || id == 0 || album(id)?.kind == .folder }
    if let edit = request.editAsset { return accepts(edit) }
    if let album = request.createAlbum {
      return Self.isTitle(album.title) && areKnown(album.assetIDs) && isFolder(album.parentID)
    }
    if let folder = request.createFolder {
      guard Self.isTitle(folder.title), isFolder(folder.parentID) else { return false }
      let parentID = folder.parentID == 0 ? nil : real(folder.parentID)
      return folders(above: parentID).count < Self.mostLevels
    }
    if let smart = request.createSmartAlbum {
      return Self.isTitle(smart.title) && Self.isQuery(smart.predicate, smart.text) && isFolder(smart.parentID)
    }
    if let edit = request.editSmartAlbum {
      guard case .smart = album(edit.id)?.kind else { return false }
      return Self.isQuery(edit.predicate, edit.text)
    }
    if let edit = request.editAlbum { return album(edit.id).map { accepts(edit, of: $0) } ?? false }
    if let edit = request.editCollection {
      guard let id = real(edit.id), let held = albums[id], Self.isTitle(edit.title) else { return false }
      guard edit.parentID != nil || edit.beforeID != nil else { return true }
      guard edit.beforeID != edit.id, isFolder(edit.parentID) else { return false }
      let parentID = edit.parentID == nil ? held.parentID : edit.parentID == 0 ? nil : real(edit.parentID)
      if held.kind == .folder, parentID != held.parentID {
        let above = folders(above: parentID)
        guard !above.contains(id), above.count + height(of: id) <= Self.mostLevels else { return false }
      }
      guard let next = edit.beforeID, next != 0 else { return true }
      guard let nextID = real(next), nextID != id, let other = albums[nextID] else { return false }
      return other.parentID == parentID
    }
    return album(request.deleteAlbum) != nil
  }

  private func accepts(_ edit: ChangeRequest.EditAsset) -> Bool {
    let isSet: [ClearableField: Bool] = [
      .isFavorite: edit.isFavorite != nil, .isHidden: edit.isHidden != nil, .rating: edit.rating != nil,
      .title: edit.title != nil, .caption: edit.caption != nil,
      .keywords: edit.addKeywords != nil || edit.removeKeywords != nil,
      .creationDate: edit.creationDate != nil || edit.shiftCreationDate != nil,
      .location: edit.location != nil || edit.removeLocation != nil,
    ]
    let canClear = (edit.clear ?? []).allSatisfy { name in
      ClearableField(rawValue: name).map { isSet[$0] == false } ?? false
    }
    return areKnown(edit.ids) && canClear && (0...5).contains(edit.rating ?? 0)
      && Set(edit.addKeywords ?? []).isDisjoint(with: edit.removeKeywords ?? [])
  }

  private func accepts(_ edit: ChangeRequest.EditAlbum, of album: Album) -> Bool {
    guard album.kind == .album, Self.isTitle(edit.title), areKnown(edit.removeAssetIDs), areKnown(edit.placeAssetIDs)
    else { return false }
    let left = Set(album.members).subtracting(edit.removeAssetIDs ?? [])
    if let before = edit.beforeAssetID, !left.contains(before) { return false }
    guard let key = edit.keyAssetID else { return true }
    return left.contains(key) || edit.placeAssetIDs?.contains(key) ?? false
  }

  private func areKnown(_ ids: [AssetID]?) -> Bool { (ids ?? []).allSatisfy { assets[$0] != nil } }

  private static func isTitle(_ title: String?) -> Bool { title.map { !$0.allSatisfy(\.isWhitespace) } ?? true }

  private static func isQuery(_ predicate: String?, _ text: String?) -> Bool {
    queries.contains { ($0.query.predicate, $0.query.text) == (predicate, text) }
  }

  /// A folder, and those that contain it. Empty for the top level.
  private func folders(above folder: CollectionID?) -> [CollectionID] {
    var found: [CollectionID] = []
    var next = folder
    while let id = next {
      found.append(id)
      next = albums[id]?.parentID
    }
    return found
  }

  /// The number of levels that a folder takes, with the folders in it.
  private func height(of folder: CollectionID) -> Int {
    1 + (children(of: folder).filter { albums[$0]?.kind == .folder }.map { height(of: $0) }.max() ?? 0)
  }
}

extension ChangeRequest {
  var makesCollection: Bool { createAlbum != nil || createFolder != nil || createSmartAlbum != nil }
}
