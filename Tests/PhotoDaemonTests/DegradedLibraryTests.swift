import Glibc
import Logging
import Testing
import Varlink

@testable import PhotoDaemon

struct DegradedLibraryTests {
  private struct Follow: Encodable { let follow = true }
  private struct Clients: Decodable {
    struct Client: Decodable { let streams: [Stream] }
    struct Stream: Decodable { let method: String }
    let clients: [Client]
  }

  @Test(arguments: [false, true]) func streamOfEventsEndsWithTheReasonWhenPhotodStops(isReopened: Bool) async throws {
    let scratch = try Scratch()
    defer { withExtendedLifetime(scratch) {} }
    let path = scratch.path + "/photod.sock"
    let library = DegradedLibrary(reasons: ["The test says so."], Logger(label: "test"))
    let descriptor = try VarlinkSocket.listen(path: path, mode: 0o600)
    try await withThrowingTaskGroup { group in
      group.addTask { try await library.serve(on: descriptor) }
      group.addTask {
        let client = try await VarlinkClient.connect(path: path)
        let error = await #expect(throws: VarlinkError.self) {
          for try await _ in client.stream("org.photod.manage.Events", Follow(), of: VarlinkEmpty.self) {}
        }
        #expect(error?.name == "org.photod.manage.Unavailable")
        let message = "\(String(describing: error))"
        #expect(message.contains("photod is stopping.") == !isReopened, "\(message)")
        #expect(message.contains("photod opens its catalog again.") == isReopened, "\(message)")
      }
      let observer = try await VarlinkClient.connect(path: path)
      while try await observer.call("org.photod.manage.Clients", VarlinkEmpty(), returning: Clients.self)
        .clients.allSatisfy(\.streams.isEmpty)
      {}
      if isReopened { library.announceReopening() }
      await library.stop()
      try await group.waitForAll()
    }
  }
}
