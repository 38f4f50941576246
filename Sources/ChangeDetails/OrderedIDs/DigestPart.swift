/// The digest of a run of ids, in a form that joins in O(1). Beside h it keeps the power m^n, which
/// ``ListDigest/joined(with:)`` has to compute each time.
struct DigestPart: Hashable, Sendable {
  /// h of the run, below 2⁶¹ − 1.
  private(set) var value: UInt64 = 0
  /// m to the length of the run, modulo 2⁶¹ − 1.
  private(set) var power: UInt64 = 1

  /// Creates the digest of the empty run.
  init() {}

  /// - Complexity: O(n); about 3 ns an id.
  init(of ids: some Sequence<Int64>) {
    let digest = ListDigest(of: ids)
    value = digest.value
    power = ListDigest.power(digest.count)
  }

  /// Adds the run that follows.
  mutating func append(_ next: DigestPart) {
    value = ListDigest.sum(ListDigest.product(value, next.power), next.value)
    power = ListDigest.product(power, next.power)
  }

  /// - Parameter count: the length of the run. The part itself does not keep it.
  func digest(count: Int) -> ListDigest { ListDigest(value: value, count: count) }
}
