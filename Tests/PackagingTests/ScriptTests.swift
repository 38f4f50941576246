import Foundation
import Glibc
import TestTools
import Testing

/// The commands behind the Makefile, in a folder of their own.
@Suite struct ScriptTests {
  private struct Run {
    let status: Int32
    let output: String
  }

  /// Runs a program until it ends. A file takes its output, because a daemon that it starts would keep a pipe open.
  private func run(_ folder: TemporaryFolder, _ arguments: [String], _ environment: [String: String]) throws -> Run {
    let file = folder.path + "/" + UUID().uuidString
    try Data().write(to: URL(fileURLWithPath: file))
    let output = try #require(FileHandle(forWritingAtPath: file))
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationReason == .exit, "\(arguments) ended by signal \(process.terminationStatus)")
    return Run(status: process.terminationStatus, output: try String(contentsOfFile: file, encoding: .utf8))
  }

  @Test(.timeLimit(.minutes(10))) func makeRunEndsTheEarlierOneWithAMessage() throws {
    let folder = try TemporaryFolder("run")
    let scripts = Project.directory + "/Scripts"
    var environment = ProcessInfo.processInfo.environment
    for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"] { environment[name] = folder.path }
    for root in ["one", "two"] { try #require(mkdir("\(folder.path)/\(root)", 0o700) == 0) }
    func start(_ root: String) throws -> Run {
      try run(folder, ["\(scripts)/run", BuiltPrograms.folder, "\(folder.path)/\(root)"], environment)
    }
    func process() throws -> String {
      try String(contentsOfFile: folder.path + "/.build/run/photod.pid", encoding: .utf8)
        .trimmingCharacters(in: .newlines)
    }
    let first = try start("one")
    let earlier = try process()
    defer { #expect(throws: Never.self) { _ = try run(folder, ["\(scripts)/stop"], environment) } }
    #expect(first.status == 0 && !first.output.contains("was ended"), "\(first.output)")
    #expect(first.output.contains("\(folder.path)/one  online"), "\(first.output)")
    let second = try start("two")
    #expect(second.status == 0, "\(second.output)")
    #expect(second.output.hasPrefix("The photod of the earlier make run (process \(earlier)) was ended.\n"))
    #expect(second.output.contains("\(folder.path)/two  online"), "\(second.output)")
    #expect(try process() != earlier)
    let none = try run(
      folder, ["\(scripts)/run", BuiltPrograms.folder, "\(folder.path)/none"], environment)
    #expect(none.status == 1 && none.output == "ROOT=\(folder.path)/none is no folder.\n")
    #expect(try run(folder, ["\(scripts)/stop"], environment).output == "photod was ended.\n")
    #expect(try run(folder, ["\(scripts)/stop"], environment).output == "No photod of this clone is running.\n")
  }

  private static let fedora =
    "dnf install libexif-devel expat-devel zlib-devel inotify-tools-devel sqlite-devel pkgconf-pkg-config python3 "
    + "libheif-devel libjxl-devel lcms2-devel LibRaw-devel vips-devel ffmpeg-free-devel libjpeg-turbo-devel\n"
  private static let arch =
    "pacman -S --needed libexif expat zlib inotify-tools sqlite pkgconf python libheif libjxl lcms2 libraw libvips "
    + "ffmpeg libjpeg-turbo\n"
  private static let missing =
    "Packages are missing, and this script installs them only on Debian and Ubuntu. As root, run\n"

  @Test(arguments: [
    ("dnf", "  \(fedora)"), ("pacman", "  \(arch)"),
    ("zypper", "  Fedora: \(fedora)  Arch:   \(arch)or install the same packages of your distribution,\n"),
  ])
  func packagesAreNamedForOtherDistributions(_ manager: String, _ lines: String) throws {
    // The system has only these two programs.
    let folder = try programs(["swift": 1, manager: 1])
    let deps = try run(folder, ["/bin/sh", "\(Project.directory)/Scripts/deps"], ["PATH": folder.path])
    #expect(deps.status == 1 && deps.output == "\(Self.missing)\(lines)then run make again.\n", "\(deps.output)")
    // Tests whose programs are missing are skipped.
    let tests = try run(folder, ["/bin/sh", "\(Project.directory)/Scripts/deps", "--tests"], ["PATH": folder.path])
    #expect(tests.status == 0, "\(tests.output)")
  }

  /// inotify-tools and Python have no .pc files, so pkg-config alone can't tell that they are missing.
  @Test(
    arguments: [
      (["pkg-config": 0, "cc": 0, "python3": 0], true), (["pkg-config": 1, "cc": 0, "python3": 0], false),
      (["pkg-config": 0, "cc": 1, "python3": 0], false), (["pkg-config": 0, "python3": 0], false),
      (["pkg-config": 0, "cc": 0], false), (["pkg-config": 0, "clang": 0, "cc": 1, "python3": 0], true),
    ] as [([String: Int], Bool)])
  func packagesAreFoundOnOtherDistributions(_ installed: [String: Int], _ areComplete: Bool) throws {
    let folder = try programs(installed.merging(["swift": 1, "dnf": 1]) { $1 })
    let deps = try run(folder, ["/bin/sh", "\(Project.directory)/Scripts/deps"], ["PATH": folder.path])
    if areComplete {
      #expect(deps.status == 0 && deps.output.isEmpty, "\(deps.output)")
    } else {
      #expect(deps.status == 1 && deps.output.hasPrefix(Self.missing), "\(deps.output)")
    }
  }

  /// A folder of programs that end with these codes.
  private func programs(_ codes: [String: Int]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder("deps")
    for (name, code) in codes {
      let file = "\(folder.path)/\(name)"
      try "#!/bin/sh\nexit \(code)\n".write(toFile: file, atomically: true, encoding: .utf8)
      try #require(chmod(file, 0o700) == 0)
    }
    return folder
  }
}
