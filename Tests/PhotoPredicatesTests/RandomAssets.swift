import PhotoModel
import TestTools

enum RandomAssets {
  static let texts = ["", "a", "A", "ab", "Abend", "Été", "été", "x-t5", "X-T5", "日本", "b a", "'", "\\"]
  static let subtypes = ["raw", "panorama", "livePhoto"]
  static let dates = (0..<6).map { PhotoDate(microseconds: 1_720_000_000_000_000 + Int64($0) * 1_000_001) }

  static func asset(id: Int, _ generator: inout SeededGenerator) -> Asset {
    func some<Value>(_ values: [Value]) -> Value { values[Int(generator.next() % UInt64(values.count))] }
    func maybe<Value>(_ values: [Value]) -> Value? { generator.next() % 3 == 0 ? nil : some(values) }
    func list<Value>(_ values: [Value]) -> [Value] { (0..<generator.next() % 4).map { _ in some(values) } }
    let camera = Camera(
      make: maybe(texts), model: maybe(texts), fNumber: maybe([1.4, 2.8, 8]), iso: maybe([100, 400]),
      flashFired: maybe([true, false]))
    return Asset(
      id: AssetID(rawValue: Int64(id)), mediaType: some(MediaType.allCases), mediaSubtypes: Array(Set(list(subtypes))),
      creationDate: some(dates), creationDateSource: some(CreationDateSource.allCases), modificationDate: some(dates),
      addedDate: some(dates), pixelWidth: maybe([1, 4, 6_000]), orientation: maybe([1, 2, 8]),
      durationSeconds: maybe([0.5, 3]),
      location: maybe([
        Location(latitude: 52.5, longitude: 13.4), Location(latitude: -33, longitude: 151, altitude: 12),
      ]), camera: camera.isEmpty ? nil : camera, title: maybe(texts), caption: maybe(texts), keywords: list(texts),
      rating: maybe([0, 1, 3, 5]), isFavorite: some([true, false]), isHidden: some([true, false]),
      available: some([true, false]),
      resources: (0...Int(generator.next() % 3)).map { _ in
        Resource(
          kind: .photo, path: "/p/" + some(texts), filename: some(texts), byteCount: some([1, 7, 1 << 40]),
          contentType: some(["image/jpeg", "image/x-raf"]))
      })
  }
}
