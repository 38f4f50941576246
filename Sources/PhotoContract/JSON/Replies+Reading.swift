import PhotoModel

extension AssetPage: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var token: String?
    var total: Int?
    var offset: Int?
    var assets: [Asset]?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "token": token = try reader.value()
      case "total": total = try reader.value()
      case "offset": offset = try reader.value()
      case "assets": assets = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      token: try JSONReader.required(token), total: try JSONReader.required(total),
      offset: try JSONReader.required(offset), assets: try JSONReader.required(assets))
  }
}

extension AssetIDPage: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var token: String?
    var total: Int?
    var offset: Int?
    var ids: [AssetID]?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "token": token = try reader.value()
      case "total": total = try reader.value()
      case "offset": offset = try reader.value()
      case "ids": ids = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      token: try JSONReader.required(token), total: try JSONReader.required(total),
      offset: try JSONReader.required(offset), ids: try JSONReader.required(ids))
  }
}

extension GetAssetsReply: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var token: String?
    var assets: [Asset]?
    var missing: [AssetID]?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "token": token = try reader.value()
      case "assets": assets = try reader.value()
      case "missing": missing = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      token: try JSONReader.required(token), assets: try JSONReader.required(assets),
      missing: try JSONReader.required(missing))
  }
}

extension ObserveReply: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var observation: Observation?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "observation": observation = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      observation: try JSONReader.required(observation))
  }
}
