import Foundation
import Glibc
import PhotoTestSupport
import TestTools
import Testing
import Varlink

/// Tests `photoctl query` with a slow reader, and during a scan.
@Suite struct QueryPipeTests {
  private struct Clients: Decodable {
    struct Client: Decodable {
      struct Stream: Decodable { let method: String }
      let streams: [Stream]
      let isSelf: Bool
    }
    let clients: [Client]
  }

  private func photoctl(
    _ fixture: DaemonFixture, _ arguments: [String], output: FileHandle, errors: FileHandle = .nullDevice
  ) throws -> TestProcess {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", fixture.socket] + arguments
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }

  /// photod ends a stream that is not read for 10 s, so a command that reads its list for minutes must not hold one.
  @Test(.timeLimit(.minutes(10))) func slowReaderGetsTheWholeListWithoutHoldingASnapshot() async throws {
    try await DaemonFixture.with { fixture in
      // The list is longer than the sockets and the client can hold.
      for index in 0..<14_000 { try fixture.write("\(index / 1_000)/\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let expected = try await fixture.assets().map { $0.resources[0].path }
      let pipe = Pipe()
      let process = try photoctl(
        fixture, ["query", "--format", "paths0"], output: pipe.fileHandleForWriting)
      // When the pipe is full, photoctl waits for its reader.
      var end = pollfd(fd: pipe.fileHandleForWriting.fileDescriptor, events: Int16(POLLOUT), revents: 0)
      try await eventually("the pipe is full", within: .seconds(120)) { poll(&end, 1, 0) == 0 }
      let client = try await fixture.connect()
      var running: [String] = []
      try await eventually(
        "photoctl holds no stream while its reader is busy: \(running)", within: .seconds(5), every: .milliseconds(20)
      ) {
        running = try await client.call("org.photod.manage.Clients", VarlinkEmpty(), returning: Clients.self).clients
          .filter { !$0.isSelf }.flatMap { $0.streams.map(\.method) }
        return running.isEmpty
      }
      try pipe.fileHandleForWriting.close()
      let output = try await pipe.fileHandleForReading.readToEnd() ?? Data()
      await process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } == expected)
    }
  }

  @Test(.timeLimit(.minutes(10))) func queryDuringAScanSaysThatItsListMayBeIncomplete() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      // photod-watch starts when the file `go` exists. The first scan cannot end before that.
      let (go, script) = (fixture.directory + "/go", fixture.directory + "/photod-watch")
      let program = BuiltPrograms.path("photod-watch")
      let text = "#!/bin/sh\nwhile [ ! -e '\(go)' ]; do sleep 0.05; done\nexec '\(program)'\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: script))
      try #require(chmod(script, 0o755) == 0)
      fixture.environment["PHOTOD_WATCH"] = script
      try await fixture.start()
      #expect(try await errors(of: ["query", "--count"], fixture).contains("the list may be incomplete"))
      #expect(try await errors(of: ["query"], fixture).contains("the list may be incomplete"))
      try Data().write(to: URL(fileURLWithPath: go))
      try await fixture.status { $0.state == .live }
      #expect(try await errors(of: ["query"], fixture) == "")
    }
  }

  private func errors(of arguments: [String], _ fixture: DaemonFixture) async throws -> String {
    let pipe = Pipe()
    let process = try photoctl(
      fixture, arguments, output: .nullDevice, errors: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    let text = try await pipe.fileHandleForReading.readToEnd() ?? Data()
    await process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: text, as: UTF8.self)
  }
}
