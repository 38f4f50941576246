import PhotoModel

extension Asset: Listed {
  static let columns = [
    Column(title: "ID", isNumber: true, minimumWidth: 4), Column(title: "TAKEN", minimumWidth: 17),
    Column(title: "TYPE", minimumWidth: 5), Column(title: "PIXELS", isNumber: true, minimumWidth: 9),
    Column(title: "♥"), Column(title: "PATH", isPath: true),
  ]

  static let fields: [Field<Asset>] = [
    Field("id", integer: { $0.id.rawValue }), Field("mediaType", text: { $0.mediaType.rawValue }),
    Field("mediaSubtypes") { .list($0.mediaSubtypes) },
    Field("creationDate", date: { $0.creationDate }),
    Field("creationDateSource", text: { $0.creationDateSource.rawValue }),
    Field("modificationDate", instant: { $0.modificationDate }), Field("addedDate", instant: { $0.addedDate }),
    Field("pixelWidth", integer: { $0.pixelWidth }), Field("pixelHeight", integer: { $0.pixelHeight }),
    Field("orientation", integer: { $0.orientation }), Field("durationSeconds", real: { $0.durationSeconds }),
    Field("title", text: { $0.title }), Field("caption", text: { $0.caption }),
    Field("keywords") { .list($0.keywords) }, Field("rating", integer: { $0.rating }),
    Field("isFavorite", boolean: { $0.isFavorite }), Field("isHidden", boolean: { $0.isHidden }),
    Field("isTrashed", boolean: { $0.isTrashed }), Field("burstIdentifier", text: { $0.burstIdentifier }),
    Field("available", boolean: { $0.available }), Field("revision", text: { $0.revision }),
    Field("camera.make", text: { $0.camera?.make }), Field("camera.model", text: { $0.camera?.model }),
    Field("camera.lens", text: { $0.camera?.lens }),
    Field("camera.exposureSeconds", real: { $0.camera?.exposureSeconds }),
    Field("camera.fNumber", real: { $0.camera?.fNumber }), Field("camera.iso", integer: { $0.camera?.iso }),
    Field("camera.focalLengthMillimeters", real: { $0.camera?.focalLengthMillimeters }),
    Field("camera.flashFired", boolean: { $0.camera?.flashFired }),
    Field("location.latitude", real: { $0.location?.latitude }),
    Field("location.longitude", real: { $0.location?.longitude }),
    Field("location.altitude", real: { $0.location?.altitude }),
    Field("filename", text: { $0.resources.first?.filename }), Field("path", text: { $0.listedPath }),
    Field("byteCount", integer: { $0.resources.first?.byteCount }),
    Field("contentType", text: { $0.resources.first?.contentType }),
  ]

  var cells: [String] {
    [
      String(id), takenText, mediaType.rawValue, Text.pixels(self) ?? "-",
      isFavorite ? "♥" : "", (listedPath ?? "-") + (available ? "" : "  (offline)"),
    ]
  }

  /// The date, followed by a mark if it is only a guess.
  private var takenText: String { Text.minute(creationDate) + (creationDateSource.isGuess ? "~" : "") }

  var listedPath: String? { resources.first?.path }
}

extension CreationDateSource {
  /// The photo's own date is unknown. This one comes from the file or its name.
  var isGuess: Bool {
    switch self {
    case .user, .metadata: false
    case .filename, .file, .unknown: true
    }
  }
}

/// An album in a list.
struct ListedAlbum: Sendable {
  let album: AssetCollection
  /// For a folder, the number of assets in it and in all folders below it. For any other album, its own number.
  let totalCount: Int
  /// The path of a folder, or the title, with the place of the album in the folders of albums.
  let name: String

  /// - Parameter folders: all folder albums and folders of albums; by default those among the albums.
  static func list(_ albums: [AssetCollection], folders: [AssetCollection]? = nil) -> [ListedAlbum] {
    // A path that is not UTF-8 is a URI, also below a folder whose path is UTF-8. So the bytes are compared.
    var totals: [[UInt8]: Int] = [:]
    for folder in folders ?? albums where folder.count > 0 {
      guard let path = folder.path else { continue }
      var place = FilePath.bytes(path)
      while true {
        totals[place, default: 0] += folder.count
        guard place.count > 1, let slash = place.lastIndex(of: UInt8(ascii: "/")) else { break }
        place = slash == 0 ? [UInt8(ascii: "/")] : Array(place[..<slash])
      }
    }
    let tree = AlbumTree(albums, folders: folders ?? [])
    return albums.map { album in
      ListedAlbum(
        album: album, totalCount: album.path.map { totals[FilePath.bytes($0)] ?? 0 } ?? album.count,
        name: album.path ?? tree.name(of: album))
    }
  }
}

/// The tree of albums and folders of albums in a list, in which each folder comes before all that is in it.
private struct AlbumTree {
  private let albums: [CollectionID: AssetCollection]
  private let folders: [CollectionID: AssetCollection]
  /// The last album of each folder in the list.
  private let lastIDs: [CollectionID: CollectionID]

  /// - Parameter folders: the folders that are not in the list.
  init(_ albums: [AssetCollection], folders: [AssetCollection]) {
    self.albums = Dictionary(albums.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.folders = Dictionary(folders.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    lastIDs = Dictionary(
      albums.compactMap { album in album.parentID.map { ($0, album.id) } }, uniquingKeysWith: { _, last in last })
  }

  /// `│  └─ Rome`, the title after the lines of the tree. If the list lacks the folder of the album, the result is a path
  /// such as `Trips/2023/Rome`.
  func name(of album: AssetCollection) -> String {
    var lines = ""
    var current = album
    // The depth is limited, so that a wrong reply can't cause an endless loop.
    for depth in 0..<AssetCollection.mostFolders {
      guard let parentID = current.parentID, let parent = albums[parentID] else { break }
      let isLast = lastIDs[parentID] == current.id
      lines = (depth == 0 ? (isLast ? "└─ " : "├─ ") : (isLast ? "   " : "│  ")) + lines
      current = parent
    }
    guard lines.isEmpty, let place = album.place(in: folders) else { return lines + album.title }
    return "\(place)/\(album.title)"
  }
}

extension ListedAlbum: Listed {
  /// The members of an AssetCollection, and the total.
  func encode(to encoder: any Encoder) throws {
    try album.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(totalCount, forKey: .totalCount)
  }

  private enum Key: String, CodingKey { case totalCount }

  static let columns = [
    Column(title: "ID", isNumber: true, minimumWidth: 4), Column(title: "KIND"),
    Column(title: "COUNT", isNumber: true), Column(title: "TOTAL", isNumber: true), Column(title: "FROM"),
    Column(title: "TO"), Column(title: "TITLE", isPath: true),
  ]

  static let fields: [Field<ListedAlbum>] = [
    Field("id", integer: { $0.album.id.rawValue }), Field("kind", text: { $0.album.kind.rawValue }),
    Field("subtype", text: { $0.album.subtype }),
    Field("title", text: { $0.album.title }), Field("parentID", integer: { $0.album.parentID?.rawValue }),
    Field("path", text: { $0.album.path }),
    Field("count", integer: { $0.album.count }), Field("totalCount", integer: { $0.totalCount }),
    Field("keyAssetID", integer: { $0.album.keyAssetID?.rawValue }),
    Field("startDate", date: { $0.album.startDate }), Field("endDate", date: { $0.album.endDate }),
    Field("query", text: { $0.album.query?.commandLine }), Field("problem", text: { $0.album.problem }),
  ]

  var cells: [String] {
    let kindName =
      switch album.kind {
      case .smartAlbum: "smart"
      case .album: "album"
      case .folder: "albums"
      case .folderAlbum: "folder"
      case .unknown: "unknown"
      }
    return [
      String(album.id), kindName, String(album.count), String(totalCount), album.startDate.map(Text.day) ?? "-",
      album.endDate.map(Text.day) ?? "-", name,
    ]
  }

  var listedPath: String? { album.path }
}

/// Formats values for a person.
enum Text {
  /// The date as its own clock showed it: `2024-07-21 10:00`.
  static func minute(_ date: PhotoDate) -> String { String(date.description.prefix(16)).replacing("T", with: " ") }

  static func day(_ date: PhotoDate) -> String { String(date.description.prefix(10)) }

  /// The number with at most six decimals. In degrees, the sixth is 11 cm.
  static func real(_ number: Double) -> String { roundedText(number, decimals: 6) }

  static func pixels(_ asset: Asset) -> String? {
    guard let width = asset.pixelWidth, let height = asset.pixelHeight else { return nil }
    return "\(width)×\(height)"
  }

  /// `1 photo`, `1,234 photos`.
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    counted(number, one, many)
  }

  /// The number with a comma for every thousand.
  static func grouped(_ number: Int) -> String { PhotoModel.grouped(number) }
}
