import PhotoModel
import PhotoTestSupport

@testable import PhotoCatalog

/// A random library whose assets also have keywords and further files.
struct PredicateLibrary {
  let random: RandomLibrary
  /// The assets as the catalog returns them, by id.
  let assets: [Asset]

  var fixture: CatalogFixture { random.fixture }

  static let keywords = RandomLibrary.texts + ["Ostsee", "ostsee", "été", "Ete", "a*b", "2024-07"]

  init(seed: UInt64) throws {
    random = try RandomLibrary(seed: seed)
    var generator = SeededGenerator(seed: seed &+ 1)
    let fixture = random.fixture
    for (index, keyword) in Self.keywords.enumerated() {
      try fixture.execute(
        "INSERT INTO keyword (id, name) VALUES (?, ?)", [.integer(Int64(index + 1)), .text(keyword)])
    }
    for asset in random.assets where Int.random(in: 0..<3, using: &generator) > 0 {
      let words = (1...Int64(Self.keywords.count)).shuffled(using: &generator)
      for (position, word) in words.prefix(.random(in: 1...4, using: &generator)).enumerated() {
        try fixture.execute(
          "INSERT INTO asset_keyword (asset_id, keyword_id, position) VALUES (?, ?, ?)",
          [.id(asset.id), .integer(word), .integer(Int64(position))])
      }
    }
    let ids = random.assets.map(\.id)
    let folders: [Int64] = [1, 3, 4]
    for asset in random.assets where Int.random(in: 0..<4, using: &generator) == 0 {
      for position in 1...Int64.random(in: 1...2, using: &generator) {
        let name = ["IMG_", "Été", "日本"].randomElement(using: &generator) ?? ""
        try fixture.execute(
          "INSERT INTO resource (directory_id, name, asset_id, position, kind, content_type, byte_count, "
            + "modification_time, change_time, inode, birth_time, read_time) VALUES (?, ?, ?, ?, 3, ?, ?, 0, 0, 0, 0, 0)",
          [
            .integer(folders.randomElement(using: &generator) ?? 1), .text("\(name)\(asset.id)-\(position).RAF"),
            .id(asset.id), .integer(position), .text("image/x-raf"),
            .integer(.random(in: 0...9, using: &generator)),
          ])
      }
    }
    assets = try fixture.catalog.read { reader in
      var assets = try reader.assets(ids).assets
      let statement = try RawStatement(
        reader.database,
        "SELECT name FROM asset_keyword JOIN keyword ON keyword.id = keyword_id WHERE asset_id = ? ORDER BY position")
      for index in assets.indices {
        assets[index].keywords = []
        statement.bind(1, assets[index].id)
        try statement.forEachRow { assets[index].keywords.append(statement.text(0)) }
      }
      return assets
    }
  }
}
