import PhotoModel
import PhotoTestSupport
import TestFetches

@testable import PhotoCatalog

/// Assets whose fields are sometimes absent, equal to another asset's or unusual. The same seed gives the same assets.
struct RandomLibrary {
  static let count = 240

  let fixture: CatalogFixture
  /// The assets as the catalog returns them, by id.
  let assets: [Asset]
  /// A user's album of some assets, in an order of its own.
  let albumID: CollectionID
  let albumOrder: [AssetID]

  init(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try CatalogFixture()
    let photos = try fixture.addRoot("/photos")
    let drive = try fixture.addRoot("/Drive/é", isAvailable: false)
    let slash = try fixture.addRoot("/")
    let a = try fixture.addDirectory("a", in: photos)
    let directories = [
      photos, drive, slash, a, try fixture.addDirectory("a' OR 1=1 --", in: a),
      try fixture.addDirectory([0x62, 0xff], in: drive),
    ]
    var rows: [(asset: Asset, directory: DirectoryID, name: [UInt8], failure: String?)] = []
    for id in AssetID(1)...AssetID(Self.count) {
      let name = Self.names.randomElement(using: &random) ?? []
      var asset = Asset.random(id, using: &random)
      asset.resources = [
        Resource(
          kind: .photo, path: "", filename: "", byteCount: .random(in: 0...5, using: &random),
          contentType: ["image/jpeg", "video/mp4"].randomElement(using: &random) ?? "")
      ]
      rows.append((asset, directories.randomElement(using: &random) ?? a, name + Array("\(id.rawValue / 2)".utf8), nil))
    }
    // A directory has each name once. If a name comes twice, the later file gets another one.
    var taken: Set<[UInt8]> = []
    for index in rows.indices {
      while !taken.insert(Array("\(rows[index].directory)/".utf8) + rows[index].name).inserted {
        rows[index].name.append(UInt8(ascii: "x"))
      }
    }
    try fixture.insert(rows)
    albumOrder = Array((1...AssetID(Self.count)).shuffled(using: &random).prefix(90))
    albumID = try fixture.addAlbum("Album", albumOrder)
    self.fixture = fixture
    assets = try fixture.catalog.read { try $0.assets(Array(1...AssetID(Self.count))).assets }
  }

  private static let names: [[UInt8]] = [
    Array("IMG_".utf8), Array("img_".utf8), Array("Été".utf8), Array("E\u{301}te\u{301}".utf8), [0xff, 0x41], [0x80],
    Array("%FFA".utf8), Array("日本".utf8), Array("🦊".utf8), Array("'; DROP TABLE asset; --".utf8),
  ]
  static let texts = PredicateSamples.texts
}

extension Asset {
  fileprivate static func random(_ id: AssetID, using random: inout SeededGenerator) -> Asset {
    func sometimes<Value>(_ value: Value) -> Value? { Int.random(in: 0..<3, using: &random) == 0 ? nil : value }
    func text() -> String? { sometimes(RandomLibrary.texts.randomElement(using: &random) ?? "") }
    func small() -> Int? { sometimes(.random(in: -1...4, using: &random)) }
    func real() -> Double? { sometimes([-0.5, 0, 0.1, 1, 2, 2.5, 0x1p53].randomElement(using: &random) ?? 0) }
    func date() -> PhotoDate {
      PhotoDate(microseconds: .random(in: -2...6, using: &random) * 3_600_000_000)
    }
    let offset = ([nil, 0, 120, -330, 1439, -1439] as [Int?]).randomElement(using: &random) ?? nil
    var asset = Asset(
      id: id, mediaType: MediaType.allCases.randomElement(using: &random) ?? .image,
      creationDate: PhotoDate(microseconds: date().microseconds, offsetMinutes: offset),
      creationDateSource: CreationDateSource.allCases.randomElement(using: &random) ?? .file,
      modificationDate: date(), addedDate: date())
    (asset.pixelWidth, asset.pixelHeight, asset.orientation, asset.rating) = (small(), small(), small(), small())
    asset.durationSeconds = real()
    let latitudes: [Double?] = [nil, real(), real(), 89.95, -89.99]
    if let latitude = latitudes.randomElement(using: &random) ?? nil {
      let longitude: Double = [1, 179.95, -179.95, 0, -100].randomElement(using: &random) ?? 0
      asset.location = Location(latitude: latitude, longitude: longitude, altitude: real())
    }
    asset.mediaSubtypes = MediaSubtypes.each.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.flatMap(\.names)
    let camera = Camera(
      make: text(), model: text(), lens: text(), exposureSeconds: real(), fNumber: real(), iso: small(),
      focalLengthMillimeters: real(), flashFired: sometimes(Bool.random(using: &random)))
    asset.camera = camera.isEmpty ? nil : camera
    (asset.title, asset.caption, asset.burstIdentifier) = (text(), text(), text())
    asset.isFavorite = Bool.random(using: &random)
    asset.isHidden = Int.random(in: 0..<6, using: &random) == 0
    asset.isTrashed = Int.random(in: 0..<6, using: &random) == 0
    return asset
  }
}
