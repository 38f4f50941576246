import Foundation
import PhotoClient
import Synchronization
import Testing
import Varlink

/// A daemon that answers what a test says, on a socket in a folder of its own, with the contract's interface file.
struct ScriptedDaemon: Sendable {
  typealias Answer = @Sendable (VarlinkServiceCall) async throws -> Void

  let path: String
  let service: VarlinkService
  private let interface: ScriptedInterface

  /// The methods that were called, in order.
  var calls: [String] { interface.calls.withLock { $0 } }

  func library(clientName: String? = nil) -> PhotoLibrary { PhotoLibrary(socketPath: path, clientName: clientName) }

  /// Runs a test against a live service, then shuts it down and waits for its end.
  static func with(
    _ answers: [String: Answer], _ body: @Sendable (ScriptedDaemon) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { try await with(answers, in: $0, body) }
  }

  /// The same in a folder that is there, so that one daemon can follow another.
  static func with(
    _ answers: [String: Answer], in directory: String, _ body: @Sendable (ScriptedDaemon) async throws -> Void
  ) async throws {
    let interface = try ScriptedInterface(answers: answers)
    let service = VarlinkService(
      identity: .init(vendor: "Example", product: "scripted", version: "1", url: "https://example.org"),
      interfaces: [interface])
    let daemon = ScriptedDaemon(path: directory + "/photod.sock", service: service, interface: interface)
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
  var template = Array((NSTemporaryDirectory() + "/photoclient-XXXXXX").utf8CString)
  let made = try #require(mkdtemp(&template))
  let directory = String(cString: made)
  defer { do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) } }
  try await body(directory)
}

private final class ScriptedInterface: VarlinkInterface {
  let name = "org.photod.library"
  let definition: String
  let calls = Mutex<[String]>([])
  private let answers: [String: ScriptedDaemon.Answer]

  init(answers: [String: ScriptedDaemon.Answer]) throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    definition = try String(
      contentsOf: package.appending(path: "Sources/PhotoServer/org.photod.library.varlink"), encoding: .utf8)
    self.answers = answers
  }

  func respond(to call: VarlinkServiceCall) async throws {
    calls.withLock { $0.append(call.method) }
    guard let answer = answers[call.method] else { throw VarlinkError.methodNotImplemented(call.method) }
    try await answer(call)
  }
}
