import Foundation
import PhotoClient
import Synchronization
import TestTools
import Testing
import Varlink

/// A daemon with scripted answers, on a socket in its own folder, with the interface files of the contract.
struct ScriptedDaemon: Sendable {
  typealias Answer = @Sendable (VarlinkServiceCall) async throws -> Void

  let path: String
  let service: VarlinkService
  private let log: CallLog

  /// The methods that were called, in order.
  var calls: [String] { log.calls.withLock { $0 } }

  func library(clientName: String? = nil) -> PhotoLibrary { PhotoLibrary(socketPath: path, clientName: clientName) }

  /// Runs a test against a live service, then shuts it down and waits for its end.
  static func with(
    _ answers: [String: Answer], _ body: @Sendable (ScriptedDaemon) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { try await with(answers, in: $0, body) }
  }

  /// Does the same in an existing folder, so that one daemon can follow another.
  static func with(
    _ answers: [String: Answer], in directory: String, _ body: @Sendable (ScriptedDaemon) async throws -> Void
  ) async throws {
    let log = CallLog()
    let service = VarlinkService(
      identity: .init(vendor: "Example", product: "scripted", version: "1", url: "https://example.org"),
      interfaces: try ["org.photod.library", "org.photod.manage", "org.photod.images"].map {
        try ScriptedInterface(name: $0, answers: answers, log: log)
      })
    let daemon = ScriptedDaemon(path: directory + "/photod.sock", service: service, log: log)
    let descriptor = try VarlinkSocket.listen(path: daemon.path)
    defer { unlink(daemon.path) }
    try await withThrowingTaskGroup { group in
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      try await body(daemon)
    }
  }
}

func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  let folder = try TemporaryFolder("client")
  defer { withExtendedLifetime(folder) {} }
  try await body(folder.path)
}

private final class CallLog: Sendable {
  let calls = Mutex<[String]>([])
}

private final class ScriptedInterface: VarlinkInterface {
  let name: String
  let definition: String
  private let log: CallLog
  private let answers: [String: ScriptedDaemon.Answer]

  init(name: String, answers: [String: ScriptedDaemon.Answer], log: CallLog) throws {
    self.name = name
    self.log = log
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    definition = try String(
      contentsOf: package.appending(path: "Sources/PhotoContract/\(name).varlink"), encoding: .utf8)
    self.answers = answers
  }

  func respond(to call: VarlinkServiceCall) async throws {
    log.calls.withLock { $0.append(call.method) }
    guard let answer = answers[call.method] else { throw VarlinkError.methodNotImplemented(call.method) }
    try await answer(call)
  }
}
