import PhotoModel

/// The order of a list. It is total, because the id breaks every tie.
struct FetchOrder: Sendable {
  /// ` ORDER BY ...`
  let sql: String
  /// `creationDate-,id-`: each key with `+` for ascending or `-` for descending. It is a part of ``FetchPlan/key``.
  let key: String
  /// The fields that the sort keys come from. A change of any other field cannot move an asset in the list.
  let dependsOn: ChangedFields
  /// The SQL expression of the first sort key.
  let firstKey: String
  let isFirstAscending: Bool
  /// Equal to ``firstKey`` if an index has this order: the first key, then the id in the same direction. nil if no
  /// index has it, so that SQLite must sort.
  let indexedKey: String?
  /// Whether the ids ascend among rows with the same ``SortNumber`` of the first key. nil if the ids alone do not order
  /// these rows: there are further sort keys, or different texts have the same number.
  let idsAscendInTies: Bool?

  /// The keys in the order of the contract. Other modules use ``FetchPlan/sortKeys``.
  static let knownKeys = Key.allCases.map(\.rawValue)

  private enum Key: String, CaseIterable {
    case creationDate, modificationDate, addedDate, filename, byteCount, pixelWidth, pixelHeight, durationSeconds
    case rating, title, mediaType, isFavorite, albumOrder, id
  }

  /// - Parameters:
  ///   - descriptors: nil or an empty list means newest first, or an album's own order.
  ///   - isLimited: whether the fetch has a limit. If so, SQLite may follow an index in the list's order, and stop
  ///     early.
  /// - Throws: ``FetchError/unknownSortKey(key:known:)``.
  init(_ descriptors: [SortDescriptor]?, of source: FetchSource, isLimited: Bool) throws(FetchError) {
    var keys: [(key: Key, ascending: Bool)] = []
    for descriptor in descriptors ?? [] {
      guard let key = Key(rawValue: descriptor.key) else {
        // The error is sent to the client. The client's key may be very long, so only its beginning is in the error.
        throw .unknownSortKey(key: String(descriptor.key.prefix(100)), known: Self.knownKeys)
      }
      // A repeated key, or a key after the id, cannot change the order.
      guard !keys.contains(where: { $0.key == key || $0.key == .id }) else { continue }
      keys.append((key, descriptor.ascending))
    }
    if keys.isEmpty { keys = source.albumID == nil ? [(.creationDate, false)] : [(.albumOrder, true)] }
    // The ids take the direction of the last key in the request, even if that key was dropped above.
    let direction = descriptors?.last?.ascending ?? keys.last?.ascending ?? false
    if !keys.contains(where: { $0.key == .id }) { keys.append((.id, direction)) }
    // Only a user's album has an order of its own. In any other list this key is equal for all assets.
    if source.albumID == nil { keys.removeAll { $0.key == .albumOrder } }

    key = keys.map { $0.key.rawValue + ($0.ascending ? "+" : "-") }.joined(separator: ",")
    // A + before the first key prevents SQLite from reading the rows in the order of an index
    // (https://www.sqlite.org/optoverview.html#uplus). See `FetchSource.readsRows` for the reason.
    sql =
      " ORDER BY " + (source.readsRows && !isLimited ? "+" : "")
      + keys.map { Self.expression($0.key, of: source) + ($0.ascending ? "" : " DESC") }.joined(separator: ", ")
    dependsOn = keys.reduce(into: []) { $0.formUnion(Self.fields($1.key)) }
    firstKey = Self.expression(keys[0].key, of: source)
    isFirstAscending = keys[0].ascending
    let isIndexed =
      (keys[0].key == (source.albumID == nil ? .creationDate : .albumOrder)
        || keys[0].key == .addedDate && source.isWholeLibrary) && keys.count == 2 && keys[1].key == .id
    indexedKey = isIndexed && keys[0].ascending == keys[1].ascending ? firstKey : nil
    idsAscendInTies =
      switch keys[0].key {
      case .filename, .title: nil
      default: keys.count <= 2 ? keys.last?.ascending : nil
      }
  }

  /// NULL is the smallest value in SQLite, and an absent value is the smallest here.
  private static func expression(_ key: Key, of source: FetchSource) -> String {
    switch key {
    case .creationDate: "asset.creation_date"
    case .modificationDate: "asset.modification_date"
    case .addedDate: "asset.added_date"
    case .filename: "asset.name_key"
    case .byteCount: "asset.byte_count"
    case .pixelWidth: "asset.pixel_width"
    case .pixelHeight: "asset.pixel_height"
    case .durationSeconds: "asset.duration"
    case .rating: "asset.rating"
    case .title: "photod_fold(asset.title)"
    // The order is by name: audio, image, unknown, video.
    case .mediaType: "CASE asset.media_type WHEN 3 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 3 ELSE 2 END"
    case .isFavorite: "asset.is_favorite"
    case .albumOrder: "member.rank"
    case .id: source.idColumn
    }
  }

  private static func fields(_ key: Key) -> ChangedFields {
    switch key {
    case .creationDate, .pixelWidth, .pixelHeight, .durationSeconds, .rating, .title: [.content, .metadata]
    case .modificationDate, .byteCount, .mediaType: [.content, .metadata, .resources]
    case .filename: [.path, .resources]
    case .isFavorite: .favorite
    case .addedDate, .albumOrder, .id: []
    }
  }
}

extension FetchPlan {
  /// The keys for sort descriptors, in the order of the contract.
  package static let sortKeys = FetchOrder.knownKeys
}
