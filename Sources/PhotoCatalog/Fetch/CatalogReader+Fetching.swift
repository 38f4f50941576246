import GRDB
import PhotoModel
import PredicateLanguage

extension FetchOptions {
  /// Whether the fetch asks for the first assets of a smart album in the album's own order. Its limit is then the limit
  /// of the list.
  fileprivate var isPrefixOfAlbum: Bool {
    predicate == nil && text == nil && mediaTypes == nil && excludeUnavailable != true
      && (sortDescriptors ?? []).isEmpty
  }
}

extension TextQuery {
  /// - Throws: ``FetchError/invalidText(message:position:)``.
  init(fetching text: String) throws(FetchError) {
    do { self = try TextQuery(text) } catch {
      throw FetchError.invalidText(message: error.message, position: error.position)
    }
  }
}

extension CatalogReader {
  /// The sequence of the newest commit, even if the history no longer contains it. 0 if there was none.
  package func sequence() throws -> Int64 {
    let statement = try RawStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'history'")
    return try statement.firstRow { statement.int64(0) } ?? 0
  }

  package func token() throws -> ChangeToken { catalog.token(try sequence()) }

  /// Resolves the options: looks up the collection, compiles the predicate, and sets the defaults.
  ///
  /// - Throws: ``FetchError``.
  package func plan(_ options: FetchOptions) throws -> FetchPlan {
    try Self.plan(options, of: options.collection.map(resolveCollection))
  }

  /// The plan of the same fetch in this snapshot. It differs only if a person's smart album has another query or was
  /// deleted, or if a deleted collection is back.
  package func current(_ plan: FetchPlan) throws -> FetchPlan {
    guard let followed = plan.followed else { return plan }
    return try Self.plan(followed.options, of: collectionRow(id: followed.id) ?? .deleted(followed.id))
  }

  /// Resolves the options, also if the collection was deleted, for a client that continues to observe it. An id that no
  /// collection ever had is an error.
  ///
  /// - Throws: ``FetchError``. A deleted collection has no title, so it can only be named by its id.
  package func planOfResumption(_ options: FetchOptions) throws -> FetchPlan {
    do {
      return try plan(options)
    } catch FetchError.noSuchCollection(let collection, let similar) {
      guard let id = Self.collectionID(in: collection), try wasAssigned(id) else {
        throw FetchError.noSuchCollection(collection: collection, similar: similar)
      }
      return try Self.plan(options, of: .deleted(id))
    }
  }

  /// Whether a collection may have had this id. An id that was only reserved counts, too.
  private func wasAssigned(_ id: CollectionID) throws -> Bool {
    let statement = try RawStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'collection'")
    let last = try statement.firstRow { statement.collectionID(0) } ?? 0
    return id > 0 && id <= last
  }

  /// Whether there is such a collection in this snapshot.
  package func hasCollection(_ id: CollectionID) throws -> Bool { try collectionRow(id: id) != nil }

  private static func plan(_ options: FetchOptions, of collection: CollectionRow?) throws -> FetchPlan {
    var source = FetchSource()
    var dependsOn: ChangedFields = []
    var collectionKey = ""
    var album: CollectionList?
    var showsHidden = options.includeHidden == true
    if let collection {
      var list = CollectionList(collection)
      showsHidden = showsHidden || list.showsHidden
      if !options.isPrefixOfAlbum {
        try list.restrictToWindow(hidden: showsHidden, trashed: options.includeTrashed == true)
      }
      source = list.source
      dependsOn.formUnion(list.dependsOn)
      // Recents is the same list as without a collection.
      if collection.smartAlbum != .recents { collectionKey = collection.id.description + list.queryKey }
      album = list
    }
    if !showsHidden {
      source.conditions.append(FetchSource.unhidden)
      source.requirements.hidden = false
      dependsOn.insert(.hidden)
    }
    if options.includeTrashed != true {
      source.conditions.append(FetchSource.untrashed)
      source.requirements.untrashed = true
      dependsOn.insert(.trashed)
    }
    if options.excludeUnavailable == true {
      source.usesOffline = true
      source.conditions.append(SQLCondition(sql: "asset.directory_id NOT IN offline"))
      dependsOn.formUnion([.availability, .path])
    }
    let mediaTypes = try mediaTypes(options.mediaTypes)
    if let mediaTypes {
      let codes = mediaTypes.map { String($0.code) }.joined(separator: ", ")
      let isOne = mediaTypes.count == 1  // the form of the videos' index
      source.conditions.append(SQLCondition(sql: "asset.media_type " + (isOne ? "= \(codes)" : "IN (\(codes))")))
      source.requirements.require(mediaTypes: mediaTypes.map(\.code))
      dependsOn.formUnion([.content, .metadata, .resources])
    }
    var predicateKey = ""
    if let text = options.predicate {
      let compiled = try PredicateCompiler.compile(text)
      predicateKey = compiled.key
      source.add(compiled)
      dependsOn.formUnion(compiled.dependsOn)
    }
    var textKey: String?
    if let text = options.text {
      let query = try TextQuery(fetching: text)
      source.add(query)
      dependsOn.formUnion(TextCondition.dependsOn)
      textKey = query.description
    }
    if let limit = options.fetchLimit, limit < 1 {
      throw FetchError.invalidOption(field: "fetchLimit")
    }
    let fetchLimit = [options.fetchLimit, source.isWindow ? nil : album?.limit].compactMap(\.self).min()
      .map { min($0, maximumFetchLimit) }
    let sorting = options.sortDescriptors ?? []
    let order = try FetchOrder(sorting.isEmpty ? album?.order : sorting, of: source, isLimited: fetchLimit != nil)
    var key = "collection=\(collectionKey);sort=\(order.key)"
    if options.includeHidden == true { key += ";hidden" }
    if options.includeTrashed == true { key += ";trashed" }
    if options.excludeUnavailable == true { key += ";available" }
    if let mediaTypes { key += ";types=" + mediaTypes.map(\.rawValue).joined(separator: ",") }
    if let limit = fetchLimit { key += ";limit=\(limit)" }
    // Its length precedes it, so that its content can't imitate another part.
    if let textKey { key += ";text=\(textKey.utf8.count):\(textKey)" }
    // This is the other part with arbitrary content. It comes last, for the same reason.
    key += ";where=" + predicateKey
    let isDeleted = collection?.kind == .unknown
    return FetchPlan(
      key: key, dependsOn: dependsOn.union(order.dependsOn), albumID: source.albumID, collectionID: collection?.id,
      isOfDeletedCollection: isDeleted, fetchLimit: fetchLimit,
      predicate: options.predicate.map { _ in String(predicateKey.prefix(shownPredicateLength)) }, source: source,
      order: order,
      followed: collection.flatMap {
        $0.query == nil && !isDeleted ? nil : FetchPlan.Followed(id: $0.id, options: options)
      })
  }

  /// A plan may be kept for long, and a predicate may contain thousands of ids.
  private static let shownPredicateLength = 600

  /// No list is as long. Computations with this limit do not overflow.
  private static let maximumFetchLimit = 1 << 40

  /// The types in their canonical order, each once. `nil` if all types are included.
  private static func mediaTypes(_ names: [String]?) throws -> [MediaType]? {
    guard let names else { return nil }
    let types = try names.enumerated().map { index, name in
      guard let type = MediaType(request: name) else {
        throw FetchError.invalidOption(field: "mediaTypes[\(index)]")
      }
      return type
    }
    let all = MediaType.allCases.filter(types.contains)
    return all.count == MediaType.allCases.count ? nil : all
  }

  /// The ids of the list in their order, with the limit applied.
  ///
  /// - Complexity: one pass over an index if the order is by date, or that of a user's album. With a predicate and no
  ///   limit, or in any other order, a pass over the rows and a sort: O(n log n).
  package func ids(_ plan: FetchPlan) throws -> [AssetID] {
    if let limit = plan.fetchLimit, let search = TextSearch(plan, limit: limit, database) {
      return try search.rows().rows.map(\.id)
    }
    var ids: [AssetID] = []
    let statement = try RawStatement(database, uncached: plan.idStatement)
    statement.bind(plan.arguments)
    try statement.forEachRow { ids.append(statement.assetID(0)) }
    return ids
  }

  /// The length of the list, with the limit applied.
  package func count(_ plan: FetchPlan) throws -> Int {
    let statement = try RawStatement(database, uncached: plan.countStatement)
    statement.bind(plan.arguments)
    return try statement.firstRow { Int(statement.int64(0)) } ?? 0
  }
}
