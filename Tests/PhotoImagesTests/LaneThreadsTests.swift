import CThread
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

@Suite(.enabled(if: cthread_slice_of(0) > 0, "Linux before 6.12 has no time slices of threads"))
struct LaneThreadsTests {
  /// A thread that looks up a kept picture must not wait until a decoder has used its slice. One that makes pictures may.
  @Test func lookupsHaveShortTimeSlices() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let slices = Mutex<[UInt64]>([])
    fixture.assets.setOnLookup { _ in slices.withLock { $0.append(cthread_slice_of(0)) } }
    _ = try await fixture.picture(1, in: try fixture.session(), as: 1)
    // The asset is read once for the lookup, and twice for the picture.
    let found = slices.withLock { $0 }
    #expect(found.count == 3 && found.first == cthread_shortest_slice)
    #expect(found.dropFirst().allSatisfy { $0 > cthread_shortest_slice })
  }
}
