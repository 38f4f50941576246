/// What this is a version of. Its programs, its library and its manual are released together.
package enum Release {
  /// By Semantic Versioning (https://semver.org).
  package static let version = "0.1.0"
}
