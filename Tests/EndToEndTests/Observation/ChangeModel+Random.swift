import PhotoModel
import TestTools

extension ChangeModel {
  /// About how many collections there are at most.
  private static let mostCollections = 50

  /// The requests of a call. Most are valid for this state, but other clients may make them invalid meanwhile.
  func randomCall(using random: inout SeededGenerator) -> [ChangeRequest] {
    var requests: [ChangeRequest] = []
    var created: [Album.Kind] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let request = randomRequest(created, using: &random)
      if request.createAlbum != nil { created.append(.album) }
      if request.createFolder != nil { created.append(.folder) }
      if request.createSmartAlbum != nil { created.append(.smart(SmartAlbumQuery())) }
      requests.append(request)
    }
    return requests
  }

  /// - Parameter created: the kinds of the collections that earlier requests of the call create.
  private func randomRequest(_ created: [Album.Kind], using random: inout SeededGenerator) -> ChangeRequest {
    func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    func someAssets() -> [AssetID] {
      let ids = assets.keys.sorted().shuffled(using: &random).prefix(.random(in: 1...4, using: &random))
      return once(in: 40) ? [999_999] : Array(ids)
    }
    /// A collection of this kind, which is one of the call itself now and then.
    func some(_ isKind: (Album.Kind) -> Bool) -> CollectionID? {
      let own = created.indices.filter { isKind(created[$0]) }.map { CollectionID(rawValue: -Int64($0) - 1) }
      if once(in: 2), let id = own.randomElement(using: &random) { return id }
      if once(in: 60) { return -3 }
      return albums.filter { isKind($0.value.kind) }.keys.sorted().randomElement(using: &random)
    }
    func isSmart(_ kind: Album.Kind) -> Bool { if case .smart = kind { true } else { false } }
    func query() -> SmartAlbumQuery {
      let invalid = SmartAlbumQuery(predicate: "colour == 'red'")
      return once(in: 30) ? invalid : Self.queries.randomElement(using: &random)?.query ?? invalid
    }
    let parent = once(in: 2) ? some { $0 == .folder } : nil
    // Otherwise long runs would have hundreds of collections, of which each comparison reads all. The oldest album stays,
    // because it is followed.
    if albums.count > Self.mostCollections, once(in: 4),
      let id = albums.keys.sorted().dropFirst().randomElement(using: &random)
    {
      return ChangeRequest(deleteAlbum: id)
    }
    let title = once(in: 40) ? " " : "T\(Int.random(in: 0..<50, using: &random)) Ω%"
    switch Int.random(in: 0..<18, using: &random) {
    case 0: return ChangeRequest(createFolder: .init(title: title, parentID: parent))
    case 1: return ChangeRequest(createAlbum: .init(title: title, assetIDs: someAssets(), parentID: parent))
    case 2...6:
      guard let id = some({ $0 == .album }) else { break }
      var edit = ChangeRequest.EditAlbum(id: id)
      if once(in: 3) { edit.removeAssetIDs = someAssets() } else { edit.placeAssetIDs = someAssets() }
      if edit.placeAssetIDs != nil, once(in: 2) {
        // It may be one of those that are placed.
        let placed = edit.placeAssetIDs ?? []
        let members = albums[id]?.members ?? []
        edit.beforeAssetID =
          (once(in: 4) ? members.first(where: placed.contains) : nil) ?? members.randomElement(using: &random)
      }
      if once(in: 4) { edit.title = title }
      if once(in: 3) { edit.keyAssetID = edit.placeAssetIDs?.first ?? albums[id]?.members.first }
      return ChangeRequest(editAlbum: edit)
    case 7...9:
      guard let id = some({ _ in true }) else { break }
      var edit = ChangeRequest.EditCollection(id: id, title: once(in: 3) ? title : nil)
      if once(in: 2) { edit.parentID = parent ?? 0 }
      if once(in: 2) {
        let folder = edit.parentID.map { $0 == 0 ? nil : $0 } ?? albums[id]?.parentID
        edit.beforeID = once(in: 6) ? 0 : children(of: folder).randomElement(using: &random)
      }
      if edit == .init(id: id) { edit.title = title }
      return ChangeRequest(editCollection: edit)
    case 10:
      guard once(in: 2), let id = some({ _ in true }) else { break }
      return ChangeRequest(deleteAlbum: once(in: 10) ? 1 : id)
    case 11: return ChangeRequest(createSmartAlbum: .init(title: title, query(), parentID: parent))
    case 12:
      guard let id = some(isSmart) else { break }
      return ChangeRequest(editSmartAlbum: .init(id: id, query()))
    default: break
    }
    return ChangeRequest(editAsset: randomEdit(of: someAssets(), title, using: &random))
  }

  private func randomEdit(
    of ids: [AssetID], _ title: String, using random: inout SeededGenerator
  ) -> ChangeRequest.EditAsset {
    func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    var edit = ChangeRequest.EditAsset(ids: ids)
    if once(in: 2) { edit.isFavorite = once(in: 2) }
    if once(in: 3) { edit.isHidden = once(in: 3) }
    if once(in: 3) { edit.rating = .random(in: 0...6, using: &random) }
    if once(in: 3) { edit.title = once(in: 3) ? "" : title }
    if once(in: 3) { edit.addKeywords = ["k\(Int.random(in: 0..<6, using: &random))"] }
    if once(in: 4) { edit.removeKeywords = ["k\(Int.random(in: 0..<6, using: &random))"] }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: edit.creationDate = "2024-0\(Int.random(in: 1...9, using: &random))-14T10:00:00+02:00"
    case 1: edit.creationDate = "2023-11-1\(Int.random(in: 0...9, using: &random))T09:30:00"
    case 2: edit.shiftCreationDate = Double(Int.random(in: -7_200...7_200, using: &random))
    default: break
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: edit.location = Location(latitude: Double(Int.random(in: -90...90, using: &random)), longitude: 12.5)
    case 1: edit.removeLocation = true
    default: break
    }
    if once(in: 5) {
      edit.clear = [
        ["caption"], ["rating"], ["keywords"], ["title"], ["creationDate"], ["location", "isHidden"], ["colour"],
      ].randomElement(using: &random)
    }
    if edit == .init(ids: edit.ids) { edit.caption = "c" }
    return edit
  }
}
