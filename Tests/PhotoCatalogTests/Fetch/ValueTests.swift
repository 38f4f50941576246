import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import TestFetches
import Testing

@testable import PhotoCatalog

/// The counts of values, compared with those that the assets themselves give.
@Suite struct ValueTests {
  /// Counts are by bytes. Swift's own equality does not tell `é` from `e` with a combining accent.
  private typealias Counts = [[UInt8]: Int]

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func countsEqualThoseOfTheAssets(seed: UInt64) throws {
    let library = try PredicateLibrary(seed: seed)
    let assets = Dictionary(uniqueKeysWithValues: library.assets.map { ($0.id, $0) })
    var generator = SeededGenerator(seed: seed)
    try library.fixture.catalog.read { reader in
      for key in ValueKey.allCases {
        for _ in 0..<6 {
          var options = FetchOptions(predicate: library.randomPredicate(2, using: &generator).description)
          if .random(using: &generator) { options.predicate = nil }
          if .random(using: &generator) { options.includeHidden = true }
          if .random(using: &generator) { options.collection = "id:\(library.random.albumID)" }
          if .random(using: &generator) { options.fetchLimit = .random(in: 1...60, using: &generator) }
          let prefix = [nil, nil, "", "a", "A", "É", "1", "im"].randomElement(using: &generator) ?? nil
          let plan: FetchPlan
          // A random predicate may be too deep for SQLite.
          do { plan = try reader.plan(options) } catch FetchError.invalidPredicate { continue }
          let list = try reader.ids(plan).compactMap { assets[$0] }
          let found = try reader.values(of: key, in: plan, prefix: prefix)
          var expected: Counts = [:]
          var absent = 0
          for asset in list {
            let values = Self.values(of: key, asset, library)
            absent += values.isEmpty ? 1 : 0
            for value in values where CaseFolding.fold(value).utf8.starts(with: CaseFolding.fold(prefix ?? "").utf8) {
              expected[Array(value.utf8), default: 0] += 1
            }
          }
          let counts = Counts(uniqueKeysWithValues: found.values.map { (Array($0.text.utf8), $0.count) })
          #expect(counts == expected, "\(key) \(options) \(prefix ?? "-")")
          #expect(found.assetCount == list.count && found.absentCount == absent, "\(key) \(options)")
          for (one, next) in zip(found.values, found.values.dropFirst()) {
            #expect(
              one.count > next.count
                || (one.count == next.count && one.text.utf8.lexicographicallyPrecedes(next.text.utf8)))
          }
        }
      }
    }
  }

  private static func values(of key: ValueKey, _ asset: Asset, _ library: PredicateLibrary) -> [String] {
    func text(_ count: Int) -> [String] {
      let local = asset.creationDate.microseconds + Int64(asset.creationDate.offsetMinutes ?? 0) * 60_000_000
      return [String(PhotoDate(microseconds: local).description.prefix(count))]
    }
    func number(_ value: Double?) -> [String] {
      value.map { [Int64(exactly: $0).map(String.init) ?? "\($0)"] } ?? []
    }
    let path = FilePath.bytes(asset.resources[0].path)
    let folder = Array(path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)])
    return switch key {
    case .year: text(4)
    case .month: text(7)
    case .day: text(10)
    case .mediaType: [asset.mediaType.rawValue]
    case .mediaSubtypes: asset.mediaSubtypes
    case .creationDateSource: [asset.creationDateSource.rawValue]
    case .camera: camera(asset.camera).map { [$0] } ?? []
    case .cameraMake: asset.camera?.make.map { [$0] } ?? []
    case .cameraModel: asset.camera?.model.map { [$0] } ?? []
    case .cameraLens: asset.camera?.lens.map { [$0] } ?? []
    case .cameraISO: asset.camera?.iso.map { ["\($0)"] } ?? []
    case .cameraFNumber: number(asset.camera?.fNumber)
    case .cameraFocalLengthMillimeters: number(asset.camera?.focalLengthMillimeters)
    case .rating: asset.rating.map { ["\($0)"] } ?? []
    case .keywords: asset.keywords
    case .folder: [FilePath.text(folder.isEmpty ? [UInt8(ascii: "/")] : folder)]
    case .album:
      [folder.isEmpty ? "/" : FilePath.nameText(Array(folder.split(separator: UInt8(ascii: "/")).last ?? []))]
        + (library.random.albumOrder.contains(asset.id) ? ["Album"] : [])
    case .collection:
      ["folder:" + FilePath.text(folder.isEmpty ? [UInt8(ascii: "/")] : folder)]
        + (library.random.albumOrder.contains(asset.id) ? ["album:Album"] : [])
    case .contentType: [asset.resources[0].contentType]
    }
  }

  private static func camera(_ camera: Camera?) -> String? {
    guard let make = camera?.make, let word = make.split(separator: " ").first, let model = camera?.model,
      !model.isEmpty
    else { return camera?.model ?? camera?.make }
    return model.lowercased().utf8.starts(with: word.lowercased().utf8) ? model : "\(make) \(model)"
  }

  @Test func daysBeforeTheEpochAreCountedByTheLocalClock() throws {
    let fixture = try CatalogFixture()
    let root = try fixture.addRoot("/p")
    // A minute before 1970 in UTC, which is 1970 already in Berlin, and 1969 in New York.
    for (id, offset) in [(AssetID(1), nil), (2, 60), (3, -300)] as [(AssetID, Int?)] {
      var asset = Asset.sample(id)
      asset.creationDate = PhotoDate(microseconds: -60_000_000, offsetMinutes: offset)
      try fixture.insert(asset, directory: root, name: Array("\(id)".utf8))
    }
    try fixture.catalog.read { reader in
      let days = try reader.values(of: .day, in: reader.plan(FetchOptions())).values.map { "\($0.text) \($0.count)" }
      #expect(days == ["1969-12-31 2", "1970-01-01 1"])
    }
  }

  @Test func theMakeIsLeftOutIfTheModelBeginsWithItsFirstWord() throws {
    let fixture = try CatalogFixture()
    let root = try fixture.addRoot("/p")
    let cameras = [("Canon", "Canon EOS R5"), ("NIKON CORPORATION", "NIKON Z 9"), ("FUJIFILM", "X-T5"), ("Apple", "")]
    for (index, (make, model)) in cameras.enumerated() {
      var asset = Asset.sample(AssetID(index + 1))
      asset.camera = Camera(make: make, model: model.isEmpty ? nil : model)
      try fixture.insert(asset, directory: root, name: Array("\(index)".utf8))
    }
    try fixture.catalog.read { reader in
      let names = try reader.values(of: .camera, in: reader.plan(FetchOptions())).values.map(\.text)
      #expect(names == ["Apple", "Canon EOS R5", "FUJIFILM X-T5", "NIKON Z 9"])
    }
  }

  /// Each value selects the assets that it counts, so that a row can be found.
  @Test func collectionsWithTheSameTitleAreToldApart() throws {
    let fixture = try CatalogFixture()
    let folders = [try fixture.addRoot("/p/data"), try fixture.addRoot("/q/data")]
    for id in AssetID(1)...5 {
      try fixture.insert(Asset.sample(id), directory: folders[id > 2 ? 1 : 0], name: Array("\(id)".utf8))
    }
    let albums = try fixture.catalog.write { writer in
      try writer.perform([
        .createAlbum(title: "Rome", assets: [1], parent: nil),
        .createAlbum(title: "ROME", assets: [1, 3], parent: nil),
        .createAlbum(title: "Oslo", assets: [5], parent: nil),
      ])
    }
    try fixture.catalog.read { reader in
      let counted = try reader.values(of: .collection, in: reader.plan(FetchOptions())).values
      #expect(
        Dictionary(uniqueKeysWithValues: counted.map { ($0.text, $0.count) }) == [
          "folder:/p/data": 2, "folder:/q/data": 3, "id:\(albums[0])": 1, "id:\(albums[1])": 2, "album:Oslo": 1,
        ])
      for value in counted {
        let list = try reader.ids(reader.plan(FetchOptions(collection: value.text)))
        #expect(list.count == value.count, "\(value.text)")
      }
      let titles = try reader.values(of: .album, in: reader.plan(FetchOptions())).values
      #expect(titles.first { $0.text == "data" }?.count == 5)
    }
  }
}
