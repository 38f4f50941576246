// SPDX-License-Identifier: GPL-2.0-or-later

/// Directories about which photod-watch has to decide something later. There are few.
struct UnsettledDirectories {
  /// Directories that are missing from their places.
  var missing: [NodeIndex: Missing] = [:]
  /// The directory whose name another one got last. If the two were exchanged, the next event reports that it leaves this
  /// name.
  var lastDisplaced: NodeReference?
  /// By parent, the names of directories that could not be entered and so are not in the tree.
  var unentered: [NodeIndex: Set<[UInt8]>] = [:]
  /// Directories of which something could not be read.
  var retries: [NodeIndex: ListingRetry] = [:]
}
