import Glibc
import Testing

/// A mount namespace with a drive in it: a tmpfs with a folder that is mounted and unmounted as if a cable were pulled.
///
/// What is started through ``launcher`` lives in it. The test itself reaches its files through ``outside(_:)``.
final class MountSpace {
  static var isPermitted: Bool { MountNamespace.isPermitted }

  private let namespace: MountNamespace
  /// Where the drive is mounted, for who lives in the namespace.
  let drive: String
  private let backing: String

  /// Makes the drive, and mounts it.
  init(directory: String) throws {
    drive = directory + "/drive"
    backing = directory + "/backing"
    for path in [drive, backing] { mkdir(path, 0o755) }
    namespace = try MountNamespace(folder: directory)
    try namespace.run("mount -t tmpfs none '\(backing)'; mkdir '\(backing)/content'")
    try mount()
  }

  /// With all that lives in it still there, it stays until that ends.
  func end() { namespace.end() }

  var launcher: [String] { namespace.entry }

  /// A path of the namespace as the test can open it.
  func outside(_ path: String) -> String { namespace.outside(path) }

  func mount() throws { try namespace.run("mount --bind '\(backing)/content' '\(drive)'") }

  /// Waits for who uses it; after some seconds it goes nevertheless.
  func unmount() throws {
    try namespace.run(
      "n=0; until umount '\(drive)'; do n=$((n+1)); [ $n = 100 ] && umount -l '\(drive)' && break; sleep 0.02; done")
  }
}
