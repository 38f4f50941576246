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
    let deadline = ContinuousClock.now + .seconds(60)
    do {
      while !FileManager.default.fileExists(atPath: folder + "/ready") {
        try #require(holder.isRunning, "no mount namespace: \(Self.unshare)")
        try #require(ContinuousClock.now < deadline, "no mount namespace within a minute: \(Self.unshare)")
        usleep(1000)
      }
    } catch {
      if holder.isRunning { end() }
      throw error
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

  /// A path of the namespace as who is not in it can open it.
  func outside(_ path: String) -> String { "/proc/\(holder.processIdentifier)/root" + path }

  /// Runs a script of the shell to its end.
  @discardableResult
  func run(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let name = output + UUID().uuidString
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, name, O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // Foundation's Process takes a program for running while a daemon that it started holds what it inherited.
    for descriptor in 3..<Int32(256) { posix_spawn_file_actions_addclose(&actions, descriptor) }
    let arguments = ["env"] + entry + ["sh", "-ec", "PATH=$PATH:/usr/sbin:/sbin\n" + script]
    let pointers = arguments.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, "/usr/bin/env", &actions, nil, pointers + [nil], environ)
    try #require(code == 0, "\(String(cString: strerror(code)))")
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 { try #require(errno == EINTR) }
    let text = try String(contentsOfFile: name, encoding: .utf8)
    try #require(status == 0, "\(script): \(text)", sourceLocation: sourceLocation)
    return text
  }
}
