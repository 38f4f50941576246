import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import TestFetches

extension RandomFetches<SeededGenerator> {
  /// Fetches of a library of real photos. Most of them find some photos, and few find all.
  ///
  /// - Parameters:
  ///   - assets: some assets of the library.
  ///   - collections: albums of the user and of folders. The smart albums are added to them.
  init(photos assets: [Asset], collections: [String], seed: Int) {
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed &* 31)))
    let samples = Array(assets.shuffled(using: &random).prefix(12))
    let predicates = RandomPredicates { Self.values(of: $0, in: samples) }
    let smart = [
      "smart:favorites", "smart:favorites", "smart:videos", "smart:screenshots", "smart:recents", "smart:noLocation",
      "smart:hidden", "smart:unreadable", "smart:panoramas",
    ]
    self.init(
      predicates: predicates, collections: smart + collections,
      words: [
        "IMG", "DSC", "dsc", "Été", "ete", "日本", "it", "s", "100", "beach", "x-t5", "X", "1", "2", "7", "jpg", "MOV",
        "Canon", "Apple", "iphone", "back", "Nikon", "sony", "kept", "back-d",
      ], random: random)
  }

  private static func values(of key: PredicateKey, in assets: [Asset]) -> [Predicate.Literal] {
    let own = assets.flatMap { $0.values(of: key) }
    let others: [Predicate.Literal] =
      switch key {
      case .path, .resourcesPath:
        ["/", "/kept", "/r", "/d1", "second/", "photos", "back", "Été", "%FF"].map { .string($0) }
      case .filename, .resourcesFilename:
        ["", "img_", "IMG_", "Été", "日", "1", ".MOV", "jpg", "beach"].map { .string($0) }
      case .keywords, .title, .caption, .cameraMake, .cameraModel, .cameraLens:
        ["", "a", "Canon", "i", "Apple", "NIKON", "o"].map { .string($0) }
      default: Array(PredicateSamples.values(key.valueType).prefix(3))
      }
    return own + others
  }
}
