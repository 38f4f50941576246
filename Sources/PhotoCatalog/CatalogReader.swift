import GRDB

/// What can be read of the catalog, in one snapshot. Only inside the closure that it was given to.
package struct CatalogReader {
  package let database: Database
  let catalog: Catalog
}
