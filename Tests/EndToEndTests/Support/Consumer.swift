import Foundation
import Glibc
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// A program that runs photoctl and reads its output.
final class Consumer: Sendable {
  private let program: String
  private let arguments: [String]
  private let environment: [String: String]
  private let log: String
  private let killsGroup: Bool
  private let process = Mutex<TestProcess?>(nil)

  /// - Parameter killsGroup: whether ``kill()`` also ends the processes that the program started.
  init(_ program: String, _ arguments: [String], _ fixture: DaemonFixture, killsGroup: Bool = false) {
    self.killsGroup = killsGroup
    self.program = program
    self.arguments = arguments
    log = fixture.directory + "/consumer-log"
    // Scripts call photoctl by its name, and photoctl finds the socket itself.
    environment = ["PATH": BuiltPrograms.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")]
      .merging(fixture.runtimeEnvironment) { $1 }
  }

  /// - Returns: whether the program had ended.
  @discardableResult
  func startIfNeeded() throws -> Bool {
    try process.withLock { process in
      if let process, process.isRunning { return false }
      let new = TestProcess()
      new.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      new.arguments = [program] + arguments
      new.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(fileURLWithPath: log)) }
      let errors = try #require(FileHandle(forWritingAtPath: log))
      try errors.seekToEnd()
      new.standardError = errors
      try new.run()
      process = new
      return true
    }
  }

  /// The last part of the errors of the program and of its processes.
  var errorText: String {
    FileManager.default.contents(atPath: log).map { String(decoding: $0.suffix(2_000), as: UTF8.self) } ?? ""
  }

  var processID: pid_t? { process.withLock { $0?.processIdentifier } }

  func signal(_ number: Int32) {
    guard let processID else { return }
    Glibc.kill(processID, number)
  }

  /// Kills the program, and waits for its end. Its photoctl notices that by itself.
  func kill() {
    process.withLock { process in
      guard let process, process.isRunning else { return }
      let leads = killsGroup && getpgid(process.processIdentifier) == process.processIdentifier
      Glibc.kill(leads ? -process.processIdentifier : process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// The photoctl that it runs now, or nil.
  var photoctl: pid_t? {
    guard let processID else { return nil }
    do {
      let children = try String(contentsOfFile: "/proc/\(processID)/task/\(processID)/children", encoding: .utf8)
      return try children.split(separator: " ").compactMap { pid_t($0) }.first {
        try String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8) == "photoctl\n"
      }
    } catch {
      return nil  // one of them ended in the meantime
    }
  }

  func killPhotoctl() {
    if let photoctl { Glibc.kill(photoctl, SIGKILL) }
  }
}
