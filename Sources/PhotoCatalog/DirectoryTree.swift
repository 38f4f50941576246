import GRDB
import PhotoModel

/// Paths of directories, each found once: one lookup by key for every directory and its parents. For one call, since
/// what it remembers is of one snapshot.
struct DirectoryTree {
  struct Place {
    /// Without a slash at its end: the root `/` is empty.
    var prefix: [UInt8]
    /// The volume of its root is there, and what is mounted between the root and it.
    var isAvailable: Bool

    /// The bytes of the path of a file here.
    func path(of name: [UInt8]) -> [UInt8] { prefix + [UInt8(ascii: "/")] + name }

    /// The bytes of the directory's own path.
    var path: [UInt8] { prefix.isEmpty ? [UInt8(ascii: "/")] : prefix }

    /// The last component of its path; of `/` that itself.
    var name: [UInt8] {
      prefix.isEmpty ? path : prefix.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? path
    }
  }

  private let statement: RawStatement
  private var places: [Int64: Place] = [:]

  init(_ database: Database) throws {
    statement = try RawStatement(
      database,
      "SELECT directory.parent_id, directory.name, root.path, root.is_available, directory.is_available FROM directory "
        + "LEFT JOIN root ON root.id = directory.root_id WHERE directory.id = ?")
  }

  /// - Throws: ``PhotoError`` `catalogDamaged` when there is no such directory.
  mutating func place(_ id: Int64) throws -> Place {
    if let place = places[id] { return place }
    // Up to a directory that is known or a top, then down again: no recursion, however deep the tree.
    var below: [(id: Int64, name: [UInt8], isAvailable: Bool)] = []
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
          parent: statement.optionalInt64(0), name: statement.bytes(1), root: statement.bytes(2),
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
