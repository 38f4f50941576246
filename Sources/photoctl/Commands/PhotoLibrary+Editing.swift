import PhotoClient
import PhotoModel

extension PhotoLibrary {
  /// The most ids in one call, by the contract.
  private static var mostPerChange: Int { 1_000 }

  /// Changes all of these assets, or none if one is not in the library. The summary goes to standard error.
  ///
  /// - Parameters:
  ///   - printsJSON: prints the ids to standard output.
  ///   - summary: the words after the number, for one asset and for several.
  func edit(
    _ names: [NamedAsset], printsJSON: Bool, isFavorite: Bool? = nil, isHidden: Bool? = nil,
    summary: (one: String, many: String)
  ) async throws {
    let (ids, firstNames) = try await ids(of: names)
    if !ids.isEmpty {
      do {
        // Several calls are several transactions. So every asset is looked up before the first call.
        if ids.count > Self.mostPerChange {
          let known = Set(try await assets(ids).map(\.id))
          let missing = ids.filter { !known.contains($0) }
          guard missing.isEmpty else { throw PhotoLibraryError.noSuchAsset(ids: missing) }
        }
        for start in stride(from: 0, to: ids.count, by: Self.mostPerChange) {
          let part = Array(ids[start..<min(start + Self.mostPerChange, ids.count)])
          try await performChanges([
            ChangeRequest(editAsset: .init(ids: part, isFavorite: isFavorite, isHidden: isHidden))
          ])
        }
      } catch PhotoLibraryError.noSuchAsset(let missing) {
        throw Failure(noSuchAssets: missing, names: firstNames) ?? PhotoLibraryError.noSuchAsset(ids: missing)
      }
    }
    struct Changed: Encodable { let ids: [AssetID] }
    if printsJSON { try Output.put(JSONText.indented(Changed(ids: ids))) }
    Output.complain(Text.count(ids.count, summary.one, summary.many) + "\n")
  }
}
