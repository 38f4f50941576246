import PhotoContract
import PhotoIndexer
import PhotoModel

// The requests of PerformChanges as changes of the library. Every rule that does not need the library is checked here.

extension LibraryChange {
  /// - Parameter index: the position of the request in its call, for the message.
  /// - Throws: ``LibraryError`` `changeRejected`.
  init(_ request: ChangeRequest, index: Int) throws {
    self = try RequestParser(index: index).change(request)
  }
}

private struct RequestParser {
  let index: Int

  private func rejected(_ message: String) -> LibraryError {
    .changeRejected(requestIndex: index, message: message)
  }

  func change(_ request: ChangeRequest) throws -> LibraryChange {
    let fields: [(name: String, isSet: Bool)] = [
      ("editAsset", request.editAsset != nil), ("trashAssets", request.trashAssets != nil),
      ("restoreAssets", request.restoreAssets != nil), ("createAlbum", request.createAlbum != nil),
      ("createFolder", request.createFolder != nil), ("createSmartAlbum", request.createSmartAlbum != nil),
      ("editAlbum", request.editAlbum != nil), ("editSmartAlbum", request.editSmartAlbum != nil),
      ("editCollection", request.editCollection != nil), ("deleteAlbum", request.deleteAlbum != nil),
    ]
    let set = fields.filter(\.isSet).map(\.name)
    guard set.count == 1 else {
      let found = set.isEmpty ? "It has none" : "It has \(set.joined(separator: ", "))"
      throw rejected("\(found) of \(fields.map(\.name).joined(separator: ", ")). Exactly one is needed.")
    }
    if let edit = request.editAsset { return .editAssets(edit.ids, try assetEdit(edit)) }
    if let album = request.createAlbum {
      return .createAlbum(
        title: try title(album.title), assets: album.assetIDs ?? [], parent: try folder(album.parentID))
    }
    if let album = request.createFolder {
      return .createFolder(title: try title(album.title), parent: try folder(album.parentID))
    }
    if let album = request.createSmartAlbum {
      return .createSmartAlbum(
        title: try title(album.title),
        try query(album.predicate, album.text, album.sortDescriptors, album.fetchLimit),
        parent: try folder(album.parentID))
    }
    if let album = request.editAlbum { return .editAlbum(album.id, try albumEdit(album)) }
    if let album = request.editSmartAlbum {
      return .editSmartAlbum(
        album.id, try query(album.predicate, album.text, album.sortDescriptors, album.fetchLimit))
    }
    if let edit = request.editCollection { return .editCollection(edit.id, try collectionEdit(edit)) }
    if let id = request.deleteAlbum { return .deleteCollection(id) }
    throw LibraryError.notImplemented("PerformChanges: the trash")
  }

  // MARK: - Assets

  private func assetEdit(_ request: ChangeRequest.EditAsset) throws -> AssetEdit {
    var edit = AssetEdit(isFavorite: request.isFavorite, isHidden: request.isHidden)
    if let rating = request.rating {
      guard (0...5).contains(rating) else { throw rejected("rating is \(rating). Give a number from 0 to 5.") }
      edit.rating = rating
    }
    edit.title = try request.title.map { try line($0, "title") }
    edit.caption = request.caption
    edit.addedKeywords = try keywords(request.addKeywords, "addKeywords")
    edit.removedKeywords = try keywords(request.removeKeywords, "removeKeywords")
    if let both = edit.addedKeywords.first(where: edit.removedKeywords.contains) {
      throw rejected("The keyword '\(both)' is both added and removed.")
    }
    edit.creationDate = try dateEdit(request)
    edit.location = try locationEdit(request)
    edit.cleared = try cleared(request)
    guard edit != AssetEdit() else {
      throw rejected("editAsset changes nothing. Give a field, such as isFavorite or title.")
    }
    return edit
  }

  private func keywords(_ keywords: [String]?, _ field: String) throws -> [String] {
    try (keywords ?? []).map { keyword in
      guard !keyword.allSatisfy(\.isWhitespace) else { throw rejected("\(field) has an empty keyword.") }
      return try line(keyword, field)
    }
  }

  private func dateEdit(_ request: ChangeRequest.EditAsset) throws -> CreationDateEdit? {
    guard request.creationDate == nil || request.shiftCreationDate == nil else {
      throw rejected("creationDate and shiftCreationDate can't both be set.")
    }
    if let text = request.creationDate {
      guard let date = PhotoDate(text) else {
        throw rejected(
          "creationDate is '\(text)', which is no date. Give RFC 3339, such as 2024-07-21T10:00:00, with or without an offset such as +02:00."
        )
      }
      return .set(date)
    }
    return try request.shiftCreationDate.map { seconds in
      guard seconds.isFinite else { throw rejected("shiftCreationDate is no number of seconds.") }
      return .shift(seconds: seconds)
    }
  }

  private func locationEdit(_ request: ChangeRequest.EditAsset) throws -> LocationEdit? {
    let removes = request.removeLocation ?? false
    guard let location = request.location else { return removes ? .remove : nil }
    guard !removes else { throw rejected("location and removeLocation can't both be set.") }
    guard abs(location.latitude) <= 90, abs(location.longitude) <= 180, location.altitude?.isFinite ?? true else {
      throw rejected(
        "location is \(location.latitude), \(location.longitude). A latitude is -90...90 and a longitude -180...180 degrees."
      )
    }
    return .set(location)
  }

  private func cleared(_ request: ChangeRequest.EditAsset) throws -> Set<ClearableField> {
    var fields: Set<ClearableField> = []
    for name in request.clear ?? [] {
      guard let field = ClearableField(rawValue: name) else {
        let known = ClearableField.allCases.map(\.rawValue).joined(separator: ", ")
        throw rejected("clear has '\(name)', which is no field. The fields are \(known).")
      }
      let isSet =
        switch field {
        case .isFavorite: request.isFavorite != nil
        case .isHidden: request.isHidden != nil
        case .rating: request.rating != nil
        case .title: request.title != nil
        case .caption: request.caption != nil
        case .keywords: request.addKeywords != nil || request.removeKeywords != nil
        case .creationDate: request.creationDate != nil || request.shiftCreationDate != nil
        case .location: request.location != nil || request.removeLocation != nil
        }
      guard !isSet else { throw rejected("\(name) can't be both set and cleared.") }
      fields.insert(field)
    }
    return fields
  }

  // MARK: - Collections

  private func albumEdit(_ request: ChangeRequest.EditAlbum) throws -> AlbumEdit {
    var edit = AlbumEdit()
    edit.title = try request.title.map(title)
    edit.placed = request.placeAssetIDs ?? []
    edit.removed = request.removeAssetIDs ?? []
    edit.before = request.beforeAssetID
    edit.keyAsset = request.keyAssetID
    let placed = Set(edit.placed)
    if let both = edit.removed.first(where: placed.contains) {
      throw rejected("The photo \(both) is both placed and removed.")
    }
    if let before = edit.before {
      guard !placed.isEmpty else { throw rejected("beforeAssetID needs placeAssetIDs.") }
      guard !edit.removed.contains(before) else {
        throw rejected("The photo \(before) is removed, so nothing can be placed before it.")
      }
    }
    guard edit != AlbumEdit() else { throw rejected("editAlbum changes nothing. Give a field, such as placeAssetIDs.") }
    return edit
  }

  private func collectionEdit(_ request: ChangeRequest.EditCollection) throws -> CollectionEdit {
    var edit = CollectionEdit()
    edit.title = try request.title.map(title)
    guard request.beforeID != request.id || request.beforeID == nil else {
      throw rejected("The collection \(request.id) can't be placed before itself.")
    }
    if request.parentID != nil || request.beforeID != nil {
      edit.place = CollectionPlacement(
        parent: request.parentID.map { parent in parent == 0 ? .top : .folder(parent) } ?? .same,
        position: request.beforeID.flatMap { $0 == 0 ? nil : .before($0) } ?? .end)
    }
    guard edit != CollectionEdit() else {
      throw rejected("editCollection changes nothing. Give title, parentID or beforeID.")
    }
    return edit
  }

  private func query(
    _ predicate: String?, _ text: String?, _ sortDescriptors: [SortDescriptor]?, _ fetchLimit: Int?
  ) throws -> SmartAlbumQuery {
    guard predicate != nil || text != nil else { throw rejected("A smart album needs a predicate or a text.") }
    if let fetchLimit, fetchLimit <= 0 { throw rejected("fetchLimit is \(fetchLimit). Give a number above 0.") }
    return SmartAlbumQuery(
      predicate: predicate, text: text, sortDescriptors: sortDescriptors ?? [], fetchLimit: fetchLimit)
  }

  private func folder(_ id: CollectionID?) throws -> CollectionID? { id == 0 ? nil : id }

  private func title(_ text: String) throws -> String {
    guard !text.allSatisfy(\.isWhitespace) else { throw rejected("The title is empty.") }
    return try line(text, "title")
  }

  /// A text without control characters, which would end a line of a program's output.
  private func line(_ text: String, _ field: String) throws -> String {
    guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw rejected("\(field) has a control character, such as a newline. Leave it out.")
    }
    return text
  }
}
