import PhotoModel

extension Asset: Listed {
  static let columns = [
    Column(title: "ID", isNumber: true, minimumWidth: 4), Column(title: "TAKEN", minimumWidth: 16),
    Column(title: "TYPE", minimumWidth: 5), Column(title: "PIXELS", isNumber: true, minimumWidth: 9),
    Column(title: "♥"), Column(title: "PATH"),
  ]

  var cells: [String] {
    [
      String(id), creationDate.map(Text.minute) ?? "-", mediaType.rawValue, Text.pixels(self) ?? "-",
      isFavorite ? "♥" : "", (listedPath ?? "-") + (available ? "" : "  (offline)"),
    ]
  }

  var listedPath: String? { resources.first?.path }
}

extension AssetCollection: Listed {
  static let columns = [
    Column(title: "ID", isNumber: true, minimumWidth: 4), Column(title: "KIND"),
    Column(title: "COUNT", isNumber: true), Column(title: "FROM"), Column(title: "TO"), Column(title: "TITLE"),
  ]

  var cells: [String] {
    let kindName =
      switch kind {
      case .smartAlbum: "smart"
      case .album: "album"
      case .folderAlbum: "folder"
      }
    return [
      String(id), kindName, String(count), startDate.map(Text.day) ?? "-", endDate.map(Text.day) ?? "-", path ?? title,
    ]
  }

  var listedPath: String? { path }
}

/// How values are written for a person.
enum Text {
  /// As its own clock showed it: `2024-07-21 10:00`.
  static func minute(_ date: PhotoDate) -> String { String(date.description.prefix(16)).replacing("T", with: " ") }

  static func day(_ date: PhotoDate) -> String { String(date.description.prefix(10)) }

  static func pixels(_ asset: Asset) -> String? {
    guard let width = asset.pixelWidth, let height = asset.pixelHeight else { return nil }
    return "\(width)×\(height)"
  }

  /// `1 photo`, `1,234 photos`.
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(grouped(number)) \(number == 1 ? one : many)"
  }

  /// With a comma at each thousand.
  static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// In the unit in which it has at most three digits: `3.4 MB`.
  static func bytes(_ count: Int64) -> String {
    var value = Double(count)
    for unit in ["bytes", "kB", "MB", "GB"] {
      if value < 1000 { return unit == "bytes" ? "\(count) bytes" : "\(rounded(value)) \(unit)" }
      value /= 1000
    }
    return "\(rounded(value)) TB"
  }

  /// With one decimal, where it says anything.
  static func rounded(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "\(value)" }
    let tenths = Int64((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
