import TestTools

@testable import ChangeDetails
@testable import PhotoContract
@testable import PhotoModel

/// Random values that no library would have: any field may be absent, texts have any characters, and numbers may be the
/// largest.
struct RandomValues {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func asset() -> Asset {
    Asset(
      id: assetID(), mediaType: any(MediaType.allCases), mediaSubtypes: some { $0.text() },
      creationDate: date(), creationDateSource: any(CreationDateSource.allCases), modificationDate: date(),
      addedDate: date(),
      pixelWidth: maybe { $0.int() }, pixelHeight: maybe { $0.int() }, orientation: maybe { $0.int() },
      durationSeconds: maybe { $0.double() }, location: maybe { $0.location() }, camera: maybe { $0.camera() },
      title: maybe { $0.text() }, caption: maybe { $0.text() }, keywords: some { $0.text() },
      rating: maybe { $0.int() }, isFavorite: flag(), isHidden: flag(), isTrashed: flag(),
      burstIdentifier: maybe { $0.text() }, available: flag(), revision: text(),
      resources: some { $0.resource() })
  }

  mutating func observation() -> Observation {
    Observation(
      token: text(), previousToken: maybe { $0.text() }, count: int(), digest: text(), origin: maybe { $0.text() },
      offset: maybe { $0.int() }, ids: maybe { $0.some { $0.assetID() } }, complete: maybe { $0.flag() },
      reload: maybe { $0.any([.tooManyChanges, .tokenExpired, .notWanted]) }, details: maybe { $0.details() },
      insertedAssets: maybe { $0.some { $0.asset() } }, changedAssets: maybe { $0.some { $0.asset() } },
      collectionDeleted: maybe { $0.flag() })
  }

  mutating func historyPage() -> HistoryPage { HistoryPage(changes: some { $0.change() }, token: text()) }

  private mutating func change() -> PersistentChange {
    PersistentChange(
      token: text(), date: date(), origin: text(), insertedAssets: some { $0.assetID() },
      updatedAssets: some { $0.assetID() }, deletedAssets: some { $0.assetID() },
      changedFields: maybe { $0.some { $0.text() } }, insertedCollections: some { $0.collectionID() },
      updatedCollections: some { $0.collectionID() },
      deletedCollections: some { $0.collectionID() },
      renamedDirectories: some { RenamedDirectory(fromPath: $0.text(), toPath: $0.text()) },
      rootAvailability: some { RootAvailability(path: $0.text(), available: $0.flag()) })
  }

  private mutating func details() -> FetchResultChangeDetails {
    FetchResultChangeDetails(
      countBefore: int(), countAfter: int(), removedBefore: ranges(), deletedBefore: ranges(), insertedAfter: ranges(),
      insertedIDs: some { $0.assetID() }, changedBefore: ranges(), changedAfter: ranges(),
      changedFields: some { $0.text() }, moves: some { Move(fromBefore: $0.int(), toAfter: $0.int()) })
  }

  private mutating func ranges() -> [IndexRange] { some { IndexRange(start: $0.int(), count: $0.int()) } }

  private mutating func location() -> Location {
    Location(latitude: double(), longitude: double(), altitude: maybe { $0.double() })
  }

  private mutating func camera() -> Camera {
    Camera(
      make: maybe { $0.text() }, model: maybe { $0.text() }, lens: maybe { $0.text() },
      exposureSeconds: maybe { $0.double() }, fNumber: maybe { $0.double() }, iso: maybe { $0.int() },
      focalLengthMillimeters: maybe { $0.double() }, flashFired: maybe { $0.flag() })
  }

  private mutating func resource() -> Resource {
    // A path need not be UTF-8.
    let name = (0..<Int.random(in: 1...12, using: &generator)).map { _ in UInt8.random(in: 1...255, using: &generator) }
    return Resource(
      kind: any(Resource.Kind.allCases), path: FilePath.text([0x2F] + name), filename: FilePath.nameText(name),
      byteCount: integer(), contentType: text())
  }

  mutating func date() -> PhotoDate {
    PhotoDate(microseconds: integer(), offsetMinutes: maybe { .random(in: -1_500...1_500, using: &$0.generator) })
  }

  /// Any finite value.
  mutating func double() -> Double {
    if flag() { return Double(Int.random(in: -10_000_000...10_000_000, using: &generator)) / 1_000 }
    let number = Double(bitPattern: generator.next())
    return number.isFinite ? number : 0
  }

  mutating func integer() -> Int64 {
    Int64(bitPattern: generator.next()) >> Int64.random(in: 0...63, using: &generator)
  }

  private mutating func assetID() -> AssetID { AssetID(rawValue: integer()) }

  private mutating func collectionID() -> CollectionID { CollectionID(rawValue: integer()) }

  private mutating func int() -> Int { Int(integer()) }

  private mutating func flag() -> Bool { .random(using: &generator) }

  /// Letters, characters that must be escaped, and characters beyond 16 bits.
  mutating func text() -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...20, using: &generator) {
      let upTo: UInt32 = any([0x7F, 0x7F, 0x20, 0x3000, 0x10FFFF])
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...upTo, using: &generator)) { text.append(scalar) }
    }
    return String(text)
  }

  private mutating func maybe<Value>(_ make: (inout RandomValues) -> Value) -> Value? { flag() ? make(&self) : nil }

  private mutating func some<Value>(_ make: (inout RandomValues) -> Value) -> [Value] {
    (0..<Int.random(in: 0...3, using: &generator)).map { _ in make(&self) }
  }

  private mutating func any<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &generator)]
  }
}
