// SPDX-License-Identifier: GPL-2.0-or-later

/// The files that events named and that were not reported yet.
struct FileChanges {
  /// The files to look at and report.
  var pending = PendingFiles()
  /// The files that may still be incomplete.
  var unreported = UnreportedFiles()
  /// The renames whose second half was not read yet.
  var held = HeldMoves()
}
