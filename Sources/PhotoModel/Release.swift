/// The release. Its programs, its library and its manual are released together.
package enum Release {
  /// The version, by Semantic Versioning (https://semver.org).
  package static let version = "0.1.0"
}
