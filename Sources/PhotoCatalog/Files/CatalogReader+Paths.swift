import GRDB
import PhotoModel

/// The catalog's record of one file.
package struct CatalogFile: Hashable, Sendable {
  package var assetID: AssetID
  /// The position among the asset's resources. The resource to show has 0.
  package var position: Int
  /// Why the asset's content could not be read, or nil.
  package var failure: String?
}

extension CatalogReader {
  /// The asset to which each of these files belongs, in the order of the paths. 0 for a path that is no file of an
  /// asset.
  package func assetIDs(paths: [[UInt8]]) throws -> [AssetID] {
    var finder = try PathFinder(database)
    return try paths.map { try finder.file($0)?.assetID ?? 0 }
  }

  package func file(path: [UInt8]) throws -> CatalogFile? {
    var finder = try PathFinder(database)
    return try finder.file(path)
  }

  package func file(directory: DirectoryID, name: [UInt8]) throws -> CatalogFile? {
    try PathFinder(database).file(directory: directory, name: name)
  }

  /// The directory with this path. If roots are nested, it belongs to the innermost root that knows it.
  package func directoryID(path: [UInt8]) throws -> DirectoryID? {
    var finder = try PathFinder(database)
    return try finder.directory(path)
  }
}

/// Finds directories and files by path. It keeps each directory that it has found, so it is valid for one snapshot
/// only.
private struct PathFinder {
  private static let slash = UInt8(ascii: "/")

  /// The roots' directories with the components of their paths. The longest path is first, so that the innermost of
  /// nested roots is found first.
  private let tops: [(id: DirectoryID, components: [ArraySlice<UInt8>])]
  private let child: RawStatement
  private let resource: RawStatement
  /// The results of ``directories(_:)``. Most of the paths of one call are in a few directories.
  private var known: [ArraySlice<UInt8>: [DirectoryID]] = [:]

  init(_ database: Database) throws {
    var tops: [(id: DirectoryID, components: [ArraySlice<UInt8>])] = []
    let statement = try RawStatement(
      database, "SELECT directory.id, root.path FROM root JOIN directory ON directory.root_id = root.id")
    try statement.forEachRow {
      tops.append((statement.directoryID(0), statement.bytes(1).split(separator: Self.slash)))
    }
    self.tops = tops.sorted { $0.components.count > $1.components.count }
    child = try RawStatement(database, "SELECT id FROM directory WHERE parent_id = ? AND name = ? AND parked_id = 0")
    resource = try RawStatement(
      database,
      "SELECT resource.asset_id, resource.position, asset.failure FROM resource "
        + "JOIN asset ON asset.id = resource.asset_id WHERE resource.directory_id = ? AND resource.name = ?")
  }

  func file(directory: DirectoryID, name: [UInt8]) throws -> CatalogFile? {
    resource.bind(1, directory)
    resource.bind(2, text: name)
    return try resource.firstRow {
      CatalogFile(
        assetID: resource.assetID(0), position: Int(resource.int64(1)), failure: resource.optionalText(2))
    }
  }

  mutating func file(_ path: [UInt8]) throws -> CatalogFile? {
    guard path.first == Self.slash, let lastSlash = path.lastIndex(of: Self.slash), lastSlash + 1 < path.count else {
      return nil
    }
    let name = Array(path[(lastSlash + 1)...])
    for directory in try directories(path[..<lastSlash]) {
      if let file = try file(directory: directory, name: name) { return file }
    }
    return nil
  }

  mutating func directory(_ path: [UInt8]) throws -> DirectoryID? {
    guard path.first == Self.slash else { return nil }
    return try directories(path[...]).first
  }

  /// One directory for each root that knows the path, the innermost first.
  private mutating func directories(_ path: ArraySlice<UInt8>) throws -> [DirectoryID] {
    if let found = known[path] { return found }
    let components = path.split(separator: Self.slash)
    var found: [DirectoryID] = []
    for top in tops where components.starts(with: top.components) {
      var current: DirectoryID? = top.id
      for name in components.dropFirst(top.components.count) {
        guard let parent = current else { break }
        child.bind(1, parent)
        child.bind(2, text: Array(name))
        current = try child.firstRow { child.directoryID(0) }
      }
      if let current { found.append(current) }
    }
    known[path] = found
    return found
  }
}
