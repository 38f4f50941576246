import PhotoModel

/// A number by which two programs prove that they hold the same list of ids in the same order.
///
/// h = 0, then for each id: h = (h · 1099511628211 + id) mod (2⁶¹ − 1). Two parts join: h(X Y) = h(X) · m^|Y| + h(Y). A
/// long list therefore keeps one digest for each block, and a change costs a block, not the list. The digest guards
/// against mistakes, not against an adversary.
public struct ListDigest: Hashable, Sendable {
  /// 2⁶¹ − 1, a Mersenne prime: a remainder is two shifts and an addition.
  static let modulus: UInt64 = (1 << 61) - 1
  /// The prime of FNV-1a. The contract specifies it.
  static let multiplier: UInt64 = 1_099_511_628_211

  /// h, below 2⁶¹ − 1.
  public private(set) var value: UInt64
  /// How many ids it covers.
  public private(set) var count: Int

  /// Creates the digest of the empty list.
  public init() {
    value = 0
    count = 0
  }

  /// - Complexity: O(n); about 3 ns an id.
  public init(of ids: some Sequence<AssetID>) {
    self.init()
    let isContiguous: Void? = ids.withContiguousStorageIfAvailable { for id in $0 { append(id) } }
    if isContiguous == nil { for id in ids { append(id) } }
  }

  /// - Complexity: O(1)
  public mutating func append(_ id: AssetID) {
    value = Self.sum(Self.product(value, Self.multiplier), Self.residue(id))
    count += 1
  }

  /// The digest of the list that is `self` followed by `other`.
  /// - Complexity: O(log n) in the count of `other`.
  public func joined(with other: ListDigest) -> ListDigest {
    var joined = self
    joined.value = Self.sum(Self.product(value, Self.power(other.count)), other.value)
    joined.count += other.count
    return joined
  }

  /// Creates the digest of a list that is kept in blocks, from their joined digest.
  init(value: UInt64, count: Int) {
    self.value = value
    self.count = count
  }

  // MARK: - Arithmetic modulo 2⁶¹ − 1

  static func residue(_ id: AssetID) -> UInt64 {
    let remainder = id.rawValue % Int64(modulus)
    return UInt64(remainder < 0 ? remainder + Int64(modulus) : remainder)
  }

  static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let sum = a + b
    return sum >= modulus ? sum - modulus : sum
  }

  static func product(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let full = a.multipliedFullWidth(by: b)
    // 2⁶¹ is congruent to 1: the bits above the 61st are added to the lower ones.
    let folded = (full.low & modulus) + (full.low >> 61 | full.high << 3)
    return folded >= modulus ? folded - modulus : folded
  }

  static func power(_ exponent: Int) -> UInt64 {
    var (result, square, rest) = (UInt64(1), multiplier, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result = product(result, square) }
      square = product(square, square)
      rest >>= 1
    }
    return result
  }
}

extension ListDigest: CustomStringConvertible {
  /// The digest as on the wire: 16 lower-case hexadecimal digits. `[1, 2, 3]` gives `00036800000ae692`.
  public var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
