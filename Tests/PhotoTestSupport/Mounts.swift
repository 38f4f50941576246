import Foundation
import Glibc
import TestTools

/// The environment "mounts": a separate mount namespace, in which a test mounts and unmounts. Other processes do not
/// see these mounts.
///
/// For an ordinary user it comes with a user namespace, in which tmpfs and bind mounts are permitted. Loop devices and
/// FUSE need root. The namespace and its mounts last as long as the process that holds it.
package final class MountNamespace {
  package static let isRoot = geteuid() == 0
  package static let isPermitted = works("mount -t tmpfs none /mnt && umount /mnt")
  /// Whether the system has loop devices and the tools to make file systems.
  package static let hasLoopDevices = isRoot && works(medium("mkfs.ext4 -q -F f && mount -o loop f m"))
  package static let hasFAT = isRoot && works(medium("mkfs.vfat f && fusefat -o rw+ f m"))

  private static func medium(_ mounting: String) -> String {
    "d=$(mktemp -d) && cd $d && mkdir m && truncate -s 4M f && \(mounting) && umount m; s=$?; cd /; rm -rf $d; exit $s"
  }

  private static let unshare = isRoot ? "unshare -m" : "unshare -Urm"

  private static func works(_ script: String) -> Bool {
    system("PATH=$PATH:/usr/sbin:/sbin \(unshare) sh -c '\(script)' >/dev/null 2>&1") == 0
  }

  private let holder = TestProcess()
  private let input = Pipe()
  private let output: String

  /// - Parameter folder: Receives the output of the scripts that run in the namespace.
  package init(folder: String) throws {
    output = folder + "/output"
    holder.executableURL = URL(fileURLWithPath: "/bin/sh")
    // `cat` ends when its input is closed, which happens at the latest when this process ends.
    holder.arguments = ["-c", "exec \(Self.unshare) sh -c 'echo ready; exec cat >/dev/null'"]
    holder.standardInput = input
    let answer = Pipe()
    holder.standardOutput = answer
    try holder.run()
    // This waits for the line, or for the end of a program that could not make the namespace.
    if answer.fileHandleForReading.availableData.isEmpty {
      end()
      throw POSIXError(.EPERM, userInfo: [NSLocalizedDescriptionKey: "no mount namespace: \(Self.unshare)"])
    }
  }

  package func end() {
    holder.signal(SIGKILL)
    holder.waitUntilExit()
  }

  /// The words before a command that make it run in the namespace.
  package var entry: [String] {
    ["nsenter", "-t", "\(holder.processIdentifier)", "-m"] + (Self.isRoot ? [] : ["-U", "--preserve-credentials"])
  }

  /// The path under which processes outside of the namespace can open a path inside of it.
  package func outside(_ path: String) -> String { "/proc/\(holder.processIdentifier)/root" + path }

  /// Runs a shell script to its end, and returns its output.
  @discardableResult
  package func run(_ script: String) throws -> String {
    // A daemon that the script starts would keep a pipe open.
    let name = output + UUID().uuidString
    try Data().write(to: URL(fileURLWithPath: name))
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = entry + ["sh", "-ec", "PATH=$PATH:/usr/sbin:/sbin\n" + script]
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: name))
    process.standardError = process.standardOutput
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOfFile: name, encoding: .utf8)
    try require(process.terminationReason == .exit && process.terminationStatus == 0, "\(script): \(text)")
    return text
  }
}
