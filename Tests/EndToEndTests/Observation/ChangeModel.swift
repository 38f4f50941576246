import Foundation
import PhotoModel
import TestTools

/// It holds what persons said about some photos, and their albums, as plain values.
struct ChangeModel: Sendable {
  struct Values: Equatable, Sendable {
    var isFavorite = false
    var isHidden = false
    var rating: Int?
    var title: String?
    var caption: String?
    var keywords: [String] = []
    var creationDate: PhotoDate
    var location: Location?

    init(_ asset: Asset) {
      (isFavorite, isHidden, rating) = (asset.isFavorite, asset.isHidden, asset.rating)
      (title, caption, keywords) = (asset.title, asset.caption, asset.keywords)
      (creationDate, location) = (asset.creationDate, asset.location)
    }
  }

  struct Album: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
      case album, folder
      case smart(SmartAlbumQuery)
    }

    var title: String
    var parentID: CollectionID?
    var kind = Kind.album
    var members: [AssetID] = []
    /// The cover that a client chose. It is shown while the album has it.
    var keyAsset: AssetID?
  }

  private(set) var assets: [AssetID: Values]
  private(set) var albums: [CollectionID: Album] = [:]
  /// The collections of the folders in which they have positions. Others are in alphabetical order. 0 is the top level.
  private var orders: [CollectionID: [CollectionID]] = [:]
  /// The values of the files.
  private let files: [AssetID: Values]
  /// The sequence of the last call that changed each asset.
  private(set) var lastChanges: [AssetID: Int64] = [:]
  /// The sequence of the last call that named each asset in an edit, which may have made no difference.
  private(set) var lastEdits: [AssetID: Int64] = [:]
  /// The sequence of the last call that changed each collection itself, or deleted it.
  private(set) var lastCollectionChanges: [CollectionID: Int64] = [:]

  /// - Parameter assets: assets without user data.
  init(assets: [Asset]) {
    self.assets = Dictionary(uniqueKeysWithValues: assets.map { ($0.id, Values($0)) })
    files = self.assets
  }

  // MARK: - The order of collections

  private func isPositioned(_ folder: CollectionID?) -> Bool { orders[folder ?? 0] != nil }

  func children(of folder: CollectionID?) -> [CollectionID] {
    if let order = orders[folder ?? 0] { return order }
    return albums.filter { $0.value.parentID == folder }.map { (title: $0.value.title.lowercased(), id: $0.key) }
      .sorted { ($0.title, $0.id) < ($1.title, $1.id) }.map(\.id)
  }

  /// All collections, those of a folder behind it.
  func list(in folder: CollectionID? = nil) -> [CollectionID] {
    children(of: folder).flatMap { [$0] + (albums[$0]?.kind == .folder ? list(in: $0) : []) }
  }

  private mutating func take(_ id: CollectionID, from folder: CollectionID?) {
    orders[folder ?? 0]?.removeAll { $0 == id }
    if orders[folder ?? 0]?.isEmpty ?? false { orders[folder ?? 0] = nil }
  }

  private mutating func insert(_ id: CollectionID, _ album: Album) {
    if isPositioned(album.parentID) { orders[album.parentID ?? 0]?.append(id) }
    albums[id] = album
  }

  private mutating func move(_ id: CollectionID, to folder: CollectionID?, before next: CollectionID?) {
    guard let former = albums[id].map(\.parentID) else { return }
    if let next {
      var order = children(of: folder).filter { $0 != id }
      if former != folder { take(id, from: former) }
      order.insert(id, at: order.firstIndex(of: next) ?? order.count)
      orders[folder ?? 0] = order
    } else if former != folder {
      take(id, from: former)
      if isPositioned(folder) { orders[folder ?? 0]?.append(id) }
    } else if isPositioned(folder) {
      orders[folder ?? 0]?.removeAll { $0 == id }
      orders[folder ?? 0]?.append(id)
    }
    albums[id]?.parentID = folder
  }

  private mutating func delete(_ id: CollectionID) {
    guard let album = albums[id] else { return }
    for child in children(of: id) where album.kind == .folder { delete(child) }
    take(id, from: album.parentID)
    albums[id] = nil
  }

  // MARK: - Changes

  /// Makes the changes of a call that succeeded.
  mutating func apply(_ requests: [ChangeRequest], created: [CollectionID], sequence: Int64) {
    var new = created[...]
    let before = albums
    for request in requests {
      apply(request, created: created, new: request.makesCollection ? new.popFirst() : nil, sequence: sequence)
    }
    for id in Set(before.keys).union(albums.keys) where before[id] != albums[id] {
      lastCollectionChanges[id] = sequence
    }
  }

  /// The collections that a call edits or deletes, with everything in deleted folders, but without those that it creates.
  func collections(namedBy requests: [ChangeRequest]) -> [CollectionID] {
    requests.flatMap { request -> [CollectionID] in
      if let id = request.deleteAlbum { return [id] + (albums[id]?.kind == .folder ? list(in: id) : []) }
      return [request.editAlbum?.id ?? request.editSmartAlbum?.id ?? request.editCollection?.id].compactMap { $0 }
    }.filter { $0.rawValue > 0 }
  }

  /// Makes one change of a call.
  ///
  /// - Parameters:
  ///   - created: the collections that the call creates, at least those of the requests so far.
  ///   - new: the collection that this request creates.
  mutating func apply(_ request: ChangeRequest, created: [CollectionID], new: CollectionID?, sequence: Int64) {
    func real(_ id: CollectionID?) -> CollectionID? {
      guard let id, id.rawValue < 0 else { return id == 0 ? nil : id }
      return created[Int(-id.rawValue - 1)]
    }
    if let edit = request.editAsset {
      for id in edit.ids {
        let before = assets[id]
        apply(edit, to: id)
        if assets[id] != before { lastChanges[id] = sequence }
        lastEdits[id] = sequence
      }
    }
    if let album = request.createAlbum, let new {
      insert(new, Album(title: album.title, parentID: real(album.parentID), members: album.assetIDs ?? []))
    }
    if let folder = request.createFolder, let new {
      insert(new, Album(title: folder.title, parentID: real(folder.parentID), kind: .folder))
    }
    if let smart = request.createSmartAlbum, let new {
      let query = SmartAlbumQuery(
        predicate: smart.predicate, text: smart.text, sortDescriptors: smart.sortDescriptors ?? [],
        fetchLimit: smart.fetchLimit)
      insert(new, Album(title: smart.title, parentID: real(smart.parentID), kind: .smart(query)))
    }
    if let edit = request.editSmartAlbum, let id = real(edit.id) {
      albums[id]?.kind = .smart(
        SmartAlbumQuery(
          predicate: edit.predicate, text: edit.text, sortDescriptors: edit.sortDescriptors ?? [],
          fetchLimit: edit.fetchLimit))
    }
    if let edit = request.editAlbum, let id = real(edit.id) { apply(edit, to: id) }
    if let edit = request.editCollection, let id = real(edit.id) {
      if edit.parentID != nil || edit.beforeID != nil {
        move(id, to: edit.parentID == nil ? albums[id]?.parentID : real(edit.parentID), before: real(edit.beforeID))
      }
      if let title = edit.title { albums[id]?.title = title }
    }
    if let id = real(request.deleteAlbum) { delete(id) }
  }

  private mutating func apply(_ edit: ChangeRequest.EditAsset, to id: AssetID) {
    guard var said = assets[id], let file = files[id] else { return }
    for field in edit.clear ?? [] {
      switch ClearableField(rawValue: field) {
      case .isFavorite: said.isFavorite = false
      case .isHidden: said.isHidden = false
      case .rating: said.rating = file.rating
      case .title: said.title = file.title
      case .caption: said.caption = file.caption
      case .keywords: said.keywords = file.keywords
      case .creationDate: said.creationDate = file.creationDate
      case .location: said.location = file.location
      case nil: break
      }
    }
    said.isFavorite = edit.isFavorite ?? said.isFavorite
    said.isHidden = edit.isHidden ?? said.isHidden
    said.rating = edit.rating ?? said.rating
    if let title = edit.title { said.title = title.isEmpty ? nil : title }
    if let caption = edit.caption { said.caption = caption.isEmpty ? nil : caption }
    for keyword in edit.addKeywords ?? [] where !said.keywords.contains(keyword) { said.keywords.append(keyword) }
    said.keywords.removeAll { edit.removeKeywords?.contains($0) ?? false }
    // The keywords of the file come first, in its order.
    said.keywords = file.keywords.filter(said.keywords.contains) + said.keywords.filter { !file.keywords.contains($0) }
    if let date = edit.creationDate.flatMap({ PhotoDate($0) }) { said.creationDate = date }
    if let seconds = edit.shiftCreationDate {
      said.creationDate = PhotoDate(
        microseconds: said.creationDate.microseconds + Int64(seconds * 1_000_000),
        offsetMinutes: said.creationDate.offsetMinutes)
    }
    if let location = edit.location { said.location = location }
    if edit.removeLocation ?? false { said.location = nil }
    assets[id] = said
  }

  private mutating func apply(_ edit: ChangeRequest.EditAlbum, to id: CollectionID) {
    guard var album = albums[id] else { return }
    album.title = edit.title ?? album.title
    album.members.removeAll { edit.removeAssetIDs?.contains($0) ?? false }
    if let placed = edit.placeAssetIDs {
      var next = edit.beforeAssetID
      if let index = next.flatMap(album.members.firstIndex) {
        next = album.members[index...].first { !placed.contains($0) }
      }
      album.members.removeAll(where: placed.contains)
      let index = next.flatMap(album.members.firstIndex) ?? album.members.count
      album.members.insert(contentsOf: placed, at: index)
    }
    album.keyAsset = edit.keyAssetID ?? album.keyAsset
    albums[id] = album
  }

  // MARK: - Smart albums

  /// The queries of smart albums that the model knows, with their conditions.
  static let queries: [(query: SmartAlbumQuery, isIn: @Sendable (Values) -> Bool)] = [
    (SmartAlbumQuery(predicate: "isFavorite == TRUE"), { $0.isFavorite }),
    (SmartAlbumQuery(predicate: "rating >= 3"), { ($0.rating ?? -1) >= 3 }),
    (SmartAlbumQuery(predicate: "ANY keywords == 'k1'"), { $0.keywords.contains("k1") }),
    (SmartAlbumQuery(predicate: "location == nil"), { $0.location == nil }),
    (SmartAlbumQuery(predicate: "title == nil"), { $0.title == nil }),
    (SmartAlbumQuery(text: "harbour"), { $0.caption == "Harbour" }),
    (
      SmartAlbumQuery(predicate: "isHidden == FALSE", text: "harbour", sortDescriptors: newest),
      { $0.caption == "Harbour" && !$0.isHidden }
    ),
    (
      SmartAlbumQuery(predicate: "rating >= 2", sortDescriptors: newest, fetchLimit: 5),
      { ($0.rating ?? -1) >= 2 }
    ),
  ]
  private static let newest = [SortDescriptor(key: "id", ascending: false)]

  /// The assets of a smart album, including hidden ones. In its own order, if it has one.
  func members(of query: SmartAlbumQuery) -> [AssetID] {
    let known = Self.queries.first { $0.query == query }
    let ids = assets.filter { known?.isIn($0.value) ?? false }.keys.sorted(by: >)
    return Array(ids.prefix(query.fetchLimit ?? ids.count))
  }
}
