import PhotoModel

// Members are in the order in which Foundation's encoder sorts them.

extension Asset: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("addedDate", addedDate)
      $0.member("available", available)
      $0.member("burstIdentifier", burstIdentifier)
      $0.member("camera", camera)
      $0.member("caption", caption)
      $0.member("creationDate", creationDate)
      $0.member("creationDateSource", creationDateSource.rawValue)
      $0.member("durationSeconds", durationSeconds)
      $0.member("id", id)
      $0.member("isFavorite", isFavorite)
      $0.member("isHidden", isHidden)
      $0.member("isTrashed", isTrashed)
      $0.member("keywords", keywords)
      $0.member("location", location)
      $0.member("mediaSubtypes", mediaSubtypes)
      $0.member("mediaType", mediaType.rawValue)
      $0.member("modificationDate", modificationDate)
      $0.member("orientation", orientation)
      $0.member("pixelHeight", pixelHeight)
      $0.member("pixelWidth", pixelWidth)
      $0.member("rating", rating)
      $0.member("resources", resources)
      $0.member("revision", revision)
      $0.member("title", title)
    }
  }
}

extension Location: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("altitude", altitude)
      $0.member("latitude", latitude)
      $0.member("longitude", longitude)
    }
  }
}

extension Camera: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("exposureSeconds", exposureSeconds)
      $0.member("fNumber", fNumber)
      $0.member("flashFired", flashFired)
      $0.member("focalLengthMillimeters", focalLengthMillimeters)
      $0.member("iso", iso)
      $0.member("lens", lens)
      $0.member("make", make)
      $0.member("model", model)
    }
  }
}

extension Resource: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("byteCount", byteCount)
      $0.member("contentType", contentType)
      $0.member("filename", filename)
      $0.member("kind", kind.rawValue)
      $0.member("path", path)
    }
  }
}
