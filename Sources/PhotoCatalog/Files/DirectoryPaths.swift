import GRDB
import PhotoModel

/// The paths of directories. It finds each directory and its parents only once, with one lookup by key. It belongs to
/// one call, because the paths that it keeps are those of one snapshot.
struct DirectoryPaths {
  struct Place {
    /// The path without a slash at its end. The root `/` is empty.
    var prefix: [UInt8]
    /// Whether the volume of its root is available, and everything that is mounted between the root and this directory.
    var isAvailable: Bool

    /// The bytes of the path of a file in this directory.
    func path(of name: [UInt8]) -> [UInt8] {
      var path = prefix
      path.reserveCapacity(prefix.count + 1 + name.count)
      path.append(UInt8(ascii: "/"))
      path += name
      return path
    }

    /// The bytes of the directory's own path.
    var path: [UInt8] { prefix.isEmpty ? [UInt8(ascii: "/")] : prefix }

    /// The last component of its path, or `/` for the root directory.
    var name: [UInt8] {
      prefix.isEmpty ? path : prefix.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? path
    }
  }

  private let statement: RawStatement
  private var places: [DirectoryID: Place] = [:]

  init(_ database: Database) throws {
    statement = try RawStatement(
      database,
      "SELECT directory.parent_id, directory.path_name, root.path, root.is_available, directory.is_available FROM directory "
        + "LEFT JOIN root ON root.id = directory.root_id WHERE directory.id = ?")
  }

  /// - Throws: ``PhotoError`` `catalogDamaged` if there is no such directory.
  mutating func place(_ id: DirectoryID) throws -> Place {
    if let place = places[id] { return place }
    // The loop climbs to a known directory or a top, and then descends again. Without recursion the depth does not
    // matter.
    var below: [(id: DirectoryID, name: [UInt8], isAvailable: Bool)] = []
    var current = id
    var place: Place
    climbing: while true {
      if let known = places[current] {
        place = known
        break
      }
      statement.bind(1, current)
      let row = try statement.firstRow {
        (
          parent: statement.optionalDirectoryID(0), name: statement.bytes(1), root: statement.bytes(2),
          isRootAvailable: statement.bool(3), isAvailable: statement.bool(4)
        )
      }
      guard let row, below.count < 100_000 else {
        throw PhotoError(
          "catalogDamaged",
          "The catalog has a file in a directory that it doesn't know (\(current)). "
            + "Stop photod and move the catalog away; the next start makes a new one.")
      }
      guard let parent = row.parent else {
        place = Place(prefix: row.root == [UInt8(ascii: "/")] ? [] : row.root, isAvailable: row.isRootAvailable)
        places[current] = place
        break climbing
      }
      below.append((current, row.name, row.isAvailable))
      current = parent
    }
    for (id, name, isAvailable) in below.reversed() {
      place = Place(prefix: place.path(of: name), isAvailable: place.isAvailable && isAvailable)
      places[id] = place
    }
    return place
  }
}
