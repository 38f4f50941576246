import Foundation
import Glibc
import PhotoModel
import TestTools
import Varlink

/// The environment "spawned daemon": a photod of its own, spawned from the build products. Its folder of photos, its catalog
/// and its socket are in one temporary directory.
///
/// ```swift
/// try await DaemonFixture.with { fixture in
///   try fixture.write("a.jpg")
///   try await fixture.start()
///   try await fixture.synchronize()
/// }
/// ```
package final class DaemonFixture {
  private let folder: TemporaryFolder
  package var directory: String { folder.path }
  package var photos: String { directory + "/photos" }
  package var socket: String { directory + "/s" }
  /// A folder of the fixture's, where the catalog is not beside the photos.
  package var catalogFolder: String?
  package var catalog: String { (catalogFolder ?? directory) + "/catalog.sqlite" }
  /// Variables for started processes, beside those of the test itself.
  package var environment: [String: String] = [:]
  /// The program that becomes photod, with its arguments.
  package var launcher: [String] = []
  package private(set) var process: TestProcess?
  private let log: FileHandle

  private init() throws {
    folder = try TemporaryFolder("e2e")
    let directory = folder.path
    try FileManager.default.createDirectory(atPath: directory + "/photos", withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: directory + "/log", contents: nil)
    log = try require(FileHandle(forWritingAtPath: directory + "/log"), "the log can't be written")
  }

  /// Runs `body` with a fixture, ends what it started, and removes its directory. When `body` fails the log is printed.
  package static func with(_ body: (DaemonFixture) async throws -> Void) async throws {
    await InotifyPlaces.shared.enter()
    defer { InotifyPlaces.shared.leave() }
    let fixture = try DaemonFixture()
    do {
      try await body(fixture)
    } catch {
      fixture.kill(SIGKILL)
      print("---- photod's log:\n\(try fixture.logText().suffix(4000))----")
      throw error
    }
    fixture.kill(SIGKILL)
  }

  // MARK: The process

  package func logText() throws -> String { try String(contentsOfFile: directory + "/log", encoding: .utf8) }

  /// Starts photod and returns when it answers.
  package func start(grace: Int = 0, roots: [String]? = nil, arguments: [String] = []) async throws {
    try spawn(grace: grace, roots: roots, arguments: arguments)
    try await eventually("photod answers", isNotYet: mayAnswerLater) {
      _ = try await status()
      return true
    }
  }

  /// The socket may not exist yet, or photod may just have found that the catalog is damaged, and open another.
  private func mayAnswerLater(_ error: any Error) -> Bool {
    switch error {
    case is VarlinkClientError: process?.isRunning == true
    case let error as VarlinkError: error.name == "org.photod.library.LibraryUnavailable"
    default: false
    }
  }

  package func spawn(grace: Int = 0, roots: [String]? = nil, arguments: [String] = []) throws {
    let process = TestProcess()
    let program = BuiltPrograms.path("photod")
    process.executableURL = URL(fileURLWithPath: launcher.isEmpty ? program : "/usr/bin/env")
    process.arguments =
      (launcher.isEmpty ? [] : launcher + [program]) + (roots ?? [photos]).flatMap { ["--root", $0] }
      + ["--catalog", catalog, "--socket", socket, "--removal-grace", "\(grace)"] + arguments
    process.standardError = log
    process.standardOutput = log
    var environment = ProcessInfo.processInfo.environment
    environment["XDG_RUNTIME_DIR"] = directory
    environment["XDG_CONFIG_HOME"] = directory + "/config"
    environment["XDG_CACHE_HOME"] = directory + "/cache"
    environment["XDG_STATE_HOME"] = directory + "/state-home"
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment.merging(self.environment) { $1 }
    try process.run()
    self.process = process
  }

  /// With this photoctl finds the socket by itself, which takes ``linkSocket()``.
  package var runtimeEnvironment: [String: String] { ["XDG_RUNTIME_DIR": directory + "/run"] }

  /// Makes a link to the socket at the place where photoctl looks for it.
  package func linkSocket() throws {
    try FileManager.default.createDirectory(atPath: directory + "/run/photod", withIntermediateDirectories: true)
    try require(symlink(socket, directory + "/run/photod/photod.sock") == 0, "symlink: \(errno)")
  }

  package var processID: pid_t { process!.processIdentifier }

  /// Sends a signal and, if it ends the process, waits for its end.
  package func kill(_ signal: Int32) {
    guard let process else { return }
    process.signal(signal)
    if signal == SIGKILL || signal == SIGTERM { process.waitUntilExit() }
  }

  /// The photod-watch of this photod.
  package func watchProcessID() throws -> pid_t {
    guard let child = try childProcessIDs(named: "photod-watch").first else { throw POSIXError(.ESRCH) }
    return child
  }

  /// The processes that this photod has started, by the name of their program.
  package func childProcessIDs(named name: String) throws -> [pid_t] {
    let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task")
    return try tasks.flatMap { task in
      let children = try String(contentsOfFile: "/proc/\(processID)/task/\(task)/children", encoding: .utf8)
      return children.split(separator: " ").compactMap { pid_t($0) }
    }.filter { child in
      // A child may end meanwhile. The kernel cuts names off after 15 bytes.
      let comm = (try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)) ?? ""
      return comm.dropLast() == name.prefix(15)
    }
  }
}
