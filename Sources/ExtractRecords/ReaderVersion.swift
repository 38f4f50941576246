/// The version of the rules by which photod-extract reads files.
///
/// The catalog keeps with each file the version that read it. If a newer reader comes, the files that have a failure are
/// read again: those that ended the older reader, that took too long, or that it found damaged. Other files are read again
/// only if a migration says so, because their facts were read in full.
package enum ReaderVersion {
  /// Raise it whenever photod-extract can read a file that it could not read before.
  package static let current: Int64 = 1
}
