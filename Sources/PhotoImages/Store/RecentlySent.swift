/// The pictures whose path was sent a moment ago, with the time.
///
/// They are kept in two maps, so that expired ones go without a search: the older map is dropped as a whole. So the memory
/// is that of the pictures that were sent in the last two minutes.
struct RecentlySent: Sendable {
  /// How long a path stays readable, in seconds. Times are whole seconds, so it may be one more.
  static let time: UInt32 = 60

  private var current: [PictureKey: UInt32] = [:]
  private var former: [PictureKey: UInt32] = [:]
  /// When `current` was begun.
  private var begin: UInt32 = 0

  var isEmpty: Bool { current.isEmpty && former.isEmpty }

  mutating func note(_ key: PictureKey, at now: UInt32) {
    dropExpired(at: now)
    if current.isEmpty { begin = now }
    current[key] = now
  }

  func contains(_ key: PictureKey, at now: UInt32) -> Bool {
    guard let sent = current[key] ?? former[key] else { return false }
    return now <= sent &+ Self.time
  }

  mutating func dropExpired(at now: UInt32) {
    guard now > begin &+ Self.time else { return }
    // All pictures of `current` were sent at most 60 s after its begin.
    former = now > begin &+ 2 * Self.time ? [:] : current
    current = [:]
    begin = now
  }
}
