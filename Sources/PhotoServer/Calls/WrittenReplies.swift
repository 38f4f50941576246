import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// These replies are encoded while their rows are read, so that no list of all assets is in memory. The total must be
// known before that. It comes from `ListTotals`.

extension CatalogReader {
  /// The reply to Fetch with as many of these assets as fit, at least one.
  ///
  /// - Returns: the reply, and the number of ids that it covers.
  func fetchReply(_ ids: ArraySlice<AssetID>, token: String, total: Int, offset: Int) throws
    -> (encoded: VarlinkEncoded, taken: Int)
  {
    try assetsReply(ids, besides: 0) { writer, _ in
      writer.member("offset", offset)
      writer.member("token", token)
      writer.member("total", total)
    }
  }

  /// The reply to GetAssets. An id that does not occur in it did not fit.
  func getAssetsReply(_ ids: [AssetID]) throws -> VarlinkEncoded {
    let token = try token().description
    return try assetsReply(ids[...], besides: ids.count * ReplyLimits.bytesPerID) { writer, missing in
      writer.member("missing", missing)
      writer.member("token", token)
    }.encoded
  }

  /// - Parameters:
  ///   - byteCount: an upper bound of the size of the other members. 512 bytes more are reserved for their names, and
  ///     for the token and numbers.
  ///   - others: writes the members after `assets`. It receives the ids without an asset.
  private func assetsReply(
    _ ids: ArraySlice<AssetID>, besides byteCount: Int, _ others: (inout JSONWriter, [AssetID]) -> Void
  ) throws -> (encoded: VarlinkEncoded, taken: Int) {
    let room = ReplyLimits.maximumBytes - byteCount - 512
    var writer = JSONWriter(capacity: min(ReplyLimits.maximumBytes, byteCount + (1 + ids.count) * 1024))
    var taken = 0
    try writer.object { writer in
      var missing: [AssetID] = []
      writer.name("assets")
      try writer.array { (taken, missing) = try write(ids, to: &$0, upTo: room) }
      others(&writer, missing)
    }
    return (VarlinkEncoded(writer.bytes), taken)
  }
}

extension VarlinkEncoded {
  /// A reply to FetchIDs.
  static func idPage(_ ids: [AssetID], token: String, total: Int, offset: Int) -> VarlinkEncoded {
    var writer = JSONWriter(capacity: 512 + ids.count * ReplyLimits.bytesPerID)
    writer.object {
      $0.member("ids", ids)
      $0.member("offset", offset)
      $0.member("token", token)
      $0.member("total", total)
    }
    return VarlinkEncoded(writer.bytes)
  }
}
