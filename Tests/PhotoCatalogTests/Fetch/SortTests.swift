import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import Testing

@testable import PhotoCatalog

@Suite struct SortTests {
  private let library: RandomLibrary
  private let everything: FetchOptions

  init() throws {
    library = try RandomLibrary(seed: 41)
    everything = FetchOptions(includeHidden: true, includeTrashed: true)
  }

  /// Each key on its own, in both directions.
  private let single = FetchOrder.knownKeys.flatMap { key in
    [SortDescriptor(key: key, ascending: true), SortDescriptor(key: key, ascending: false)]
  }

  @Test func everyKeySortsAsTheContractSays() throws {
    for descriptor in single { try check([descriptor], library.assets, everything) }
  }

  @Test func everyKeySortsAnAlbum() throws {
    var options = everything
    options.collection = "album:Album"
    let members = library.assets.filter { library.albumOrder.contains($0.id) }
    for descriptor in single { try check([descriptor], members, options) }
  }

  @Test func severalKeysSortOneAfterAnother() throws {
    var random = SeededGenerator(seed: 42)
    for _ in 0..<60 {
      let descriptors = (0..<Int.random(in: 2...4, using: &random)).map { _ in
        SortDescriptor(
          key: FetchOrder.knownKeys.randomElement(using: &random) ?? "id", ascending: .random(using: &random))
      }
      try check(descriptors, library.assets, everything)
    }
  }

  @Test func anAlbumIsInItsOwnOrder() throws {
    var options = everything
    options.collection = "album:Album"
    #expect(try library.fixture.ids(options) == library.albumOrder)
  }

  private func check(_ descriptors: [SortDescriptor], _ assets: [Asset], _ options: FetchOptions) throws {
    var options = options
    options.sortDescriptors = descriptors
    let isAlbum = options.collection != nil
    let expected = assets.sorted { first, second in
      for descriptor in descriptors {
        let (a, b) = (value(first, descriptor.key, isAlbum), value(second, descriptor.key, isAlbum))
        if a < b { return descriptor.ascending }
        if b < a { return !descriptor.ascending }
      }
      return descriptors.last?.ascending ?? false ? first.id < second.id : first.id > second.id
    }
    #expect(try library.fixture.ids(options) == expected.map(\.id), "\(descriptors)")
  }

  /// An absent value is the smallest. A text is compared by its folded Unicode scalars.
  private enum Value: Comparable {
    case absent
    case number(Double)
    case scalars([UInt32])

    static func < (lhs: Value, rhs: Value) -> Bool {
      switch (lhs, rhs) {
      case (.absent, .absent): false
      case (.absent, _): true
      case (_, .absent): false
      case (.number(let a), .number(let b)): a < b
      case (.scalars(let a), .scalars(let b)): a.lexicographicallyPrecedes(b)
      default: false
      }
    }
  }

  private func value(_ asset: Asset, _ key: String, _ isAlbum: Bool) -> Value {
    func number(_ value: Int?) -> Value { value.map { .number(Double($0)) } ?? .absent }
    func text(_ value: String?) -> Value {
      value.map { .scalars(CaseFolding.fold($0).unicodeScalars.map(\.value)) } ?? .absent
    }
    func date(_ value: PhotoDate) -> Value { .number(Double(value.microseconds)) }
    switch key {
    case "creationDate": return date(asset.creationDate)
    case "modificationDate": return date(asset.modificationDate)
    case "addedDate": return date(asset.addedDate)
    case "filename": return text(asset.resources.first?.filename)
    case "byteCount": return number(asset.resources.first.map { Int($0.byteCount) })
    case "pixelWidth": return number(asset.pixelWidth)
    case "pixelHeight": return number(asset.pixelHeight)
    case "durationSeconds": return asset.durationSeconds.map { .number($0) } ?? .absent
    case "rating": return number(asset.rating)
    case "title": return text(asset.title)
    case "mediaType": return text(asset.mediaType.rawValue)
    case "isFavorite": return number(asset.isFavorite ? 1 : 0)
    case "albumOrder": return isAlbum ? number(library.albumOrder.firstIndex(of: asset.id)) : .absent
    case "id": return number(Int(asset.id.rawValue))
    default:
      Issue.record("no value for \(key)")
      return .absent
    }
  }
}
