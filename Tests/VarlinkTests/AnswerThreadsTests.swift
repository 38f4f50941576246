import CThread
import Foundation
import Synchronization
import TestTools
import Testing
import Varlink

extension LiveService {
  /// The threads between a call and its reply have short time slices, so that they run at once when they wake.
  @Suite(.enabled(if: cthread_slice_of(0) > 0, "Linux before 6.12 has no time slices of threads"))
  struct Threads {
    /// Answers on which slice it runs, and which slice a thread has that it starts.
    private final class Interface: VarlinkInterface {
      let name = "org.example.slices"
      let definition = "interface org.example.slices\nmethod Get() -> (own: int, started: int)"

      struct Slices: Codable {
        var own: UInt64
        var started: UInt64
      }

      func respond(to call: VarlinkServiceCall) async throws {
        try await Task.sleep(for: .milliseconds(1))
        let own = cthread_slice_of(0)
        let started = await withCheckedContinuation { continuation in
          Thread.detachNewThread { continuation.resume(returning: cthread_slice_of(0)) }
        }
        try await call.reply(Slices(own: own, started: started))
      }
    }

    @Test func threadsBetweenACallAndItsReplyHaveShortTimeSlices() async throws {
      let folder = try TemporaryFolder("varlink")
      defer { withExtendedLifetime(folder) {} }
      let path = folder.path + "/test.sock"
      // Connections are accepted on the thread of the network.
      let network = Mutex<[UInt64]>([])
      let service = VarlinkService(
        identity: .init(vendor: "Example", product: "exampled", version: "1", url: "https://example.org"),
        interfaces: [Interface()],
        onEvent: { event in
          if case .accepted = event { network.withLock { $0.append(cthread_slice_of(0)) } }
        })
      let descriptor = try VarlinkSocket.listen(path: path)
      try await withThrowingTaskGroup { group in
        group.addTask { try await service.serve(listeningDescriptor: descriptor) }
        let client = try await VarlinkClient.connect(path: path)
        let reply = try await client.call("org.example.slices.Get", returning: Interface.Slices.self)
        #expect(reply.own == 100_000)
        #expect(reply.started == cthread_slice_of(0), "a thread has inherited the short slice")
        await client.close()
        service.shutDown(within: .zero)
        try await group.waitForAll()
      }
      #expect(network.withLock { $0 } == [100_000])
    }
  }
}
