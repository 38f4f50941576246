import PhotoContract
import PhotoModel

extension PhotoLibrary {
  /// The user data of assets, in ascending order of their ids: the edits, and whether they are favorites or hidden.
  ///
  /// Many assets take several calls, between which the library may change.
  ///
  /// - Parameter ids: these assets, also those without user data; by default all that have some. Ids without an asset
  ///   are left out.
  /// - Complexity: O(n log n) for n ids.
  public func userData(of ids: [AssetID]? = nil) async throws -> [UserData] {
    guard let ids else { return try await pages(of: nil) }
    var found: [UserData] = []
    var rest = Array(Set(ids)).sorted()[...]
    while !rest.isEmpty {
      found += try await pages(of: Array(rest.prefix(RequestLimits.maximumIDs)))
      rest = rest.dropFirst(RequestLimits.maximumIDs)
    }
    return found
  }

  private func pages(of ids: [AssetID]?) async throws -> [UserData] {
    var found: [UserData] = []
    var after: AssetID?
    repeat {
      let page = try await call(
        "FetchUserData", FetchUserDataRequest(ids: ids, after: after), returning: UserDataPage.self)
      if let next = page.next, next <= after ?? 0 {
        throw PhotoLibraryError.malformedReply("FetchUserData continues at \(next), which is not after the last page")
      }
      found += page.assets
      after = page.next
    } while after != nil
    return found
  }
}
