// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// Decides which names are wanted, before a file is looked at and before a directory gets a watch.
public struct NameRules: Hashable, Sendable {
  /// The folder that contains a name, for patterns that contain a path. Symbolic links are resolved.
  public struct Folder {
    /// The names from the root down.
    private(set) var components: [ArraySlice<UInt8>]
    /// The names from the top of the file system down.
    private(set) var absoluteComponents: [ArraySlice<UInt8>]

    /// - Parameter components: the names from the root, whose path is `root`, down to the folder.
    public init(root: [UInt8], components: [ArraySlice<UInt8>]) {
      self.components = components
      absoluteComponents = root.split(separator: UInt8(ascii: "/")) + components
    }

    /// Goes on to a folder in this one.
    public mutating func append(_ name: ArraySlice<UInt8>) {
      components.append(name)
      absoluteComponents.append(name)
    }
  }

  private let extensions: Set<[UInt8]>
  private let longestExtension: Int
  private let ignoredDirectoryNames: Set<[UInt8]>
  /// The patterns of the configuration.
  public let patterns: [IgnorePattern]
  /// Whether any pattern contains a path. Only then is a `Folder` needed.
  public let needsFolder: Bool

  public init() { self.init(extensions: [], ignoredDirectoryNames: []) }

  /// - Parameter extensions: lower-case ASCII, without the dot.
  public init(extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]], patterns: [IgnorePattern] = []) {
    self.extensions = Set(extensions)
    longestExtension = extensions.map(\.count).max() ?? 0
    self.ignoredDirectoryNames = Set(ignoredDirectoryNames)
    self.patterns = patterns
    needsFolder = patterns.contains { $0.scope != .name }
  }

  /// Whether a file may be an asset, apart from the patterns. It must have a wanted extension (ASCII letters compare
  /// without case). It must not be hidden, nor the lock file of an office program (`~$a.jpg`). So files that programs
  /// are still writing are not wanted: `*.part`, `*.crdownload`, `*.tmp`, `.syncthing.*`, `.~*`.
  ///
  /// It takes the kernel's bytes, because it is called for every name on the disk, and most of them are not wanted.
  public func wantsFile(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let first = name.first, first != UInt8(ascii: "."), let dot = name.lastIndex(of: UInt8(ascii: ".")) else {
      return false
    }
    if first == UInt8(ascii: "~"), name.dropFirst().first == UInt8(ascii: "$") { return false }
    let ending = name[name.index(after: dot)...]
    guard ending.count <= longestExtension else { return false }
    return extensions.contains(ending.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 })
  }

  public func wantsFile(_ name: [UInt8]) -> Bool { name.withUnsafeBytes { wantsFile($0) } }

  /// Whether a directory is entered, apart from the patterns.
  public func wantsDirectory(_ name: [UInt8]) -> Bool {
    name.first != UInt8(ascii: ".") && !ignoredDirectoryNames.contains(name)
  }

  /// The first pattern that this name matches in the folder: a built-in one, or one of the configuration. `folder` is
  /// evaluated only if a pattern contains a path.
  public func pattern(ignoring name: [UInt8], isDirectory: Bool, in folder: @autoclosure () -> Folder?)
    -> IgnorePattern?
  {
    if let builtIn = BuiltInPattern.ignoring(name, isDirectory: isDirectory) { return builtIn.pattern }
    guard !patterns.isEmpty else { return nil }
    let place = needsFolder ? folder() : nil
    return patterns.first { pattern in
      guard isDirectory || !pattern.isForDirectoriesOnly else { return false }
      switch pattern.scope {
      case .name: return pattern.matches([], name[...])
      case .path: return place.map { pattern.matches($0.components, name[...]) } ?? false
      case .absolutePath: return place.map { pattern.matches($0.absoluteComponents, name[...]) } ?? false
      }
    }
  }

  /// Whether a file of this name makes its directory unwanted. CACHEDIR.TAG must also begin with its signature.
  public static func isMarker(_ name: [UInt8]) -> Bool { markers.contains(name) }

  public static let markers = [noMedia, trackerIgnore, cacheTag]

  static let noMedia = Array(".nomedia".utf8)
  static let trackerIgnore = Array(".trackerignore".utf8)
  public static let cacheTag = Array("CACHEDIR.TAG".utf8)
  /// https://bford.info/cachedir/
  public static let cacheTagSignature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)
}
