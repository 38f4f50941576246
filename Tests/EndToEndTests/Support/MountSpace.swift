import Foundation
import Glibc
import Testing

/// A mount namespace with a drive in it: a tmpfs with a folder that is mounted and unmounted as if a cable were pulled.
///
/// What is started through ``launcher`` lives in it. The test itself reaches its files through ``outside(_:)``.
final class MountSpace {
  /// Whether users may have namespaces of their own here.
  static let isPermitted =
    system("unshare -Urm sh -c 'mount -t tmpfs none /mnt && nsenter --version && umount /mnt' >/dev/null 2>&1") == 0

  private let holder = Process()
  private let orders = Pipe()
  private let answers = Pipe()
  /// Where the drive is mounted, for who lives in the namespace.
  let drive: String
  private let backing: String

  /// Makes the drive, and mounts it.
  init(directory: String) throws {
    drive = directory + "/drive"
    backing = directory + "/backing"
    for path in [drive, backing] { mkdir(path, 0o755) }
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    holder.arguments = ["unshare", "-Urm", "sh", "-c", "while read -r line; do eval \"$line\"; echo $?; done"]
    holder.standardInput = orders
    holder.standardOutput = answers
    holder.standardError = FileHandle.nullDevice
    try holder.run()
    try order("mount -t tmpfs none '\(backing)' && mkdir '\(backing)/content'")
    try mount()
  }

  /// With all that lives in it still there, it stays until that ends.
  func end() {
    orders.fileHandleForWriting.closeFile()
    holder.waitUntilExit()
  }

  var launcher: [String] {
    ["nsenter", "--preserve-credentials", "-U", "-m", "-t", "\(holder.processIdentifier)"]
  }

  /// A path of the namespace as the test can open it.
  func outside(_ path: String) -> String { "/proc/\(holder.processIdentifier)/root" + path }

  func mount() throws { try order("mount --bind '\(backing)/content' '\(drive)'") }

  /// Waits for who uses it; after some seconds it goes nevertheless.
  func unmount() throws {
    try order(
      "n=0; until umount '\(drive)'; do n=$((n+1)); [ $n = 100 ] && umount -l '\(drive)' && break; sleep 0.02; done")
  }

  private func order(_ command: String) throws {
    try orders.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    let answer = String(decoding: answers.fileHandleForReading.availableData, as: UTF8.self)
    try #require(answer == "0\n", "\(command): \(answer)")
  }
}
