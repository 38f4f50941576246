import PhotoModel

// Tests compute ids. The library does not.

extension AssetID {
  package static let min = AssetID(rawValue: .min)
  package static let max = AssetID(rawValue: .max)

  package init(_ number: some BinaryInteger) { self.init(rawValue: Int64(number)) }

  package static func random(
    in range: ClosedRange<AssetID>, using generator: inout some RandomNumberGenerator
  ) -> AssetID {
    AssetID(rawValue: .random(in: range.lowerBound.rawValue...range.upperBound.rawValue, using: &generator))
  }

  package static func + (id: AssetID, distance: Int) -> AssetID { id.advanced(by: distance) }

  package static func - (id: AssetID, distance: Int) -> AssetID { id.advanced(by: -distance) }

  package static func += (id: inout AssetID, distance: Int) { id = id + distance }
}
