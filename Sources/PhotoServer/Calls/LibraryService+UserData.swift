import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// The call for the user data of assets.
extension LibraryService {
  func fetchUserData(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let parameters = try await reads.parameters(call, FetchUserDataRequest.self)
    let reply = try await reads.read(library.catalog) { reader in
      let token = try reader.token().description
      let (assets, hasMore) = try reader.userData(
        of: parameters.ids, after: parameters.after, limit: ReplyLimits.maximumPage, byteCount: ReplyLimits.maximumBytes
      )
      return try ReplyLimits.page(assets[...]) { page in
        let isLast = page.count == assets.count && !hasMore
        return UserDataPage(token: token, assets: Array(page), next: isLast ? nil : page.last?.assetID)
      }.0
    }
    try await call.reply(encoded: reply)
  }
}
