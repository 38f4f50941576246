// SPDX-License-Identifier: GPL-2.0-or-later

/// Which names are wanted: decided before a file is looked at and before a directory gets a watch.
struct NameRules {
  private var extensions: Set<[UInt8]> = []
  private var longestExtension = 0
  private var ignoredDirectoryNames: Set<[UInt8]> = []

  init() {}

  /// Extensions are lower-case ASCII without the dot.
  init(extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]]) {
    self.extensions = Set(extensions)
    longestExtension = extensions.map(\.count).max() ?? 0
    self.ignoredDirectoryNames = Set(ignoredDirectoryNames)
  }

  /// A file that may be an asset: not hidden, and with a wanted extension (ASCII letters compare without case).
  func wantsFile(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard name.first != UInt8(ascii: "."), let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
    let ending = name[name.index(after: dot)...]
    guard ending.count <= longestExtension else { return false }
    return extensions.contains(ending.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 })
  }

  /// A directory that is entered.
  func wantsDirectory(_ name: [UInt8]) -> Bool {
    name.first != UInt8(ascii: ".") && !ignoredDirectoryNames.contains(name)
  }

  /// A file whose presence says that nothing in its directory is wanted. CACHEDIR.TAG must also begin with its signature.
  static func isMarker(_ name: [UInt8]) -> Bool { name == noMedia || name == trackerIgnore || name == cacheTag }

  static let noMedia = Array(".nomedia".utf8)
  static let trackerIgnore = Array(".trackerignore".utf8)
  static let cacheTag = Array("CACHEDIR.TAG".utf8)
  /// https://bford.info/cachedir/
  static let cacheTagSignature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)
}
