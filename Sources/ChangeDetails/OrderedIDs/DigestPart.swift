import PhotoModel

/// The digest of consecutive ids in a list, in a form that joins in O(1). Its h and m are those of ``ListDigest``. It
/// stores the power m^n for its n ids, because ``ListDigest/joined(with:)`` takes O(log n) to compute it.
struct DigestPart: Hashable, Sendable {
  /// h of the ids, below 2⁶¹ − 1.
  private(set) var value: UInt64 = 0
  /// m^n modulo 2⁶¹ − 1.
  private(set) var power: UInt64 = 1

  /// Creates the digest of no ids.
  init() {}

  /// - Complexity: O(n); about 3 ns an id.
  init(of ids: some Sequence<AssetID>) {
    let digest = ListDigest(of: ids)
    value = digest.value
    power = ListDigest.power(digest.count)
  }

  /// Appends the ids that follow in the list.
  ///
  /// - Complexity: O(1)
  mutating func append(_ next: DigestPart) {
    value = ListDigest.sum(ListDigest.product(value, next.power), next.value)
    power = ListDigest.product(power, next.power)
  }

  /// - Parameter count: the number of ids, n. The caller knows it, so it is not stored here a second time.
  func digest(count: Int) -> ListDigest { ListDigest(value: value, count: count) }
}
