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

  @Test(arguments: [
    (
      "dnf",
      [
        "  dnf install libexif-devel expat-devel zlib-devel inotify-tools-devel sqlite-devel pkgconf-pkg-config python3"
      ]
    ),
    ("pacman", ["  pacman -S --needed libexif expat zlib inotify-tools sqlite pkgconf python"]),
    ("zypper", ["  Fedora: dnf install libexif-devel ", "  Arch:   pacman -S --needed libexif "]),
  ])
  func packagesAreNamedForOtherDistributions(_ manager: String, _ lines: [String]) throws {
    let folder = try TemporaryFolder("deps")
    for name in ["swift", manager] {
      let file = "\(folder.path)/\(name)"
      try "#!/bin/sh\nexit 1\n".write(toFile: file, atomically: true, encoding: .utf8)
      try #require(chmod(file, 0o700) == 0)
    }
    // The system has only these two programs.
    let deps = try run(folder, ["/bin/sh", "\(Project.directory)/Scripts/deps"], ["PATH": folder.path])
    #expect(deps.status == 1, "\(deps.output)")
    for line in lines { #expect(deps.output.contains("\n\(line)"), "\(deps.output)") }
    #expect(deps.output.hasSuffix("then run make again.\n"), "\(deps.output)")
    // Tests whose programs are missing are skipped.
    let tests = try run(folder, ["/bin/sh", "\(Project.directory)/Scripts/deps", "--tests"], ["PATH": folder.path])
    #expect(tests.status == 0, "\(tests.output)")
  }
}
