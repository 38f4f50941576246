/// The `mediaSubtypes` of an asset as a set of bits.
package struct MediaSubtypes: OptionSet, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let livePhoto = MediaSubtypes(rawValue: 1)
  package static let panorama = MediaSubtypes(rawValue: 2)
  package static let hdr = MediaSubtypes(rawValue: 4)
  package static let screenshot = MediaSubtypes(rawValue: 8)
  package static let raw = MediaSubtypes(rawValue: 16)
  package static let animated = MediaSubtypes(rawValue: 32)
  package static let motionPhoto = MediaSubtypes(rawValue: 64)
  package static let burst = MediaSubtypes(rawValue: 128)
  package static let depth = MediaSubtypes(rawValue: 256)

  private static let allNames: [(MediaSubtypes, String)] = [
    (.livePhoto, "livePhoto"), (.panorama, "panorama"), (.hdr, "hdr"), (.screenshot, "screenshot"), (.raw, "raw"),
    (.animated, "animated"), (.motionPhoto, "motionPhoto"), (.burst, "burst"), (.depth, "depth"),
  ]

  /// The names, in the order of the contract.
  package var names: [String] { Self.allNames.filter { contains($0.0) }.map(\.1) }

  /// The subtypes that this version knows.
  package static let all = MediaSubtypes(each)

  /// Each subtype alone, in the order of the contract.
  package static let each: [MediaSubtypes] = allNames.map(\.0)

  /// The subtype with this name.
  package init?(name: String) {
    guard let known = Self.allNames.first(where: { $0.1 == name }) else { return nil }
    self = known.0
  }

  package init(names: [String]) {
    self = Self.allNames.reduce(into: []) { set, pair in if names.contains(pair.1) { set.insert(pair.0) } }
  }
}
