import Foundation
import Glibc
import Testing

/// A mount namespace of its own, in which a test mounts and unmounts without anybody else seeing it. An ordinary user gets
/// a user namespace with it, in which tmpfs and bind mounts are permitted; loop devices and FUSE need root.
///
/// It lasts as long as the process that holds it: with that every mount in it is gone.
final class MountNamespace {
  static let isRoot = geteuid() == 0
  static let isPermitted = works("mount -t tmpfs none /mnt && umount /mnt")
  /// The system's image tools and loop devices.
  static let hasLoopDevices = isRoot && works(medium("mkfs.ext4 -q -F f && mount -o loop f m"))
  static let hasFAT = isRoot && works(medium("mkfs.vfat f && fusefat -o rw+ f m"))

  private static func medium(_ mounting: String) -> String {
    "d=$(mktemp -d) && cd $d && mkdir m && truncate -s 4M f && \(mounting) && umount m; s=$?; cd /; rm -rf $d; exit $s"
  }

  private static let unshare = isRoot ? "unshare -m" : "unshare -Urm"

  private static func works(_ script: String) -> Bool {
    system("PATH=$PATH:/usr/sbin:/sbin \(unshare) sh -c '\(script)' >/dev/null 2>&1") == 0
  }

  private let holder = Process()
  private let input = Pipe()
  private let output: String

  /// - Parameter folder: for the output of what runs in it.
  init(folder: String) throws {
    output = folder + "/output"
    holder.executableURL = URL(fileURLWithPath: "/bin/sh")
    // It ends when its input does, so with this process at the latest.
    holder.arguments = ["-c", "exec \(Self.unshare) sh -c 'echo ready >\(folder)/ready; exec cat >/dev/null'"]
    holder.standardInput = input
    try holder.run()
    while !FileManager.default.fileExists(atPath: folder + "/ready") {
      try #require(holder.isRunning, "no mount namespace: \(Self.unshare)")
      usleep(1000)
    }
  }

  func end() {
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
  }

  /// What a command is prefixed with to run in here.
  var entry: [String] {
    ["nsenter", "-t", "\(holder.processIdentifier)", "-m"] + (Self.isRoot ? [] : ["-U", "--preserve-credentials"])
  }

  /// Runs a script of the shell to its end.
  @discardableResult
  func run(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = entry + ["sh", "-ec", "PATH=$PATH:/usr/sbin:/sbin\n" + script]
    // A file: a pipe is open for as long as a daemon has it that another test starts meanwhile.
    let name = output + UUID().uuidString
    _ = FileManager.default.createFile(atPath: name, contents: nil)
    let file = try #require(FileHandle(forWritingAtPath: name))
    process.standardOutput = file
    process.standardError = file
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOfFile: name, encoding: .utf8)
    try #require(process.terminationStatus == 0, "\(script): \(text)", sourceLocation: sourceLocation)
    return text
  }
}
