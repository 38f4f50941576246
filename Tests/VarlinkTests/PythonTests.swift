import Dispatch
import Foundation
import TestTools
import Testing
import Varlink

/// Runs Python, for a client that was written by others.
enum Python {
  struct Result: Sendable {
    var status: CInt
    var output: String
  }

  static let executable: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { access($0, X_OK) == 0 }

  static var isThere: Bool { executable != nil }

  /// Runs a program. Standard output and standard error are returned as one text.
  static func run(_ program: String, _ arguments: [String] = [], path: String = "") async throws -> Result {
    try await run(["-c", program] + arguments, path: path)
  }

  static func run(_ arguments: [String], path: String = "") async throws -> Result {
    let executable = try #require(executable)
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "python").async {
        continuation.resume(
          with: Swift.Result {
            let process = TestProcess()
            let pipe = Pipe()
            process.executableURL = URL(fileURLWithPath: executable)
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": path]) { $1 }
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
          })
      }
    }
  }

  /// The folder of the package `varlink`; nil if pip can't get it. It is fetched once in a test run.
  static func varlinkPackage() async throws -> String? { try await package.value }

  private static let package = Task { () -> String? in
    guard isThere else { return nil }
    let directory = NSTemporaryDirectory() + "/varlink-python-\(geteuid())"
    if try await run("import varlink", path: directory).status == 0 { return directory }
    let pip = try await run(
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", directory, "varlink"])
    return pip.status == 0 ? directory : nil
  }
}

extension LiveService {
  @Suite struct ForeignClients {
    @Test(.enabled("pip can't get the package varlink") { try await Python.varlinkPackage() != nil })
    func thePythonClientListsDescribesCallsAndStreams() async throws {
      let package = try #require(await Python.varlinkPackage())
      try await Fixture.with { fixture in
        let result = try await Python.run(
          """
          import sys, varlink
          client = varlink.Client("unix:" + sys.argv[1])
          info = client.get_interfaces()
          print(sorted(info))
          print(client.info["vendor"], client.info["version"])
          members = client.get_interface("org.example.test").members
          print(sorted(members))
          with client.open("org.example.test") as c:
              print(c.Echo("hé"))
              print([r["number"] for r in c.Count(3, _more=True)])
              c.Echo("one way", _oneway=True)
              print(c.Items(items=[{"name": "a", "kind": "file", "tags": [], "attributes": {}}])["items"][0]["name"])
              for call in (lambda: c.Fail("refused"), lambda: c.Fail("crash"), lambda: c.Later(), lambda: c.Count(3)):
                  try:
                      call()
                      print("no error")
                  except varlink.VarlinkError as e:
                      print(e.error(), e.parameters())
              print(c.Echo("still"))
          try:
              client.get_interface("org.nobody")
          except varlink.VarlinkError as e:
              print(e.error(), e.parameters())
          """, [fixture.path], path: package)
        #expect(
          result.output == """
            ['org.example.test', 'org.varlink.service']
            Example 1.2
            ['Count', 'Echo', 'Fail', 'Item', 'Items', 'Later', 'Pages', 'Refused', 'Release', 'Wait']
            {'text': 'hé'}
            [1, 2, 3]
            a
            org.example.test.Refused {'reason': 'because'}
            org.example.test.InternalError {'message': "Fail failed; the service's log says why. Try it again."}
            org.varlink.service.MethodNotImplemented {'method': 'org.example.test.Later'}
            org.varlink.service.ExpectedMore {}
            {'text': 'still'}
            org.varlink.service.InterfaceNotFound {'interface': 'org.nobody'}

            """)
        #expect(fixture.interface.log.events.contains("echo one way"))
      }
    }
  }
}
