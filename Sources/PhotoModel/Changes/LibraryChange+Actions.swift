extension LibraryChange {
  /// The actions of the change, for the list of changes that can be undone.
  package var actions: [UndoableChange.Action] {
    switch self {
    case .editAssets(_, let edit): edit.actions
    case .createAlbum: [.createAlbum]
    case .createFolder: [.createFolder]
    case .createSmartAlbum: [.createSmartAlbum]
    case .editAlbum(_, let edit):
      Self.chosen([
        (.rename, edit.title != nil), (.removeAssets, !edit.removed.isEmpty), (.addAssets, !edit.placed.isEmpty),
        (.keyAsset, edit.keyAsset != nil),
      ])
    case .editSmartAlbum: [.query]
    case .editCollection(_, let edit): Self.chosen([(.rename, edit.title != nil), (.move, edit.place != nil)])
    case .deleteCollection: [.delete]
    }
  }

  fileprivate static func chosen(_ actions: [(UndoableChange.Action, isDone: Bool)]) -> [UndoableChange.Action] {
    actions.filter(\.isDone).map(\.0)
  }
}

extension AssetEdit {
  fileprivate var actions: [UndoableChange.Action] {
    LibraryChange.chosen([
      (isFavorite == true ? .favorite : .unfavorite, isFavorite != nil),
      (isHidden == true ? .hide : .unhide, isHidden != nil), (.rating, rating != nil), (.title, title != nil),
      (.caption, caption != nil), (.keywords, !addedKeywords.isEmpty || !removedKeywords.isEmpty),
      (.creationDate, creationDate != nil), (.location, location != nil), (.clear, !cleared.isEmpty),
    ])
  }
}
