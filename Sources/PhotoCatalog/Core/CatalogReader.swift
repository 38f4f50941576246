import GRDB

/// Reads the catalog in one snapshot. It is valid only in the closure to which it is passed.
package struct CatalogReader {
  package let database: Database
  let catalog: Catalog
}
