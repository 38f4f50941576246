/// The names in the folder `temporary` of the cache directory that are not of the store.
package enum TemporaryNames {
  /// The beginning of the names of copies of files on shares.
  package static let copyStart = "copy-"
}
