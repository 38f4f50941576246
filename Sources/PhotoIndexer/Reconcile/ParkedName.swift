import PhotoModel

/// The name of a folder in the catalog while another folder is in its place.
///
/// No file has such a name. It contains the folder's own name, so that a photod that starts meanwhile knows where the
/// folder was.
enum ParkedName {
  /// ``CommitRecord`` knows these folders by it.
  private static let prefix = Array("\u{1}parked-".utf8)

  static func make(of id: DirectoryID, named name: [UInt8]) -> [UInt8] {
    isParked(name) ? name : prefix + Array("\(id)-".utf8) + name
  }

  static func isParked(_ name: [UInt8]) -> Bool { name.starts(with: prefix) }

  /// The folder's own name, or nil if the folder is in its place.
  static func formerName(_ name: [UInt8]) -> [UInt8]? {
    guard isParked(name), let end = name[prefix.count...].firstIndex(of: UInt8(ascii: "-")) else { return nil }
    return Array(name[(end + 1)...])
  }
}
