// SPDX-License-Identifier: GPL-2.0-or-later

/// The file systems that the roots are on.
struct Mounts {
  var points = MountPoints()
  var fileSystems = FileSystems()
  /// A root on a share is not touched, because it could block for ever, and all other roots with it.
  var refusesShares = false
}
