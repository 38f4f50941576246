/// The catalog's schema, in steps that are applied in order and never edited once they have shipped.
package enum Migrations {
  package struct Step: Sendable {
    /// Stable: what the catalog remembers as applied.
    package let name: String
    package let sql: String
  }

  /// The tables after all steps, with the rows that the steps leave in them. A new catalog is made of it, because the steps
  /// would take 20 ms. SchemaTests compares this file with the steps, and writes it.
  package static let schema = String(decoding: PackageResources.schema_sql, as: UTF8.self)

  package static let steps = [
    Step(name: "v001-catalog", sql: String(decoding: PackageResources.v001_catalog_sql, as: UTF8.self)),
    Step(name: "v002-keywords", sql: String(decoding: PackageResources.v002_keywords_sql, as: UTF8.self)),
    Step(name: "v003-identity", sql: String(decoding: PackageResources.v003_identity_sql, as: UTF8.self)),
    Step(name: "v004-user-data", sql: String(decoding: PackageResources.v004_user_data_sql, as: UTF8.self)),
    Step(name: "v005-volumes", sql: String(decoding: PackageResources.v005_volumes_sql, as: UTF8.self)),
    Step(name: "v006-seen", sql: String(decoding: PackageResources.v006_seen_sql, as: UTF8.self)),
    Step(name: "v007-text", sql: String(decoding: PackageResources.v007_text_sql, as: UTF8.self)),
    Step(name: "v008-identity", sql: String(decoding: PackageResources.v008_identity_sql, as: UTF8.self)),
    Step(name: "v009-dates", sql: String(decoding: PackageResources.v009_dates_sql, as: UTF8.self)),
    Step(name: "v010-parked", sql: String(decoding: PackageResources.v010_parked_sql, as: UTF8.self)),
    Step(name: "v011-user-data", sql: String(decoding: PackageResources.v011_user_data_sql, as: UTF8.self)),
    Step(name: "v012-smart-albums", sql: String(decoding: PackageResources.v012_smart_albums_sql, as: UTF8.self)),
    Step(name: "v013-duplicates", sql: String(decoding: PackageResources.v013_duplicates_sql, as: UTF8.self)),
    Step(
      name: "v014-user-smart-albums",
      sql: String(decoding: PackageResources.v014_user_smart_albums_sql, as: UTF8.self)),
    Step(name: "v015-placements", sql: String(decoding: PackageResources.v015_placements_sql, as: UTF8.self)),
    Step(name: "v016-readers", sql: String(decoding: PackageResources.v016_readers_sql, as: UTF8.self)),
    Step(
      name: "v017-reader-version", sql: String(decoding: PackageResources.v017_reader_version_sql, as: UTF8.self)),
    Step(
      name: "v018-content-versions",
      sql: String(decoding: PackageResources.v018_content_versions_sql, as: UTF8.self)),
    Step(name: "v019-invisible", sql: String(decoding: PackageResources.v019_invisible_sql, as: UTF8.self)),
  ]
}
