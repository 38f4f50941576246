import PhotoModel

// The messages of FetchUserData.

package struct FetchUserDataRequest: Codable, Sendable {
  package var ids: [AssetID]?
  package var after: AssetID?

  package init(ids: [AssetID]? = nil, after: AssetID? = nil) {
    self.ids = ids
    self.after = after
  }
}

package struct UserDataPage: Codable, Sendable {
  package var token: String
  package var assets: [UserData]
  /// The `after` of the next page; nil on the last page.
  package var next: AssetID?

  package init(token: String, assets: [UserData], next: AssetID?) {
    self.token = token
    self.assets = assets
    self.next = next
  }
}
