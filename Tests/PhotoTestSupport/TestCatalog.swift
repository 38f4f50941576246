import PhotoCatalog
import PhotoModel
import TestTools

/// The environment "catalog": a catalog in a temporary folder, which is removed when its last reference goes.
package final class TestCatalog: Sendable {
  private let temporary: TemporaryFolder
  package var folder: String { temporary.path }
  private var path: String { folder + "/catalog.sqlite" }

  /// The catalog as it was opened first.
  package let catalog: Catalog

  /// - Parameter name: a part of the folder's name, which tells a person whose it is if a test is killed.
  package init(_ name: String) throws {
    temporary = try TemporaryFolder(name)
    catalog = try Catalog(path: temporary.path + "/catalog.sqlite")
  }

  /// Opens the catalog once more, after it was closed.
  package func open() throws -> Catalog { try Catalog(path: path) }
}

extension Catalog {
  /// Adds a root with its directory, as a first scan does.
  ///
  /// - Returns: the id of the directory.
  package func addRoot(_ path: String) throws -> DirectoryID {
    try write { writer in
      try writer.insertDirectory(
        parentID: nil, rootID: try writer.insertRoot(path: Array(path.utf8)), name: [],
        volumeID: try writer.volume(identity: "v"), inode: 1, birthTime: 1
      )
    }
  }
}
