/// The digest of a run of ids in a form that joins in O(1): beside h its power m^n, which ``ListDigest/joined(with:)`` would
/// have to work out anew each time.
struct DigestPart: Hashable, Sendable {
  /// h of the run, below 2⁶¹ − 1.
  private(set) var value: UInt64 = 0
  /// m to the length of the run, modulo 2⁶¹ − 1.
  private(set) var power: UInt64 = 1

  /// Of the empty run.
  init() {}

  /// - Complexity: O(n); about 3 ns an id.
  init(of ids: some Sequence<Int64>) {
    let digest = ListDigest(of: ids)
    value = digest.value
    power = ListDigest.power(digest.count)
  }

  /// Takes in the run that follows.
  mutating func append(_ next: DigestPart) {
    value = ListDigest.sum(ListDigest.product(value, next.power), next.value)
    power = ListDigest.product(power, next.power)
  }

  /// - Parameter count: the length of the run, which the part itself doesn't keep.
  func digest(count: Int) -> ListDigest { ListDigest(value: value, count: count) }
}
