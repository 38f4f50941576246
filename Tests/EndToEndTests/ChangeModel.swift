import PhotoModel
import TestTools

/// It holds what persons said about some photos, and their albums, as plain values.
struct ChangeModel: Sendable {
  struct Said: Equatable, Sendable {
    var isFavorite = false
    var isHidden = false
    var rating: Int?
    var title: String?
    var caption: String?
    var keywords: [String] = []

    init() {}

    init(_ asset: Asset) {
      (isFavorite, isHidden, rating) = (asset.isFavorite, asset.isHidden, asset.rating)
      (title, caption, keywords) = (asset.title, asset.caption, asset.keywords)
    }
  }

  struct Album: Equatable, Sendable {
    var title: String
    var parentID: CollectionID?
    var isFolder = false
    var members: [AssetID] = []
  }

  /// The files themselves have no title, caption, keyword and rating.
  var assets: [AssetID: Said]
  var albums: [CollectionID: Album] = [:]

  init(assets: [AssetID]) { self.assets = Dictionary(uniqueKeysWithValues: assets.map { ($0, Said()) }) }

  // MARK: - Changes

  /// Makes the changes of a call that succeeded.
  mutating func apply(_ requests: [ChangeRequest], created: [CollectionID]) {
    var new = created[...]
    func real(_ id: CollectionID?) -> CollectionID? {
      guard let id, id.rawValue < 0 else { return id == 0 ? nil : id }
      return created[Int(-id.rawValue - 1)]
    }
    for request in requests {
      if let edit = request.editAsset { for id in edit.ids { apply(edit, to: id) } }
      if let album = request.createAlbum, let id = new.popFirst() {
        albums[id] = Album(title: album.title, parentID: real(album.parentID), members: album.assetIDs ?? [])
      }
      if let folder = request.createFolder, let id = new.popFirst() {
        albums[id] = Album(title: folder.title, parentID: real(folder.parentID), isFolder: true)
      }
      if let edit = request.editAlbum, let id = real(edit.id) { apply(edit, to: id) }
      if let edit = request.editCollection, let id = real(edit.id) {
        if let title = edit.title { albums[id]?.title = title }
        if let parent = edit.parentID { albums[id]?.parentID = real(parent) }
      }
      if let id = real(request.deleteAlbum) { delete(id) }
    }
  }

  private mutating func apply(_ edit: ChangeRequest.EditAsset, to id: AssetID) {
    var said = assets[id] ?? Said()
    for field in edit.clear ?? [] {
      switch ClearableField(rawValue: field) {
      case .isFavorite: said.isFavorite = false
      case .isHidden: said.isHidden = false
      case .rating: said.rating = nil
      case .title: said.title = nil
      case .caption: said.caption = nil
      case .keywords: said.keywords = []
      default: break
      }
    }
    said.isFavorite = edit.isFavorite ?? said.isFavorite
    said.isHidden = edit.isHidden ?? said.isHidden
    said.rating = edit.rating ?? said.rating
    if let title = edit.title { said.title = title.isEmpty ? nil : title }
    if let caption = edit.caption { said.caption = caption.isEmpty ? nil : caption }
    for keyword in edit.addKeywords ?? [] where !said.keywords.contains(keyword) { said.keywords.append(keyword) }
    said.keywords.removeAll { edit.removeKeywords?.contains($0) ?? false }
    assets[id] = said
  }

  private mutating func apply(_ edit: ChangeRequest.EditAlbum, to id: CollectionID) {
    guard var album = albums[id] else { return }
    album.title = edit.title ?? album.title
    album.members.removeAll { edit.removeAssetIDs?.contains($0) ?? false }
    if let placed = edit.placeAssetIDs {
      album.members.removeAll(where: placed.contains)
      let index = edit.beforeAssetID.flatMap(album.members.firstIndex) ?? album.members.count
      album.members.insert(contentsOf: placed, at: index)
    }
    albums[id] = album
  }

  private mutating func delete(_ id: CollectionID) {
    albums[id] = nil
    for child in albums.filter({ $0.value.parentID == id }).keys { delete(child) }
  }

  // MARK: - Random requests

  /// A request that is valid for this state, or now and then invalid. Other clients may make it invalid meanwhile.
  func randomRequest(using random: inout SeededGenerator) -> ChangeRequest {
    func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    func someAssets() -> [AssetID] {
      let ids = assets.keys.sorted().shuffled(using: &random).prefix(.random(in: 1...4, using: &random))
      return once(in: 40) ? [999_999] : Array(ids)
    }
    let folders = albums.filter(\.value.isFolder).keys.sorted()
    let lists = albums.filter { !$0.value.isFolder }.keys.sorted()
    let parent = once(in: 2) ? folders.randomElement(using: &random) : nil
    let title = once(in: 40) ? " " : "T\(Int.random(in: 0..<50, using: &random)) Ω%"
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return ChangeRequest(createFolder: .init(title: title, parentID: once(in: 10) ? -1 : parent))
    case 1: return ChangeRequest(createAlbum: .init(title: title, assetIDs: someAssets(), parentID: parent))
    case 2...5:
      guard let id = lists.randomElement(using: &random) else { break }
      var edit = ChangeRequest.EditAlbum(id: id)
      if once(in: 3) { edit.removeAssetIDs = someAssets() } else { edit.placeAssetIDs = someAssets() }
      if edit.placeAssetIDs != nil, once(in: 2) {
        edit.beforeAssetID = albums[id]?.members.randomElement(using: &random)
      }
      if once(in: 4) { edit.title = title }
      return ChangeRequest(editAlbum: edit)
    case 6:
      guard let id = albums.keys.sorted().randomElement(using: &random) else { break }
      return ChangeRequest(editCollection: .init(id: id, title: once(in: 2) ? title : nil, parentID: parent ?? 0))
    case 7:
      guard once(in: 3), let id = albums.keys.sorted().randomElement(using: &random) else { break }
      return ChangeRequest(deleteAlbum: once(in: 10) ? 1 : id)
    default: break
    }
    var edit = ChangeRequest.EditAsset(ids: someAssets())
    if once(in: 2) { edit.isFavorite = once(in: 2) }
    if once(in: 3) { edit.isHidden = once(in: 3) }
    if once(in: 3) { edit.rating = .random(in: 0...6, using: &random) }
    if once(in: 3) { edit.title = once(in: 3) ? "" : title }
    if once(in: 3) { edit.addKeywords = ["k\(Int.random(in: 0..<6, using: &random))"] }
    if once(in: 4) { edit.removeKeywords = ["k\(Int.random(in: 0..<6, using: &random))"] }
    if once(in: 5) {
      edit.clear = [["caption"], ["rating"], ["keywords"], ["title"], ["colour"]].randomElement(using: &random)
    }
    if edit == .init(ids: edit.ids) { edit.caption = "c" }
    return ChangeRequest(editAsset: edit)
  }
}
