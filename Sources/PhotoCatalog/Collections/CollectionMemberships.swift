import ChangeDetails
import PhotoModel

/// The smart albums and the folder that show each asset.
///
/// Many assets are in the same smart albums and the same folder. Each such combination has a number, and an asset has the
/// number of its combination: 4.4 bytes for each asset. A combination takes some 150 bytes, and there are a few for each
/// folder. Any number of smart albums is possible.
struct CollectionMemberships: Sendable {
  /// The collections of an asset.
  struct Membership: Hashable, Sendable {
    var smart = AlbumSet()
    /// The index of the folder.
    var folder: Int?

    var isEmpty: Bool { folder == nil && smart.isEmpty }
  }

  /// A set of smart albums, by their indexes.
  struct AlbumSet: Hashable, Sendable {
    /// One bit for each album. The last word is not 0, so that equal sets have equal words.
    private var words: [UInt64] = []

    var isEmpty: Bool { words.isEmpty }

    func contains(_ album: Int) -> Bool {
      album / 64 < words.count && words[album / 64] & 1 << UInt64(album % 64) != 0
    }

    mutating func insert(_ album: Int) {
      while words.count <= album / 64 { words.append(0) }
      words[album / 64] |= 1 << UInt64(album % 64)
    }
  }

  /// For each asset, the number of its combination. 0 if no collection shows it.
  private var numbers = PagedNumbers()
  /// The combinations by their number - 1. Unused ones have no assets.
  private var combinations: [Membership] = []
  private var assetCounts: [Int] = []
  private var unused: [UInt32] = []
  private var numberOf: [Membership: UInt32] = [:]

  subscript(asset: AssetID) -> Membership {
    get {
      let number = numbers[asset.rawValue]
      return number == 0 ? Membership() : combinations[Int(number) - 1]
    }
    set {
      let old = numbers[asset.rawValue]
      if old == 0 ? newValue.isEmpty : combinations[Int(old) - 1] == newValue { return }
      replace(old, of: asset, with: number(newValue))
    }
  }

  /// Adds a smart album to each of these assets.
  ///
  /// - Parameter forEachAsset: calls its argument with each asset.
  mutating func insert(_ album: Int, forEachAsset: ((AssetID) -> Void) throws -> Void) rethrows {
    // There are few combinations, so each is looked up once instead of once for each asset.
    var next: [UInt32: UInt32] = [:]
    try forEachAsset { asset in
      let old = numbers[asset.rawValue]
      let new: UInt32
      if let known = next[old], assetCounts[Int(known) - 1] > 0 {
        new = known
      } else {
        var membership = old == 0 ? Membership() : combinations[Int(old) - 1]
        membership.smart.insert(album)
        new = number(membership)
        next[old] = new
      }
      replace(old, of: asset, with: new)
    }
  }

  /// The number of a combination, or 0 if it has no collection.
  private mutating func number(_ membership: Membership) -> UInt32 {
    if membership.isEmpty { return 0 }
    if let known = numberOf[membership] { return known }
    let number: UInt32
    if let reused = unused.popLast() {
      number = reused
      combinations[Int(number) - 1] = membership
    } else {
      combinations.append(membership)
      assetCounts.append(0)
      number = UInt32(combinations.count)
    }
    numberOf[membership] = number
    return number
  }

  private mutating func replace(_ old: UInt32, of asset: AssetID, with new: UInt32) {
    guard new != old else { return }
    numbers[asset.rawValue] = new
    if new > 0 { assetCounts[Int(new) - 1] += 1 }
    guard old > 0 else { return }
    assetCounts[Int(old) - 1] -= 1
    if assetCounts[Int(old) - 1] == 0 {
      numberOf[combinations[Int(old) - 1]] = nil
      unused.append(old)
    }
  }

  /// The number of combinations that assets have.
  var combinationCount: Int { numberOf.count }
}
