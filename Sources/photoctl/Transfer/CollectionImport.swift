import PhotoClient
import PhotoModel
import PredicateLanguage

/// Makes the albums, smart albums and folders of an export in a library, and completes those that it has.
///
/// A collection of the library is the same as one of the export if both have the same kind, title and folder. Several
/// collections with the same title are taken in their order.
struct CollectionImport {
  private let library: PhotoLibrary
  private let isDryRun: Bool
  private var assets: [AssetID: AssetID]
  private let existing: [AssetCollection]
  private var claimed: Set<CollectionID> = []
  /// The collections of the library, by their ids in the export.
  private var places: [CollectionID: Place] = [:]
  private(set) var report = ImportReport()
  /// The photos that have left the library since they were found.
  private(set) var vanished: Set<AssetID> = []

  private enum Place: Hashable {
    case existing(CollectionID)
    /// It was made, or would be made.
    case new(CollectionID?)
    /// photod rejected it, or the folder that has it.
    case rejected

    var id: CollectionID? {
      switch self {
      case .existing(let id): id
      case .new(let id): id
      case .rejected: nil
      }
    }
  }

  /// - Parameter assets: the photos of the library, by their ids in the export.
  init(in library: PhotoLibrary, assets: [AssetID: AssetID], isDryRun: Bool) async throws {
    self.library = library
    self.assets = assets
    self.isDryRun = isDryRun
    existing = try await library.userCollections()
  }

  /// - Parameter collections: each folder before the collections in it.
  mutating func run(_ collections: [ExportedCollection]) async throws {
    for collection in collections {
      let parent = collection.parentID.flatMap { places[$0] }
      if parent == .rejected {
        // Without its folder, it would land at the top level.
        places[collection.id] = .rejected
        report.rejected.append(.init(collection, ["Its folder was not accepted."]))
      } else if let found = find(collection, in: parent) {
        claimed.insert(found.id)
        places[collection.id] = .existing(found.id)
        try await complete(found, collection)
      } else {
        places[collection.id] = try await make(collection, in: parent)
      }
    }
    try await order(collections)
  }

  private func find(_ collection: ExportedCollection, in parent: Place?) -> AssetCollection? {
    // A new folder has no collections yet.
    if let parent, case .existing = parent {} else if parent != nil { return nil }
    return existing.first {
      !claimed.contains($0.id) && ExportedCollection($0).kind == collection.kind && $0.title == collection.title
        && $0.parentID == parent?.id
    }
  }

  private mutating func make(_ collection: ExportedCollection, in parent: Place?) async throws -> Place {
    if !isDryRun {
      let parentID = parent?.id
      let request =
        switch collection.kind {
        case .folder: ChangeRequest(createFolder: .init(title: collection.title, parentID: parentID))
        case .album: ChangeRequest(createAlbum: .init(title: collection.title, parentID: parentID))
        case .smartAlbum:
          ChangeRequest(
            createSmartAlbum: .init(
              title: collection.title, collection.query ?? SmartAlbumQuery(), parentID: parentID))
        }
      let id: CollectionID?
      do {
        id = try await library.makeChanges([request]).createdCollectionIDs.first
      } catch PhotoLibraryError.changeRejected(_, let message) {
        report.rejected.append(.init(collection, [message]))
        return .rejected
      } catch PhotoLibraryError.noSuchCollection {
        report.rejected.append(.init(collection, ["Its folder was deleted during the import."]))
        return .rejected
      }
      if let id, collection.kind == .album {
        do {
          if let reason = try await fill(id, collection, chosenCover: nil).rejection {
            report.rejected.append(.init(collection, ["It was made, but its photos were not all accepted. \(reason)"]))
            return .new(id)
          }
        } catch {
          report.rejected.append(.init(collection, ["It was made, but it lacks photos."]))
          throw error
        }
      }
      noteCreated(collection)
      return .new(id)
    }
    noteCreated(collection)
    return .new(nil)
  }

  private mutating func noteCreated(_ collection: ExportedCollection) {
    let count = members(of: collection).count
    report.created.append(.init(collection, collection.kind == .album ? [Text.count(count, "photo", "photos")] : []))
  }

  /// Gives a collection of the library what it lacks.
  private mutating func complete(_ found: AssetCollection, _ collection: ExportedCollection) async throws {
    var changes: [String] = []
    switch collection.kind {
    case .folder: break
    case .album:
      let filling = try await fill(found.id, collection, chosenCover: found.chosenKeyAssetID)
      if let reason = filling.rejection {
        return report.rejected.append(.init(collection, ["Its photos were not all accepted. \(reason)"]))
      }
      changes = filling.changes
    case .smartAlbum:
      guard let query = collection.query, query != found.query else { break }
      changes.append("the query \(Printable.text(query.commandLine))")
      guard !isDryRun else { break }
      do {
        try await library.makeChanges([ChangeRequest(editSmartAlbum: .init(id: found.id, query))])
      } catch PhotoLibraryError.changeRejected(_, let message) {
        return report.rejected.append(.init(collection, [message]))
      } catch PhotoLibraryError.noSuchCollection {
        return report.rejected.append(.init(collection, [Self.deletion]))
      }
    }
    if changes.isEmpty {
      report.unchangedCollectionCount += 1
    } else {
      report.changed.append(.init(collection, changes))
    }
  }

  private func members(of collection: ExportedCollection) -> [AssetID] {
    (collection.photos ?? []).compactMap { assets[$0] }
  }

  private static let deletion = "It was deleted during the import."

  /// Gives an album the photos that it lacks, the order and the cover. Photos that have left the library meanwhile are left
  /// out.
  ///
  /// - Parameter chosenCover: the cover that the album has.
  /// - Returns: what it changes, and why photod rejected a part of it; nil if it has done all.
  private mutating func fill(
    _ album: CollectionID, _ collection: ExportedCollection, chosenCover: AssetID?
  ) async throws -> (changes: [String], rejection: String?) {
    /// The photos that the album has at first.
    var original: [AssetID]?
    while true {
      var changes: [String] = []
      do {
        let held = try await library.allIDs(FetchOptions(collection: "id:\(album)", includeHidden: true))
        let first = original ?? held
        original = first
        let wanted = members(of: collection)
        let placed = AlbumPlacement.placements(of: wanted, in: first).flatMap(\.ids)
        let added = Set(placed).subtracting(first).count
        if added > 0 { changes.append("\(Text.count(added, "photo", "photos")) more") }
        if added < placed.count { changes.append("another order") }
        var cover = collection.keyPhoto.flatMap { assets[$0] }
        if cover == chosenCover { cover = nil }
        if cover != nil { changes.append("another cover") }
        if !isDryRun { try await place(AlbumPlacement.placements(of: wanted, in: held), in: album, cover: cover) }
        return (changes, nil)
      } catch PhotoLibraryError.changeRejected(_, let message) {
        return (changes, message)
      } catch PhotoLibraryError.noSuchCollection {
        return (changes, Self.deletion)
      } catch PhotoLibraryError.noSuchAsset(let ids) {
        let missing = Set(ids).intersection(assets.values)
        guard !missing.isEmpty else { throw PhotoLibraryError.noSuchAsset(ids: ids) }
        vanished.formUnion(missing)
        assets = assets.filter { !missing.contains($0.value) }
      }
    }
  }

  private func place(_ placements: [AlbumPlacement], in album: CollectionID, cover: AssetID?) async throws {
    var batch = ChangeBatch(library)
    for placement in placements {
      for start in stride(from: 0, to: placement.ids.count, by: PhotoLibrary.mostPerChange) {
        let ids = Array(placement.ids[start..<min(start + PhotoLibrary.mostPerChange, placement.ids.count)])
        try await batch.add(
          ChangeRequest(editAlbum: .init(id: album, placeAssetIDs: ids, beforeAssetID: placement.before)),
          idCount: ids.count)
      }
    }
    if let cover { try await batch.add(ChangeRequest(editAlbum: .init(id: album, keyAssetID: cover)), idCount: 1) }
    try await batch.send()
  }

  // MARK: Order

  /// Gives the collections of each folder the order of the export. Collections in alphabetical order have not got a
  /// position from a person, so the order of the library counts.
  private mutating func order(_ collections: [ExportedCollection]) async throws {
    let present = isDryRun ? existing : try await library.userCollections()
    let positions = Dictionary(present.enumerated().map { ($1.id, $0) }) { first, _ in first }
    for (parent, children) in Dictionary(grouping: collections, by: \.parentID).sorted(by: { $0.key ?? 0 < $1.key ?? 0 }
    ) {
      let titles = children.map { Array(CaseFolding.fold($0.title).utf8) }
      guard zip(titles, titles.dropFirst()).contains(where: { $1.lexicographicallyPrecedes($0) }) else { continue }
      let children = children.filter { places[$0.id] != .rejected }
      let ids = children.compactMap { places[$0.id]?.id }
      let order = ids.compactMap { positions[$0] }
      // A new collection gets its place by its title.
      guard order.count < children.count || zip(order, order.dropFirst()).contains(where: { $0 > $1 }) else { continue }
      let folder = parent.flatMap { id in collections.first { $0.id == id } }
      guard !isDryRun else {
        report.reordered.append(folder?.title)
        continue
      }
      var batch = ChangeBatch(library)
      for (id, next) in zip(ids, ids.dropFirst()).reversed() {
        let edit = ChangeRequest.EditCollection(id: id, beforeID: next)
        try await batch.add(ChangeRequest(editCollection: edit), idCount: 0)
      }
      try await batch.send()
      report.reordered.append(folder?.title)
    }
  }
}
