import PhotoModel

/// Formats all facts of an asset for a person, one on each line.
enum AssetText {
  static func text(_ asset: Asset) -> String {
    var lines: [(String, String)] = [("asset", String(asset.id))]
    func line(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { lines.append((name, value)) }
    }
    line("type", ([asset.mediaType.rawValue] + asset.mediaSubtypes).joined(separator: ", "))
    line("title", asset.title)
    line("caption", asset.caption)
    line("keywords", asset.keywords.joined(separator: ", "))
    line("rating", asset.rating.map { "\($0) of 5" })
    line("marked", marks(asset))
    line("taken", when(asset.creationDate) + source(asset.creationDateSource))
    line("pixels", Text.pixels(asset))
    line("orientation", asset.orientation.map(String.init))
    line("duration", asset.durationSeconds.map { "\(roundedText($0)) s" })
    if let camera = asset.camera { line("camera", self.camera(camera)) }
    line("exposure", asset.camera.map(exposure))
    if let location = asset.location {
      line(
        "place",
        "\(Text.real(location.latitude)), \(Text.real(location.longitude))"
          + (location.altitude.map { ", \(roundedText($0)) m" } ?? ""))
    }
    line("burst", asset.burstIdentifier)
    line("modified", WatchText.moment(asset.modificationDate))
    line("added", WatchText.moment(asset.addedDate))
    if !asset.available { line("offline", "its folder or drive is not available") }
    for resource in asset.resources {
      line(
        resource.kind.rawValue, "\(resource.path)  (\(resource.contentType), \(byteText(resource.byteCount)))")
    }
    let width = lines.reduce(0) { max($0, $1.0.count) }
    return lines.map { name, value in
      "\(String(repeating: " ", count: width - name.count))\(name)  \(Printable.text(value))\n"
    }.joined()
  }

  private static func marks(_ asset: Asset) -> String {
    [
      asset.isFavorite ? "♥ favorite" : nil, asset.isHidden ? "hidden" : nil, asset.isTrashed ? "trashed" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }

  /// The date to the second, as the clock at the photo's place showed it.
  private static func when(_ date: PhotoDate) -> String {
    let second = date.microseconds - ((date.microseconds % 1_000_000) + 1_000_000) % 1_000_000
    return PhotoDate(microseconds: second, offsetMinutes: date.offsetMinutes).description
      .replacing("T", with: " ").replacing("Z", with: " UTC")
  }

  private static func source(_ source: CreationDateSource) -> String {
    switch source {
    case .metadata: ""
    case .user: "  (set by you)"
    case .filename: "  (from the name of the file)"
    case .file: "  (from the time of the file)"
    case .unknown: "  (from an unknown source)"
    }
  }

  private static func camera(_ camera: Camera) -> String {
    [camera.make, camera.model, camera.lens].compactMap { $0 }.joined(separator: ", ")
  }

  /// `1/250 s, f/2.8, ISO 400, 35 mm, flash`
  private static func exposure(_ camera: Camera) -> String {
    var parts: [String] = []
    if let seconds = camera.exposureSeconds {
      parts.append(seconds > 0 && seconds < 0.3 ? "1/\(roundedText(1 / seconds)) s" : "\(roundedText(seconds)) s")
    }
    if let fNumber = camera.fNumber { parts.append("f/\(roundedText(fNumber))") }
    if let iso = camera.iso { parts.append("ISO \(iso)") }
    if let length = camera.focalLengthMillimeters { parts.append("\(roundedText(length)) mm") }
    if camera.flashFired == true { parts.append("flash") }
    return parts.joined(separator: ", ")
  }
}
