import ChangeDetails

// Members are in the order in which Foundation's encoder sorts them.

extension Observation: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("changedAssets", changedAssets)
      $0.member("collectionDeleted", collectionDeleted)
      $0.member("complete", complete)
      $0.member("count", count)
      $0.member("details", details)
      $0.member("digest", digest)
      $0.member("ids", ids)
      $0.member("insertedAssets", insertedAssets)
      $0.member("offset", offset)
      $0.member("origin", origin)
      $0.member("previousToken", previousToken)
      $0.member("reload", reload?.rawValue)
      $0.member("token", token)
    }
  }
}

extension FetchResultChangeDetails: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("changedAfter", changedAfter)
      $0.member("changedBefore", changedBefore)
      $0.member("changedFields", changedFields)
      $0.member("countAfter", countAfter)
      $0.member("countBefore", countBefore)
      $0.member("deletedBefore", deletedBefore)
      $0.member("insertedAfter", insertedAfter)
      $0.member("insertedIDs", insertedIDs)
      $0.member("moves", moves)
      $0.member("removedBefore", removedBefore)
    }
  }
}

extension IndexRange: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("count", count)
      $0.member("start", start)
    }
  }
}

extension Move: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("fromBefore", fromBefore)
      $0.member("toAfter", toAfter)
    }
  }
}
