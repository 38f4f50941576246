import ChangeDetails
import PhotoModel

extension Observation: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var token: String?
    var previousToken: String?
    var count: Int?
    var digest: String?
    var origin: String?
    var offset: Int?
    var ids: [AssetID]?
    var complete: Bool?
    var reload: Reload?
    var details: FetchResultChangeDetails?
    var insertedAssets: [Asset]?
    var changedAssets: [Asset]?
    var collectionDeleted: Bool?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "token": token = try reader.value()
      case "previousToken": previousToken = try reader.optional()
      case "count": count = try reader.value()
      case "digest": digest = try reader.value()
      case "origin": origin = try reader.optional()
      case "offset": offset = try reader.optional()
      case "ids": ids = try reader.optional()
      case "complete": complete = try reader.optional()
      case "reload": reload = try reader.optional()
      case "details": details = try reader.optional()
      case "insertedAssets": insertedAssets = try reader.optional()
      case "changedAssets": changedAssets = try reader.optional()
      case "collectionDeleted": collectionDeleted = try reader.optional()
      default: try reader.skip()
      }
    }
    self.init(
      token: try JSONReader.required(token), previousToken: previousToken, count: try JSONReader.required(count),
      digest: try JSONReader.required(digest), origin: origin, offset: offset, ids: ids, complete: complete,
      reload: reload, details: details, insertedAssets: insertedAssets, changedAssets: changedAssets,
      collectionDeleted: collectionDeleted)
  }
}

extension Observation.Reload: JSONReadable {}

extension FetchResultChangeDetails: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var countBefore: Int?
    var countAfter: Int?
    var removedBefore: [IndexRange]?
    var deletedBefore: [IndexRange]?
    var insertedAfter: [IndexRange]?
    var insertedIDs: [AssetID]?
    var changedBefore: [IndexRange]?
    var changedAfter: [IndexRange]?
    var changedFields: [String]?
    var moves: [Move]?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "countBefore": countBefore = try reader.value()
      case "countAfter": countAfter = try reader.value()
      case "removedBefore": removedBefore = try reader.value()
      case "deletedBefore": deletedBefore = try reader.value()
      case "insertedAfter": insertedAfter = try reader.value()
      case "insertedIDs": insertedIDs = try reader.value()
      case "changedBefore": changedBefore = try reader.value()
      case "changedAfter": changedAfter = try reader.value()
      case "changedFields": changedFields = try reader.value()
      case "moves": moves = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      countBefore: try JSONReader.required(countBefore), countAfter: try JSONReader.required(countAfter),
      removedBefore: try JSONReader.required(removedBefore), deletedBefore: try JSONReader.required(deletedBefore),
      insertedAfter: try JSONReader.required(insertedAfter), insertedIDs: try JSONReader.required(insertedIDs),
      changedBefore: try JSONReader.required(changedBefore), changedAfter: try JSONReader.required(changedAfter),
      changedFields: try JSONReader.required(changedFields), moves: try JSONReader.required(moves))
  }
}

extension IndexRange: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var start: Int?
    var count: Int?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "start": start = try reader.value()
      case "count": count = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      start: try JSONReader.required(start), count: try JSONReader.required(count))
  }
}

extension Move: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var fromBefore: Int?
    var toAfter: Int?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "fromBefore": fromBefore = try reader.value()
      case "toAfter": toAfter = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      fromBefore: try JSONReader.required(fromBefore), toAfter: try JSONReader.required(toAfter))
  }
}
