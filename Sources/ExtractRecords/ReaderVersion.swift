/// The version of the rules by which photod-extract reads files.
///
/// The catalog has for each file the version that read it. After an update to a newer version, photod reads the
/// files again that an older version could not read: photod-extract crashed, took too long, or found the file damaged. Other files
/// are read again only if a migration requests it, because their facts were read in full.
package enum ReaderVersion {
  /// Raise it whenever photod-extract can read a file that it could not read before.
  package static let current: Int64 = 2
}
