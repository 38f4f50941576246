// SPDX-License-Identifier: GPL-2.0-or-later

/// Directories about which photod-watch has to decide something later. There are few.
struct UnsettledDirectories {
  /// Directories that are missing from their places.
  var missing: [NodeIndex: Missing] = [:]
  /// Missing directories by the places that events named last, if the tree has them elsewhere: another directory got the
  /// place, or nothing was there any more when photod-watch looked. The event of their next rename names these places.
  var seats: [FilePlace: NodeReference] = [:]
  /// By parent, the names of directories that could not be entered and so are not in the tree.
  var unentered: [NodeIndex: Set<[UInt8]>] = [:]
  /// Directories of which something could not be read.
  var retries: [NodeIndex: ListingRetry] = [:]
}
