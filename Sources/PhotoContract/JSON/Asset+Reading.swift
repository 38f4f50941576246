import PhotoModel

extension Asset: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var id: AssetID?
    var mediaType: MediaType?
    var mediaSubtypes: [String]?
    var creationDate: PhotoDate?
    var creationDateSource: CreationDateSource?
    var modificationDate: PhotoDate?
    var addedDate: PhotoDate?
    var pixelWidth: Int?
    var pixelHeight: Int?
    var orientation: Int?
    var durationSeconds: Double?
    var location: Location?
    var camera: Camera?
    var title: String?
    var caption: String?
    var keywords: [String]?
    var rating: Int?
    var isFavorite: Bool?
    var isHidden: Bool?
    var isTrashed: Bool?
    var burstIdentifier: String?
    var available: Bool?
    var revision: String?
    var resources: [Resource]?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "id": id = try reader.value()
      case "mediaType": mediaType = try reader.value()
      case "mediaSubtypes": mediaSubtypes = try reader.value()
      case "creationDate": creationDate = try reader.value()
      case "creationDateSource": creationDateSource = try reader.value()
      case "modificationDate": modificationDate = try reader.value()
      case "addedDate": addedDate = try reader.value()
      case "pixelWidth": pixelWidth = try reader.optional()
      case "pixelHeight": pixelHeight = try reader.optional()
      case "orientation": orientation = try reader.optional()
      case "durationSeconds": durationSeconds = try reader.optional()
      case "location": location = try reader.optional()
      case "camera": camera = try reader.optional()
      case "title": title = try reader.optional()
      case "caption": caption = try reader.optional()
      case "keywords": keywords = try reader.value()
      case "rating": rating = try reader.optional()
      case "isFavorite": isFavorite = try reader.value()
      case "isHidden": isHidden = try reader.value()
      case "isTrashed": isTrashed = try reader.value()
      case "burstIdentifier": burstIdentifier = try reader.optional()
      case "available": available = try reader.value()
      case "revision": revision = try reader.value()
      case "resources": resources = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      id: try JSONReader.required(id), mediaType: try JSONReader.required(mediaType),
      mediaSubtypes: try JSONReader.required(mediaSubtypes), creationDate: try JSONReader.required(creationDate),
      creationDateSource: try JSONReader.required(creationDateSource),
      modificationDate: try JSONReader.required(modificationDate), addedDate: try JSONReader.required(addedDate),
      pixelWidth: pixelWidth, pixelHeight: pixelHeight, orientation: orientation, durationSeconds: durationSeconds,
      location: location, camera: camera, title: title, caption: caption, keywords: try JSONReader.required(keywords),
      rating: rating, isFavorite: try JSONReader.required(isFavorite), isHidden: try JSONReader.required(isHidden),
      isTrashed: try JSONReader.required(isTrashed), burstIdentifier: burstIdentifier,
      available: try JSONReader.required(available), revision: try JSONReader.required(revision),
      resources: try JSONReader.required(resources))
  }
}

extension Location: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var latitude: Double?
    var longitude: Double?
    var altitude: Double?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "latitude": latitude = try reader.value()
      case "longitude": longitude = try reader.value()
      case "altitude": altitude = try reader.optional()
      default: try reader.skip()
      }
    }
    self.init(
      latitude: try JSONReader.required(latitude), longitude: try JSONReader.required(longitude), altitude: altitude)
  }
}

extension Camera: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var make: String?
    var model: String?
    var lens: String?
    var exposureSeconds: Double?
    var fNumber: Double?
    var iso: Int?
    var focalLengthMillimeters: Double?
    var flashFired: Bool?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "make": make = try reader.optional()
      case "model": model = try reader.optional()
      case "lens": lens = try reader.optional()
      case "exposureSeconds": exposureSeconds = try reader.optional()
      case "fNumber": fNumber = try reader.optional()
      case "iso": iso = try reader.optional()
      case "focalLengthMillimeters": focalLengthMillimeters = try reader.optional()
      case "flashFired": flashFired = try reader.optional()
      default: try reader.skip()
      }
    }
    self.init(
      make: make, model: model, lens: lens, exposureSeconds: exposureSeconds, fNumber: fNumber, iso: iso,
      focalLengthMillimeters: focalLengthMillimeters, flashFired: flashFired)
  }
}

extension Resource: JSONReadable {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    var kind: Kind?
    var path: String?
    var filename: String?
    var byteCount: Int64?
    var contentType: String?
    try reader.object { reader, name throws(JSONReader.Unexpected) in
      switch name {
      case "kind": kind = try reader.value()
      case "path": path = try reader.value()
      case "filename": filename = try reader.value()
      case "byteCount": byteCount = try reader.value()
      case "contentType": contentType = try reader.value()
      default: try reader.skip()
      }
    }
    self.init(
      kind: try JSONReader.required(kind), path: try JSONReader.required(path),
      filename: try JSONReader.required(filename), byteCount: try JSONReader.required(byteCount),
      contentType: try JSONReader.required(contentType))
  }
}

extension OpenEnum {
  package init(from reader: inout JSONReader) throws(JSONReader.Unexpected) {
    self = Self(rawValue: try reader.string()) ?? .unknown
  }
}

extension MediaType: JSONReadable {}
extension CreationDateSource: JSONReadable {}
extension Resource.Kind: JSONReadable {}
