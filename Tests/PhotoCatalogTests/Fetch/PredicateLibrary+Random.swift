import PhotoTestSupport
import PredicateLanguage
import TestFetches

@testable import PhotoCatalog

/// Predicates of every kind. Their values match some of the assets.
extension PredicateLibrary {
  var predicates: RandomPredicates { RandomPredicates { values(of: $0) } }

  func randomPredicate(_ depth: Int, using random: inout SeededGenerator) -> Predicate {
    predicates.predicate(depth, using: &random)
  }

  /// Some of these values occur in assets, and some do not.
  private func values(of key: PredicateKey) -> [Predicate.Literal] {
    switch key {
    case .filename, .path, .resourcesPath, .resourcesFilename:
      ["", "/", "/photos/a", "img_", "IMG_", "%FF", "file:///", "É", "E\u{301}", "1", "日", ".RAF"].map { .string($0) }
        + assets.prefix(6).flatMap { $0.values(of: key) }
    case .keywords: PredicateLibrary.keywords.map { .string($0) }
    case .contentType, .resourcesContentType: ["image/jpeg", "IMAGE/X-RAF", "raf", ""].map { .string($0) }
    default: PredicateSamples.values(key.valueType)
    }
  }
}

extension RandomFetches<SeededGenerator> {
  /// - Parameter albums: further collections.
  init(library: PredicateLibrary, albums: [String] = [], seed: UInt64) {
    let album = "id:\(library.random.albumID)"
    self.init(
      predicates: library.predicates,
      collections: [
        "smart:favorites", "smart:videos", "smart:screenshots", "smart:recents", "smart:noLocation", "smart:hidden",
        "smart:raw", album, album, "folder:/photos/a",
        "folder:/photos",
      ] + albums, random: SeededGenerator(seed: seed &* 104_729))
  }
}
